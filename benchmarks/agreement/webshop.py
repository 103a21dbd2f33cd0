"""Compares WebShop's reward with ours: on the cases of its own unit tests and on generated ones.

    git clone https://github.com/princeton-nlp/WebShop
    pip install thefuzz==0.19.0
    python -m spacy download en_core_web_sm
    python benchmarks/agreement/webshop.py --repo WebShop --pairs 2000

WebShop finds nouns by spaCy's model; both sides are given the same one. Where none is installed, every word
but the commonest counts as a noun, on both sides: then the formula is compared, and the unit tests' figures
of title scores, which rest on the model, need not come out. Prints the counts; exits with 1 where anything
differs.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from types import ModuleType
from typing import Any

import spacy
from spacy.language import Language

from benchmarks.agreement.webshop_pairs import generated
from forethought.evals.environments.webshop.reward import (
    Goal,
    Product,
    matching_attributes,
    matching_options,
    reward,
    type_reward,
)

Json = dict[str, Any]
NOUNS = ("PNOUN", "NOUN", "PROPN")
"""The tags that WebShop counts."""
TEST = "tests/web-agent-site/engine/test_goal.py"


@dataclass
class Tally:
    """What was compared."""

    compared: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)

    def check(self, what: str, theirs: Any, ours: Any, case: Any) -> None:
        """Count one pair of values."""
        self.compared[what] += 1
        same = isclose(theirs, ours, abs_tol=1e-12) if isinstance(theirs, float) else theirs == ours
        if not same:
            self.different.append(
                f"{what}: {theirs} theirs, {ours} ours, for {json.dumps(case, default=str)}"
            )


class Both:
    """WebShop's functions under their own names, each call also made of ours and compared."""

    def __init__(self, official: ModuleType, nlp: Callable[[str], Any], tally: Tally) -> None:
        self.official, self.nlp, self.tally = official, nlp, tally

    def nouns(self, text: str) -> list[str]:
        """What WebShop takes for nouns."""
        return [token.text.lower() for token in self.nlp(text) if token.pos_ in NOUNS]

    def get_type_reward(self, purchased: Json, goal: Json) -> Json:
        theirs: Json = self.official.get_type_reward(purchased, goal)
        kind, title = type_reward(product_of(purchased), goal_of(goal), self.nouns)
        self.tally.check("type", theirs["r_type"], kind, [purchased, goal])
        self.tally.check("title", theirs["title_score"], title, [purchased, goal])
        return {**theirs, "r_type": kind, "title_score": title}

    def get_attribute_reward(self, purchased: Json, goal: Json) -> tuple[float, int]:
        theirs = self.official.get_attribute_reward(purchased, goal)
        ours = matching_attributes(product_of(purchased), goal_of(goal))
        self.tally.check("attributes", theirs[1], ours, [purchased, goal])
        return ours / len(goal["attributes"]), ours

    def get_option_reward(self, bought: Sequence[str], asked: Any) -> tuple[float | None, int]:
        theirs = self.official.get_option_reward(bought, asked)
        ours = matching_options(bought, asked)
        self.tally.check("options", theirs[1], ours, [bought, asked])
        return (ours / len(asked) if asked else None), ours

    def get_reward(self, purchased: Json, goal: Json, price: float, options: Json) -> float:
        theirs = float(self.official.get_reward(purchased, goal, price, options))
        ours = reward(product_of(purchased, price), options.values(), goal_of(goal), self.nouns).total
        self.tally.check("reward", theirs, ours, [purchased, goal, price, options])
        return ours


def product_of(purchased: Json, price: float = 0.0) -> Product:
    """A product as WebShop keeps it; what a unit test leaves out is empty."""
    return Product(
        name=purchased.get("name", ""),
        query=purchased.get("query", ""),
        product_category=purchased.get("product_category", ""),
        attributes=purchased.get("Attributes", ()),
        title=purchased.get("Title", ""),
        bullet_points=purchased.get("BulletPoints", ()),
        description=purchased.get("Description", ""),
        price=price,
    )


