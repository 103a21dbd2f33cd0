"""Makes ALFWorld games without downloading anything: rooms of our own in ALFWorld's domain and grammar.

    pip install -e '.[alfworld]'
    python benchmarks/alfworld_games.py --out games --games 30 --seed 0
    forethought eval run alfworld --data games --option split=valid_unseen

The official games are furnished from ALFRED's 3-D scenes, which cannot be had offline. Here a seed furnishes
kitchens, bathrooms, bedrooms and living rooms, by ALFWorld's own tables of what goes where and what can be
heated, cooled and cleaned; goals and their wording are ALFWorld's. Each room is written as ALFRED's
traj_data.json and initial_state.pddl, and `alfworld-generate` makes the games of them, which also checks that
they can be solved. They are no substitute for the official ones in a table.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOMS: dict[str, dict[str, int]] = {
    "Kitchen": {"CounterTop": 2, "Cabinet": 5, "Drawer": 3, "DiningTable": 1, "Fridge": 1, "Microwave": 1,
                "SinkBasin": 1, "StoveBurner": 2, "GarbageCan": 1, "Shelf": 1},
    "Bathroom": {"CounterTop": 1, "Cabinet": 3, "Drawer": 2, "SinkBasin": 2, "Toilet": 1, "GarbageCan": 1,
                 "BathtubBasin": 1, "Shelf": 1},
    "Bedroom": {"Bed": 1, "Desk": 1, "SideTable": 2, "Drawer": 4, "Dresser": 1, "Shelf": 3, "GarbageCan": 1},
    "LivingRoom": {"Sofa": 1, "ArmChair": 1, "CoffeeTable": 1, "SideTable": 2, "Drawer": 2, "Shelf": 2,
                   "Cabinet": 2, "GarbageCan": 1},
}  # fmt: skip
FIRST_SCENE = {"Kitchen": 1, "LivingRoom": 201, "Bedroom": 301, "Bathroom": 401}
STATES = {
    "pick_clean_then_place_in_recep": "Cleanable",
    "pick_heat_then_place_in_recep": "Heatable",
    "pick_cool_then_place_in_recep": "Coolable",
}
TASKS = ("pick_and_place_simple", "look_at_obj_in_light", *STATES, "pick_two_obj_and_place")
LAMP_PLACES = ("Desk", "SideTable", "Dresser", "CoffeeTable")
CLUTTER = 14
"""Objects in a room besides those of the task."""


@dataclass
class Room:
    """A furnished room and what is asked there."""

    task_type: str
    target: str
    place: str
    lamp: str
    scene: int
    receptacles: list[tuple[str, str]]
    """Kind and PDDL name."""
    objects: list[tuple[str, str, str]] = field(default_factory=list)
    """Kind, PDDL name, and the receptacle that it is in."""

    @property
    def folder(self) -> str:
        """Its folder's name, as ALFRED builds it."""
        return "-".join((self.task_type, self.target, "None", self.lamp or self.place, str(self.scene)))


class Furnisher:
    """Draws rooms from a seed, by the tables of the alfworld package."""

    def __init__(self, seed: int) -> None:
        from alfworld.gen import constants

        self.random = random.Random(seed)
        self.holds = {kind: set(things) for kind, things in constants.VAL_RECEPTACLE_OBJECTS.items()}
        self.can = {kind: set(things) for kind, things in constants.VAL_ACTION_OBJECTS.items()}
        self.openable = set(constants.OPENABLE_CLASS_LIST)
        self.rooms = {task: sorted(constants.GOALS_VALID[task]) for task in TASKS}
        self.movable = set(constants.MOVABLE_RECEPTACLES)
        self._names = 0

    def room(self, task_type: str) -> Room:
        """A room in which `task_type` can be done and is not done yet."""
        kind = self.random.choice(self.rooms[task_type])
        receptacles = [
            (
                name,
                self._name(
                    "Sink" if name == "SinkBasin" else name, suffix="_bar_SinkBasin" * (name == "SinkBasin")
                ),
            )
            for name, count in ROOMS[kind].items()
            for _ in range(count)
        ]
        kinds = set(ROOMS[kind])
        target, place = self.random.choice(list(self._targets(task_type, kinds)))
        lamp = "DeskLamp" if task_type == "look_at_obj_in_light" else ""
        scene = FIRST_SCENE[kind] + self.random.randrange(30)
        room = Room(task_type, target, "" if lamp else place, lamp, scene, receptacles)
        for _ in range(self.random.choice((2, 3)) if "two" in task_type else self.random.choice((1, 2))):
            self._put(room, target, unlike=room.place)
        if lamp:
            where = [item for item in receptacles if item[0] in LAMP_PLACES]
            room.objects.append((lamp, self._name(lamp), self.random.choice(where)[1]))
        others = sorted({thing for kind in kinds for thing in self._portable(kind)} - {target})
        for thing in self.random.choices(others, k=CLUTTER):
            self._put(room, thing)
        return room

    def _portable(self, kind: str) -> set[str]:
        return {thing for thing in self.holds.get(kind, ()) if not thing.endswith("Sliced")}

    def _targets(self, task_type: str, kinds: set[str]) -> Iterator[tuple[str, str]]:
        """What could be asked for, and where it could have to go."""
        for place in sorted(kinds):
            for thing in sorted(self._portable(place)):
                elsewhere = any(thing in self._portable(kind) for kind in kinds - {place})
                if elsewhere and (task_type not in STATES or thing in self.can[STATES[task_type]]):
                    yield thing, place

    def _put(self, room: Room, thing: str, unlike: str = "") -> None:
        where = [name for kind, name in room.receptacles if thing in self._portable(kind) and kind != unlike]
        room.objects.append((thing, self._name(thing), self.random.choice(where)))

    def _name(self, kind: str, suffix: str = "") -> str:
        """A name in ALFRED's manner (Apple|+01.59|+00.97|-01.29), its points and signs spelt out."""
        self._names += 1
        x, z = self.random.randrange(100), self.random.randrange(100)
        sign = self.random.choice(("plus", "minus"))
        numbers = f"_bar__{sign}_{self._names:04}_dot_{x:02}_bar__plus_00_dot_{z:02}_bar__plus_01_dot_00"
        return f"{kind}{numbers}{suffix}"


