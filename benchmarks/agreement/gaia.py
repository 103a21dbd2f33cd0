"""Holds our GAIA scorer against the one in inspect_evals, which is the leaderboard's, on generated answers.

    git clone https://github.com/UKGovernmentBEIS/inspect_evals
    python benchmarks/agreement/gaia.py --repo inspect_evals

--repo also takes the site-packages folder of an installed inspect_evals.
"""

from __future__ import annotations

import logging
import random

from comparison import Comparison, finish, module_at, repo_argument

from forethought.evals.benchmarks.gaia_scorer import kind_of, quasi_exact_match

PAIRS = 200_000
_NUMBERS = [
    "3",
    "-3",
    "0.5",
    ".5",
    "1e3",
    "17000",
    "1_000",
    "nan",
    "inf",
    "-Infinity",
    "\u0663",
    " 7 ",
    "+4",
    "0",
]
_WORDS = [
    "Ulm",
    "St. Ives",
    "sea gull",
    "rock-n-roll",
    "the Danube",
    "\u00c9cole",
    "'42'",
    "U.S.",
    "\u0130",
    "ß",
]
_ODD = ["", " ", ",", ";", "\u2028", "$", "%", "()", "\u00a0"]


def expected(rng: random.Random) -> str:
    """A number, some words, a list, or signs at random."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(_NUMBERS)
    if kind == 1:
        return " ".join(rng.choices(_WORDS, k=rng.randrange(1, 4)))
    if kind == 2:
        separator = rng.choice([",", ", ", ";", " ; "])
        return separator.join(rng.choices(_NUMBERS + _WORDS + _ODD, k=rng.randrange(2, 5)))
    return "".join(rng.choices("ab1 .,;-$%E\u0663\n", k=rng.randrange(1, 8)))


def answer_to(wanted: str, rng: random.Random) -> str:
    """The expected answer, dressed otherwise, damaged, or another."""
    changes = [
        wanted,
        f" {wanted.upper()} ",
        f"${wanted}",
        f"{wanted}%",
        f"{wanted}.",
        f"{wanted} km",
        wanted.replace(",", ";"),
        wanted.replace(", ", ","),
        wanted.replace(" ", ""),
        wanted.replace(".", ""),
        f"{wanted}, {wanted}",
        f"FINAL ANSWER: {wanted}",
        ",".join(reversed(wanted.split(","))),
        "1,7000" if wanted == "17000" else f"{wanted},000",
        expected(rng),
        "",
    ]
    return rng.choice(changes)


def main() -> None:
    repo = repo_argument(__doc__, "UKGovernmentBEIS/inspect_evals").parse_args().repo
    source = repo / "src" if (repo / "src").is_dir() else repo
    official = module_at(source / "inspect_evals/gaia/scorer.py", "gaia_scorer")
    logging.disable(logging.WARNING)  # It tells of every answer that is no number.
    rng = random.Random(0)
    found = {kind: Comparison(f"GAIA, expected {kind}") for kind in ("number", "list", "text")}
    for _ in range(PAIRS):
        wanted = expected(rng)
        answer = answer_to(wanted, rng)
        theirs, _ = official.question_scorer(answer, wanted)
        found[kind_of(wanted)].add(theirs, quasi_exact_match(answer, wanted), f"{answer} / {wanted}")
    raise SystemExit(finish(list(found.values())))


if __name__ == "__main__":
    main()