def goal_of(goal: Json) -> Goal:
    """A goal as WebShop keeps it."""
    return Goal(
        name=goal.get("name", ""),
        query=goal.get("query", ""),
        product_category=goal.get("product_category", ""),
        attributes=goal.get("attributes", ()),
        options=goal.get("goal_options", ()),
        price_upper=goal.get("price_upper", 0.0),
    )


def load_nlp(model: str) -> tuple[Language, str]:
    """spaCy's model by name or folder, or the stand-in, and which of the two it is."""
    try:
        return spacy.load(model), f"spaCy's {Path(model).name}"
    except OSError:
        nlp = spacy.blank("en")

        @Language.component("all_words_are_nouns")
        def tag(doc: Any) -> Any:
            for token in doc:
                token.pos_ = "NOUN" if token.is_alpha and not token.is_stop else "X"
            return doc

        nlp.add_pipe("all_words_are_nouns")
        return nlp, f"a stand-in ({model} is not installed): every word but the commonest is a noun"


def load_official(repo: Path, nlp: Language) -> tuple[ModuleType, ast.Module]:
    """WebShop's goal.py, and the source of its unit tests."""
    sys.path.insert(0, str(repo))
    spacy.load = lambda *given, **options: nlp
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thefuzz asks for python-Levenshtein, which WebShop does not pin
        official = importlib.import_module("web_agent_site.engine.goal")
    return official, ast.parse((repo / TEST).read_text())


class _Counted(ast.NodeTransformer):
    """Turns assertions into calls of `held`, so that a test goes on after one that does not hold."""

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """`assert TEST` as `held(LINE, TEST)`."""
        call = ast.Call(ast.Name("held", ast.Load()), [ast.Constant(node.lineno), node.test], [])
        return ast.copy_location(ast.Expr(call), node)


def run_tests(tests: ast.Module, functions: object) -> dict[int, bool]:
    """Which of the assertions of WebShop's tests hold with `functions`, by line."""
    found: dict[int, bool] = {}
    names: Json = {"held": lambda line, true: found.__setitem__(line, bool(true))}
    exec(compile(ast.fix_missing_locations(_Counted().visit(tests)), TEST, "exec"), names)
    for name in [name for name in names if name.startswith("get_") and hasattr(functions, name)]:
        names[name] = getattr(functions, name)
    for name in [name for name in names if name.startswith("test_")]:
        names[name]()
    return found


def main() -> int:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repo", type=Path, required=True, help="a checkout of princeton-nlp/WebShop")
    parser.add_argument("--pairs", type=int, default=500, help="generated pairs of product and goal")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--spacy-model", default="en_core_web_sm", help="name or folder")
    given = parser.parse_args()
    if not (given.repo / TEST).is_file():
        parser.error(f"{given.repo} is no checkout of WebShop: {TEST} is missing")
    nlp, tagger = load_nlp(given.spacy_model)
    official, tests = load_official(given.repo, nlp)
    print(f"nouns by {tagger}")
    unit, pairs = Tally(), Tally()
    theirs, ours = run_tests(tests, official), run_tests(tests, Both(official, nlp, unit))
    print(f"assertions of {TEST}: {sum(theirs.values())} of {len(theirs)} hold with theirs, ", end="")
    print(f"{sum(ours.values())} with ours; other ones: {sum(theirs[line] != ours[line] for line in theirs)}")
    print(f"that hold with neither, by line: {[line for line in theirs if not (theirs[line] or ours[line])]}")
    rng, both = random.Random(given.seed), Both(official, nlp, pairs)
    for _ in range(given.pairs):
        product, goal, price, options = generated(rng)
        both.get_type_reward(product, goal)
        both.get_attribute_reward(product, goal)
        asked = goal["goal_options"]
        both.get_option_reward(
            list(options.values()), list(asked.values() if isinstance(asked, dict) else asked)
        )
        both.get_reward(product, goal, price, options)
    for title, tally in (("unit tests", unit), ("generated pairs", pairs)):
        counts = ", ".join(f"{what} {count}" for what, count in tally.compared.items())
        print(f"{title}: compared {counts}; {len(tally.different)} differ")
        print(*tally.different[:10], sep="\n", end="\n" if tally.different else "")
    return 1 if unit.different or pairs.different or theirs != ours else 0


if __name__ == "__main__":
    sys.exit(main())
