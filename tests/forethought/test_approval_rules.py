"""Approval rules: the calls that they match, and the error of a wrong file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forethought.approval_rules import ApprovalRule, parse_rules, read_rules, rules_of
from forethought.settings import Settings
from forethought.state.context import Context, bounded


def rule(decision: str = "allow", tools: Any = "send_*", **arguments: str) -> ApprovalRule:
    return ApprovalRule.model_validate({"tools": tools, "decision": decision, "arguments": arguments})


@pytest.mark.parametrize(
    ("pattern", "value", "matches"),
    [
        ("*@example.com", "Anna@Example.com", True),
        ("*@example.com", ["anna@example.com", "ben@example.com"], True),
        ("*@example.com", ["anna@example.com", "eve@evil.example"], False),
        ("*@example.com", "eve@evil.example,anna@example.com", False),
        ("*@example.com", "eve@evil.example@example.com", False),
        ("*@example.com", [], False),
        ("*@example.com", None, False),
        ("https://*.firm.example/**", "https://a.firm.example/b/c", True),
        ("https://*.firm.example/**", "https://evil.example/x.firm.example/", False),
        ("https://*.firm.example/**", "https://evil.example#.firm.example/", False),
        ("docs/*", "docs/a.txt", True),
        ("docs/*", "docs/a/b.txt", False),
        ("docs/**", "docs/a/b.txt", True),
        ("docs/**", "docs/../secret.txt", False),
        ("*", "anything, even two", True),
        ("a?", "ab", True),
        ("a.c", "abc", False),
    ],
)
def test_an_allowed_value_holds_nothing_more_than_the_pattern(
    pattern: str, value: Any, matches: bool
) -> None:
    assert rule(to=pattern).matches("send_email", {"to": value}) == matches


def test_to_ask_or_deny_one_matching_value_is_enough() -> None:
    mail = {"to": ["anna@example.com", "eve@evil.example"], "cc": None}
    for decision in ("ask", "deny"):
        assert rule(decision, to="*@evil.example").matches("send_email", mail)
        assert rule(decision, to="*evil*").matches("send_email", {"to": "x, eve@evil.example"})
        assert not rule(decision, to="*@other.example").matches("send_email", mail)
        assert not rule(decision, cc="*").matches("send_email", mail)


def test_tools_are_names_or_patterns() -> None:
    assert rule(tools=["pay", "send_*"]).matches("send_email", {})
    assert not rule(tools="send").matches("send_email", {})


def test_a_file_holds_a_list_or_a_mapping_with_it(tmp_path: Path) -> None:
    text = "- {tools: 'send_*', decision: ask, allowed_decisions: [approve, reject]}"
    (tmp_path / "list.yaml").write_text(text)
    (tmp_path / "mapping.yaml").write_text(f"approvals:\n{text}")
    first, second = (read_rules(tmp_path / f"{name}.yaml") for name in ("list", "mapping"))
    assert first == second == parse_rules(text) == parse_rules([first[0].model_dump(mode="json")] and first)
    assert first[0].allowed_decisions == ("approve", "reject")
    assert rules_of("") == ()


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("[", "YAML"),
        ("rules: []", "approvals"),
        ("- {tools: send, decision: maybe}", "decision"),
        ("- {decision: ask}", "tools"),
        ("- {tools: send, decision: ask, when: never}", "when"),
        ("- {tools: [], decision: ask}", "tools"),
        ("just text", "list"),
    ],
)
def test_a_wrong_file_is_one_line(tmp_path: Path, text: str, noun: str) -> None:
    (tmp_path / "rules.yaml").write_text(text)
    with pytest.raises(ValueError, match=noun) as raised:
        read_rules(tmp_path / "rules.yaml")
    assert "\n" not in str(raised.value)
    with pytest.raises(ValueError, match="cannot be read"):
        read_rules(tmp_path / "none.yaml")


def test_a_run_allows_nothing_that_the_operator_wants_asked() -> None:
    context = Context(approvals=(rule(), rule("deny")))
    assert bounded(context, Settings()).approvals == (rule(), rule("deny"))
    assert bounded(context, Settings(least_approval="tainted")).approvals == (rule("deny"),)


def test_rules_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_APPROVALS", '[{"tools": "send_*", "decision": "ask"}]')
    assert Settings().approvals == (rule("ask"),)
