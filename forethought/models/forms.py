"""The forms in which a provider can be asked, and the next one after a refusal.

A form is a method, whether the reply is streamed, and the parts of a request that are left out. After a
refusal that names a part, the same is asked without that part. After any other, the next method is tried, and
last the bare question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from forethought.models.types import ModelRequest

Method = Literal["schema", "function", "object", "prompt", "text"]
"""text: nothing is said of the reply's form; `doctor` alone asks so."""
Part = Literal[
    "usage", "stream", "strict", "parallel", "named", "choice", "cache_key", "system", "max_tokens", "limit"
]
SMALL_WINDOW = 16_000
"""Up to this window a reply is streamed, so that one without end is stopped early."""
_NAMED_BY: dict[Part, str] = {
    "usage": r"stream_options|include_usage",
    "stream": r"\bstream(ing|ed)?\b",
    "parallel": r"parallel_tool_calls",
    "named": r"tool.?choice",
    "choice": r"tool.?choice|forces tool use",
    "strict": r"\bstrict\b",
    "cache_key": r"prompt_cache_key",
    "system": r"system (role|message|prompt|instruction)|['\"`]system['\"`]|developer instruction"
    r"|user and assistant roles",
    "max_tokens": r"max_completion_tokens",
    "limit": r"max_(new_|output_|completion_)?tokens|max(Output)?Tokens|num_predict",
}
"""The words by which a refusal names each part. The first part that was sent and is named is left out."""
_PATTERNS = {part: re.compile(words, re.IGNORECASE) for part, words in _NAMED_BY.items()}
ABOUT_FORM = re.compile(
    r"response_?format|json_object|schema|grammar|\btools?\b|function|template|jinja|unsupported|"
    r"not supported|unrecognized|unknown param|no endpoints found|extra (inputs|fields)|unexpected keyword|"
    r"input should be|"
    rf"{'|'.join(_NAMED_BY.values())}",
    re.IGNORECASE,
)
"""The words of a server that fails on the form of the request."""


@dataclass(frozen=True)
class Form:
    """One way of putting a request."""

    method: Method
    streams: bool = False
    without: frozenset[Part] = frozenset()

    def sends(self, part: Part, request: ModelRequest) -> bool:
        """Whether this form of `request` has the part."""
        if part in self.without:
            return False
        match part:
            case "usage" | "stream":
                return self.streams
            case "strict":
                return request.strict and self.method in ("schema", "function")
            case "parallel":
                return self.method == "function" and len(request.functions) > 1
            case "named":
                return self.method == "function" and len(request.functions) <= 1
            case "choice":
                return self.method == "function"
            case "system":
                return any(message.role == "system" for message in request.messages)
            case "max_tokens" | "limit":
                return request.limit > 0
        return True


def methods_for(request: ModelRequest, profile: Any, openai: bool) -> list[Method]:
    """The methods that the model's profile allows, best first; the prompt is always left.

    Args:
        request: The question.
        profile: The model's profile in the provider's package.
        openai: Whether OpenAI's protocol is spoken, which has a mode for any JSON object.

    Returns:
        The methods. Those that brought no JSON object for this request come last.
    """
    methods: list[Method] = []
    if request.strict and not request.functions and profile.get("structured_output") is not False:
        methods.append("schema")
    if profile.get("tool_calling") is not False:
        methods.append("function")
    if openai:
        methods.append("object")
    return sorted([*methods, "prompt"], key=request.avoid.__contains__)


def next_form(
    form: Form, words: str, methods: Sequence[Method], request: ModelRequest, streams: bool
) -> Form | None:
    """The form to try after a refusal.

    Args:
        form: The form that was refused.
        words: The words of the refusal. If they name nothing, streaming is given up before the method is.
        methods: The methods that may serve, best first.
        request: The question.
        streams: Whether a reply is streamed if the server allows it.

    Returns:
        The next form; None if nothing is left to change.
    """
    for part, pattern in _PATTERNS.items():
        if form.sends(part, request) and pattern.search(words):
            return replace(form, streams=form.streams and part != "stream", without=form.without | {part})
    if form.streams and not ABOUT_FORM.search(words):
        return replace(form, streams=False)
    later = methods[methods.index(form.method) + 1 :]
    if later:
        return replace(form, method=later[0], streams=streams and "stream" not in form.without)
    bare = Form(form.method, without=frozenset(_PATTERNS))
    return None if form == bare else bare


def kind(method: Method, request: ModelRequest) -> str:
    """The name under which a method is remembered: a choice of functions is not one forced function."""
    return "functions" if method == "function" and len(request.functions) > 1 else method
