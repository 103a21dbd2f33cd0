"""What of a model's reply is no reply."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from forethought.models.ask import describe
from forethought.prompts.replies import AnswerDraft, ForeseeingAnswer


@pytest.mark.parametrize("kind", [AnswerDraft, ForeseeingAnswer])
def test_an_answer_that_nobody_can_see_is_none(kind: type[AnswerDraft]) -> None:
    for text in ("\u200b", " \ufeff\n", "\x00"):
        with pytest.raises(ValidationError) as caught:
            kind.model_validate({"answer": text, "defects": []})
        assert "answer: Value error, nothing in it can be seen" in describe(caught.value)
    assert kind.model_validate({"answer": " \u200b42 ", "defects": []}).answer == "\u200b42"