def pddl(room: Room, furnisher: Furnisher, number: int) -> str:
    """The room as a PDDL problem of ALFWorld's domain, with ALFWorld's goal."""
    from alfworld.gen import goal_library

    places = {name: f"loc_bar_{at}_bar_0_bar_1_bar_30" for at, (_, name) in enumerate(room.receptacles, 1)}
    things = sorted({kind for kind, *_ in room.objects})
    kinds = sorted({kind for kind, _ in room.receptacles})
    objects = [
        "agent1 - agent",
        *(f"{kind}Type - otype" for kind in things),
        *(f"{kind}Type - rtype" for kind in sorted({*kinds, "SinkBasin", "Microwave", "Fridge"})),
        *(f"{name} - object" for _, name, _ in room.objects),
        *(f"{name} - receptacle" for _, name in room.receptacles),
        *(f"{place} - location" for place in ("loc_bar_0_bar_0_bar_1_bar_30", *places.values())),
        *(f"{kind}Type - otype" for kind in ("Knife", "ButterKnife") if kind not in things),
    ]
    facts = ["(= (total-cost) 0)", "(atLocation agent1 loc_bar_0_bar_0_bar_1_bar_30)"]
    for kind, name in room.receptacles:
        facts += [f"(receptacleType {name} {kind}Type)", f"(receptacleAtLocation {name} {places[name]})"]
        facts += [f"(openable {name})"] if kind in furnisher.openable else []
    facts += [
        f"(canContain {kind}Type {thing}Type)"
        for kind in kinds
        for thing in things
        if thing in furnisher.holds.get(kind, ())
    ]
    for thing, name, where in room.objects:
        facts += [f"(objectType {name} {thing}Type)", f"(inReceptacle {name} {where})"]
        facts += [f"(objectAtLocation {name} {places[where]})"]
        facts += [f"({word} {name})" for word in _abilities(thing, furnisher)]
    goal = goal_library.gdict[room.task_type]["pddl"].replace("#", "-")
    asked = goal.format(obj=room.target, recep=room.place, toggle=room.lamp)
    lines = "\n        ".join
    return (
        f"(define (problem plan_{number})\n    (:domain alfred)\n"
        f"    (:objects\n        {lines(objects)}\n    )\n"
        f"    (:init\n        {lines(facts)}\n    )\n{asked}"
    )


def _abilities(thing: str, furnisher: Furnisher) -> Iterator[str]:
    words = {
        "Cleanable": "cleanable",
        "Heatable": "heatable",
        "Coolable": "coolable",
        "Sliceable": "sliceable",
    }
    if thing in furnisher.can["Toggleable"]:
        yield "toggleable"
    else:
        yield "pickupable"
    if thing in furnisher.movable:
        yield "isReceptacleObject"
    yield from (word for name, word in words.items() if thing in furnisher.can[name])


def write(out: Path, split: str, count: int, seed: int, tasks: Sequence[str] = TASKS) -> Path:
    """Writes `count` rooms, the task types in turn, under `out`; the split's folder."""
    furnisher = Furnisher(seed)
    home = out / "json_2.1.1" / split
    for number in range(count):
        room = furnisher.room(tasks[number % len(tasks)])
        folder = home / room.folder / f"trial_S{seed}_{number:04}"
        folder.mkdir(parents=True)
        (folder / "initial_state.pddl").write_text(pddl(room, furnisher, number))
        (folder / "traj_data.json").write_text(json.dumps(_trajectory(room, folder.name), indent=1))
    return home


def _trajectory(room: Room, trial: str) -> dict[str, Any]:
    params = {
        "object_target": room.target,
        "parent_target": room.place,
        "toggle_target": room.lamp,
        "mrecep_target": "",
        "object_sliced": False,
    }
    return {"task_id": trial, "task_type": room.task_type, "pddl_params": params,
            "scene": {"floor_plan": f"FloorPlan{room.scene}"}}  # fmt: skip


def generate(home: Path) -> None:
    """Lets alfworld make the games of the rooms in `home`. Raises CalledProcessError."""
    from alfworld.info import ALFRED_PDDL_PATH, ALFRED_TWL2_PATH

    command = [sys.executable, str(Path(sys.executable).parent / "alfworld-generate")]
    command += ["--data_path", str(home), "--domain", ALFRED_PDDL_PATH, "--grammar", ALFRED_TWL2_PATH]
    command += ["--expert_type", "planner", "--end", "1000000"]  # its default end drops the last game
    subprocess.run(command, input="y\n", text=True, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="folder to create, with json_2.1.1/SPLIT in it"
    )
    parser.add_argument("--games", type=int, default=30)
    parser.add_argument("--split", choices=("train", "valid_seen", "valid_unseen"), default="valid_unseen")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if (given.out / "json_2.1.1" / given.split).exists():
        parser.error(f"{given.out}/json_2.1.1/{given.split} already exists: name another folder or split")
    home = write(given.out, given.split, given.games, given.seed)
    generate(home)
    games = [json.loads(path.read_text()) for path in home.rglob("game.tw-pddl")]
    print(
        f"{len(games)} games in {home}, {sum(bool(game['walkthrough']) for game in games)} of them solvable"
    )


if __name__ == "__main__":
    main()
