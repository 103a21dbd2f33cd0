"""Two concert evenings: the pieces of each, for the most points."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from datetime import date
from typing import Any

from forethought.evals.benchmarks.traps.exercise import PEOPLE, Exercise, hard
from forethought.evals.benchmarks.traps.hard.plan import Facts, Plan, best_split
from forethought.evals.benchmarks.traps.office import csv_file, letter, text_file

PIECES = (
    "Aurora", "Barcarole", "Cascade", "Dawn", "Elegy", "Fanfare", "Gavotte", "Harvest", "Idyll", "Jubilee",
    "Kaleidoscope", "Lament", "Moorland", "Nocturne", "Overture", "Pastorale", "Quadrille", "Rondo",
    "Serenade", "Tarantella",
)  # fmt: skip
SLOW_LESS = 4
"""Points that a slow piece loses on a Friday."""


def worth(plan: Plan, facts: Facts) -> int | None:
    """The points of both evenings; None if one of them breaks a rule."""
    both = [points(chosen, evening, facts) for evening, chosen in enumerate(plan)]
    return None if None in both else sum(one or 0 for one in both)


def points(chosen: Collection[str], evening: int, facts: Facts) -> int | None:
    """The points of an evening (0 Friday, 1 Saturday); None if it breaks a rule."""
    pieces = [facts["pieces"][name] for name in chosen]
    limit = facts["limits"][evening]
    hired = {piece["hire"] for piece in pieces if piece["hire"]}
    cost = sum(piece["eur"] for piece in pieces) + sum(facts["hire"][name] for name in hired)
    cost -= facts["saving"] if len(hired) == 2 else 0
    if sum(piece["minutes"] for piece in pieces) > limit["minutes"] or cost > limit["eur"]:
        return None
    if any(set(pair) <= set(chosen) for pair in facts["apart"]):
        return None
    if any(piece in chosen and other not in chosen for piece, other in facts["needs"]):
        return None
    solos = [piece["solo"] for piece in pieces if piece["solo"]]
    if limit["absent"] in solos or any(solos.count(who) > 2 for who in solos):
        return None
    slow = sum(piece["slow"] for piece in pieces)
    if slow > 2 + ("Overture" in chosen):
        return None
    more = sum(extra for a, b, extra in facts["together"] if a in chosen and b in chosen)
    return int(sum(piece["points"] for piece in pieces) + more - (0 if evening else SLOW_LESS * slow))


def best(facts: Facts) -> int:
    """The most points of any two evenings."""
    names, longest = facts["names"], max(limit["minutes"] for limit in facts["limits"])
    minutes = [0] * (1 << len(names))
    worths: list[list[int]] = [[0] * len(minutes) for _ in facts["limits"]]
    for mask in range(1, len(minutes)):
        low = mask & -mask
        minutes[mask] = minutes[mask ^ low] + facts["pieces"][names[low.bit_length() - 1]]["minutes"]
        if minutes[mask] > longest:
            continue
        chosen = [name for n, name in enumerate(names) if mask >> n & 1]
        for evening, row in enumerate(worths):
            row[mask] = points(chosen, evening, facts) or 0
    return best_split(*worths)


def _facts(rng: random.Random) -> Mapping[str, Any]:
    soloists, pieces = rng.sample(PEOPLE, 6), {}
    names = PIECES[: rng.randrange(17, 21)]
    for name in names:
        minutes = rng.randrange(7, 21)
        pieces[name] = {
            "minutes": minutes, "eur": rng.randrange(3, 19) * 20, "points": minutes * 2 + rng.randrange(16),
            "slow": rng.random() < 0.4, "solo": rng.choice((*soloists, "")),
            "hire": rng.choice(("", "", "harp", "organ")),
        }  # fmt: skip
    limits = [
        {
            "minutes": 9 * len(names) // 2 + rng.randrange(-8, 8),
            "eur": rng.randrange(72, 92) * 20,
            "absent": who,
        }
        for who in ("", rng.choice(soloists))
    ]
    n = rng.sample(names, 16)
    together = [[n[9], n[10], rng.randrange(6, 14)], [n[11], n[5], rng.randrange(6, 14)]]
    together += [[n[12], n[13], rng.randrange(6, 14)], [n[2], n[9], -rng.randrange(5, 12)]]
    return {
        "names": list(names), "owners": ["Friday", "Saturday"], "pieces": pieces, "limits": limits,
        "hire": {"harp": rng.randrange(8, 15) * 20, "organ": rng.randrange(8, 15) * 20}, "saving": 120,
        "apart": [n[0:2], n[2:4], [n[0], n[4]], n[14:16]], "needs": [n[5:7], n[7:9]], "together": together,
        "writers": rng.sample(PEOPLE, 2),
    }  # fmt: skip


@hard
def evenings(rng: random.Random) -> Exercise:
    """Some twenty pieces for two evenings."""
    facts = _facts(rng)
    friday, saturday = facts["limits"]
    rows = [
        (
            name,
            p["minutes"],
            p["eur"],
            "slow" if p["slow"] else "fast",
            p["solo"] or "-",
            p["hire"] or "-",
            p["points"],
        )
        for name, p in facts["pieces"].items()
    ]
    rules = text_file(
        "# Rules for the two evenings",
        f"On Friday the pieces take {friday['minutes']} minutes together at most and cost {friday['eur']} "
        f"euros at most, "
        f"on Saturday {saturday['minutes']} minutes and {saturday['eur']} euros. A piece is played once or "
        f"not at all.",
        "To the cost of the pieces of an evening comes the hire, once for the evening if any of its pieces "
        "needs the "
        f"instrument: {facts['hire']['harp']} euros for a harp, {facts['hire']['organ']} euros for an "
        f"organ. An evening "
        f"with both costs {facts['saving']} euros less than the two.",
        "At most two slow pieces are played on an evening; on the one with the Overture, at most three. "
        "Nobody plays "
        f"the solo in more than two pieces of an evening. {saturday['absent']} is away on Saturday.",
    )
    (a, b, p), (c, d, q), (e, f, r), (g, h, less) = facts["together"]
    audience = text_file(
        "# What the audience likes",
        "The points in pieces.csv say how much a piece is liked. This changes them:",
        f"{a} and {b} on the same evening: {p} points more in all. {c} and {d}: {q} points more. {e} and "
        f"{f}: {r} points "
        f"more. {g} and {h}: {-less} points fewer.",
        f"On Fridays people come from work: a slow piece has {SLOW_LESS} points fewer then.",
    )
    (i, j), (k, z), (m, n), (o, s) = facts["apart"]
    (t, u), (v, w) = facts["needs"]
    texts = (
        f"{i} and {j} cannot be played on the same evening, nor can {m} and {n}: nobody's arms last that "
        f"long.\n"
        f"And {t} only makes sense on an evening with {u}. {u} alone is fine.",
        f"The publisher does not want {k} and {z} on the same evening, nor {o} and {s}.\n"
        f"{v} may only be played on an evening with {w}, which may be played without it.",
    )
    mails = {
        f"mail-{number}.eml": letter(writer, date(2026, 5, 4), "The evenings", text)
        for number, (writer, text) in enumerate(zip(facts["writers"], texts, strict=True), 1)
    }
    head = ("piece", "minutes", "eur", "tempo", "soloist", "hired_instrument", "points")
    return Exercise(
        "Which pieces do we play on Friday and which on Saturday, so that the points of both evenings "
        "together are as "
        "many as possible?",
        files={"pieces.csv": csv_file(head, rows), "rules.md": rules, "audience.md": audience, **mails},
        answer_format="Friday: names of pieces; Saturday: names of pieces.",
        facts=facts,
    )
