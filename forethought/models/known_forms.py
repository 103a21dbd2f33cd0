"""Forms that servers refused and methods that brought nothing, so that no question tries them again."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forethought.models.errors import words
from forethought.models.extract import has_object
from forethought.models.forms import ABOUT_FORM, Form, Method, kind
from forethought.models.servers import Note, Servers
from forethought.models.types import ModelError, ModelReply, ModelRequest

Passed = tuple[Form, Form, ModelError]
"""A form, the one tried instead, and why."""
Place = tuple[str, str]
"""A server and the name of a model there."""
_ABOUT_LENGTH = re.compile(r"context (length|window|size)|too (large|long)", re.IGNORECASE)
"""The words of a refusal that holds for this prompt alone."""


class KnownForms:
    """The notes on servers, and the experience of this process alone."""

    def __init__(self, path: Path) -> None:
        self._servers = Servers(path)
        self._refused: set[tuple[Place, str, Method]] = set()
        """Methods that failed for one kind of reply, while a later one served."""
        self._failed: set[tuple[Place, str, Form]] = set()
        """Forms on which a server has failed with status 500."""
        self._fruitless: dict[tuple[Place, str], float] = {}
        """How often in a row a method brought no JSON object; less than 0 once it brought one."""

    def note(self, place: Place) -> Note:
        """The note on a model."""
        return self._servers.note(*place)

    def change(self, place: Place, **changes: Any) -> None:
        """Change the note on a model."""
        self._servers.change(*place, **changes)

    def fit(self, methods: Sequence[Method], request: ModelRequest, place: Place) -> list[Method]:
        """Those of `methods` that may serve; at least the last."""
        note, here = self.note(place), (place, request.reply)
        found = [
            m for m in methods if kind(m, request) not in note.refused and (*here, m) not in self._refused
        ]
        return found or list(methods[-1:])

    def learn(self, request: ModelRequest, place: Place, form: Form, passed: Sequence[Passed]) -> None:
        """Remember the forms that were refused before `form` was taken.

        This process alone passes over a method that failed for this reply, or without a word on the form.

        Args:
            request: The question.
            place: The server and the model.
            form: The form that was taken.
            passed: The forms that were refused before.
        """
        general = set[str]()
        for before, after, error in passed:
            said = words(error)
            if _ABOUT_LENGTH.search(said):
                return
            if before.method == after.method:
                continue
            if ABOUT_FORM.search(said) and request.reply not in said and "Invalid schema" not in said:
                general.add(kind(before.method, request))
            else:
                self._refused.add((place, request.reply, before.method))
        if passed:
            note = self.note(place)
            refused = tuple(sorted({*note.refused, *general}))
            streams = note.streams and not (passed[0][0].streams and not form.streams)
            self.change(place, refused=refused, without=tuple(sorted(form.without)), streams=streams)

    def judge(self, request: ModelRequest, place: Place, form: Form, reply: ModelReply) -> None:
        """Pass over a method that twice running, and never otherwise, brought no JSON object."""
        method = kind(form.method, request)
        if reply.finish_reason != "stop" or method == "prompt":
            return
        if reply.calls or has_object(reply.text):
            self._fruitless[place, method] = -math.inf
            return
        self._fruitless[place, method] = self._fruitless.get((place, method), 0) + 1
        if self._fruitless[place, method] >= 2:
            self.change(place, refused=tuple(sorted({*self.note(place).refused, method})))

    def fails_on(self, request: ModelRequest, place: Place, form: Form, error: BaseException) -> bool:
        """Whether a server fails on the form of a request: it says so, or fails on it a second time."""
        key = place, request.reply, form
        again = key in self._failed
        self._failed.add(key)
        return form.method != "prompt" and (again or bool(ABOUT_FORM.search(words(error))))
