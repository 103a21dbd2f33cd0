"""Small text households in the manner of ALFWorld, with a scripted agent and an error whose step is known.

Every household has a task such as 'put a clean mug in the cabinet'. The agent knows how to solve it but for
one habit, its critical error: at one point it does something to the one object of its kind that cannot be
undone (burns it, breaks it, throws it away). All its later steps are symptoms. On its way there it also makes
slips that it mends by itself (a wrong turn, a wrong object), so that the first mistake is not the critical
one. By construction, correcting the critical step alone saves the run, and correcting no other step does.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from forethought.rollouts.types import Act, EnvironmentReply
from forethought.trajectories.types import TrajectoryStep

PLACES = ("counter", "shelf", "desk", "drawer", "cabinet", "sinkbasin", "stove", "fridge", "chute")
OPENABLE = ("drawer", "cabinet", "fridge")
OBJECTS = ("mug", "plate", "apple", "egg", "cloth", "book", "pan")
READY = {"clean": "sinkbasin", "hot": "stove", "cool": "fridge"}
RUINS = {"throw": "thrown down the chute and gone", "break": "in pieces", "burn": "burnt to ashes"}
GONE = "nowhere"


@dataclass(frozen=True)
class World:
    """The state of a household."""

    at: str
    where: tuple[tuple[str, str], ...]
    """Object -> place, 'hand' or 'nowhere'."""
    opened: frozenset[str] = frozenset()
    states: frozenset[tuple[str, str]] = frozenset()
    """(object, clean | hot | cool)."""

    def place(self, thing: str) -> str:
        """Where `thing` is."""
        return dict(self.where)[thing]

    @property
    def held(self) -> str:
        """What the agent holds ('' nothing)."""
        return next((thing for thing, place in self.where if place == "hand"), "")

    def moved(self, thing: str, place: str) -> World:
        """With `thing` at `place`."""
        return replace(self, where=tuple((name, place if name == thing else at) for name, at in self.where))


@dataclass
class Household:
    """An Environment; `seed` decides everything about it."""

    seed: int
    name: str = "household"
    things: tuple[str, ...] = ()
    thing: str = ""
    state: str = ""
    goal: str = ""
    ruin: str = ""
    slips: int = 0
    early: bool = False
    """Whether the object is ruined before it is made ready."""
    start: World = field(default_factory=lambda: World("counter", ()))
    world: World = field(default_factory=lambda: World("counter", ()))
    ways: dict[World, str] = field(default_factory=dict)
    """What `right_action` has found."""

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        self.things = tuple(rng.sample(OBJECTS, 3))
        self.thing = rng.choice(self.things)
        self.state = rng.choice(list(READY))
        self.goal = rng.choice(("shelf", "desk", "drawer", "cabinet"))
        self.ruin = rng.choice(list(RUINS))
        self.slips, self.early = rng.randint(1, 3), rng.random() < 0.5
        homes = [place for place in ("counter", "shelf", "desk", "drawer") if place != self.goal]
        where = tuple((thing, rng.choice(homes)) for thing in self.things)
        self.start = self.world = World("sinkbasin", where)

    @property
    def task(self) -> str:
        """What is asked."""
        return f"Put a {self.state} {self.thing} in the {self.goal}. There is only one {self.thing}."

    async def reset(self) -> EnvironmentReply:
        """See Environment."""
        self.world = self.start
        return self._reply(f"You are in a room with: {', '.join(PLACES)}. You are at the {self.start.at}.")

    async def step(self, action: str) -> EnvironmentReply:
        """See Environment. What is impossible changes nothing."""
        told = dict(moves(self.world, self.things)).get(action)
        if told is None:
            return self._reply("Nothing happens.")
        self.world = told[0]
        return self._reply(told[1])

    def solved(self, world: World) -> bool:
        """Whether the task is done in `world`."""
        return world.place(self.thing) == self.goal and (self.thing, self.state) in world.states

    def _reply(self, text: str) -> EnvironmentReply:
        done = self.solved(self.world)
        possible = tuple(action for action, _ in moves(self.world, self.things))
        return EnvironmentReply(text, possible, float(done), done)


def moves(world: World, things: Sequence[str]) -> Iterator[tuple[str, tuple[World, str]]]:
    """Every possible action, the world after it, and what the agent is told."""
    for place in PLACES:
        if place != world.at:
            yield f"go to {place}", (replace(world, at=place), _sight(replace(world, at=place), place))
    here, held = world.at, world.held
    if here in OPENABLE and here not in world.opened:
        opened = replace(world, opened=world.opened | {here})
        yield f"open {here}", (opened, f"You open the {here}. {_sight(opened, here)}")
    if not held:
        for thing in things:
            if world.place(thing) == here and _open(world, here):
                yield f"take {thing} from {here}", (world.moved(thing, "hand"), f"You take the {thing}.")
        return
    if _open(world, here) and here != "chute":
        yield f"put {held} in {here}", (world.moved(held, here), f"You put the {held} in the {here}.")
    for state, place in READY.items():
        if here == place:
            made = replace(world, states=world.states | {(held, state)})
            yield f"make {held} {state}", (made, f"The {held} is {state} now.")
    for ruin, what in RUINS.items():
        yield f"{ruin} {held}", (world.moved(held, GONE), f"The {held} is {what}.")


def _open(world: World, place: str) -> bool:
    return place not in OPENABLE or place in world.opened


def _sight(world: World, place: str) -> str:
    if not _open(world, place):
        return f"The {place} is closed."
    seen = [thing for thing, at in world.where if at == place]
    return f"At the {place} you see: {', '.join(seen) or 'nothing'}."


def right_action(house: Household, world: World) -> str:
    """The first action of a shortest way to the goal; '' where there is no way left."""
    if world not in house.ways:
        house.ways[world] = _way(house, world)
    return house.ways[world]


def _way(house: Household, world: World) -> str:
    if world.place(house.thing) == GONE:
        return ""
    seen, queue = {world}, deque([(world, "")])
    while queue:
        now, first = queue.popleft()
        if house.solved(now):
            return first
        for action, (after, _) in _sensible(house, now):
            if after not in seen:
                seen.add(after)
                queue.append((after, first or action))
    return ""


def _sensible(house: Household, world: World) -> Iterator[tuple[str, tuple[World, str]]]:
    """Moves that some shortest way may take: those of the one object that counts."""
    for action, after in moves(world, house.things):
        verb, noun = action.split()[0], action.split()[1]
        if verb not in RUINS and (noun == house.thing or verb in ("go", "open", "put")):
            yield action, after


@dataclass
class Habit:
    """The scripted agent: finds its way, slips a little, and ruins the object unless it is told not to."""

    house: Household

    async def act(
        self, task: str, steps: Sequence[TrajectoryStep], now: EnvironmentReply, guidance: Sequence[str]
    ) -> Act:
        """See `Policy`. Its choice follows from the state and the steps so far alone."""
        house, world = self.house, self.house.world
        number, done = len(steps) + 1, [step.action for step in steps]
        if number % 3 == 2 and number // 3 < house.slips and not done[-1].startswith("go to chute"):
            return Act("go to chute", planning="Perhaps it is over there.")
        if self._tempted(world) and not any(f"do not {house.ruin}" in text.lower() for text in guidance):
            return Act(f"{house.ruin} {house.thing}", planning=f"I had better {house.ruin} it.")
        action = right_action(house, world)
        if action:
            return Act(action, planning="On the way to the goal.", memory=f"{len(done)} steps done")
        places = [place for place in PLACES if place != world.at]
        return Act(f"go to {places[number % len(places)]}", planning=f"Where is another {house.thing}?")

    def _tempted(self, world: World) -> bool:
        """The moment that the habit waits for: the object could be made ready, or put where it belongs."""
        ready = (self.house.thing, self.house.state) in world.states
        if world.held != self.house.thing or ready == self.house.early:
            return False
        if self.house.early:
            return world.at == READY[self.house.state]
        return world.at == self.house.goal and _open(world, world.at)
