"""What a failed call was, found on the chain of its causes: providers' packages wrap their errors in classes
of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_DEEPEST = 8


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def status_of(error: BaseException) -> int | None:
    """The HTTP status of a failed call, if one came: that of the reply, or what the body of a 200 tells of
    (a habit of OpenRouter's)."""
    for link in chain(error):
        if _is_parsing(link) or (link.__cause__ is not None and _is_parsing(link.__cause__)):
            continue
        # aiohttp warns where its errors are asked for a code.
        for name in ("status_code", "status", "code"):
            status = getattr(link, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
                return status
        code = str(body_of(link).get("code"))
        if len(code) == 3 and code.isdecimal() and code[0] in "45":
            return int(code)
    return None


def _is_parsing(error: BaseException) -> bool:
    """Whether it is aiohttp's at a message that breaks off or is no HTTP: it carries a status (400) that no
    server sent."""
    return any(kind.__name__ == "HttpProcessingError" for kind in type(error).__mro__)


def body_of(error: BaseException) -> Mapping[str, Any]:
    """The JSON that an error was raised with, {} if there is none: so LangChain raises what stands in a 200
    instead of a reply."""
    return next((given for given in error.args if isinstance(given, Mapping)), {})


def headers_of(error: BaseException) -> Iterator[Any]:
    """The headers of each response on the chain, as its client has them: `get` takes names in lower case."""
    for link in chain(error):
        headers = getattr(getattr(link, "response", None), "headers", None)
        if headers is not None:
            yield headers


def fields_of(error: BaseException) -> Iterator[tuple[str, str]]:
    """Names and texts of all fields of the JSON that came with the failure, however deep they stand."""
    for link in chain(error):
        found = [value for name in ("body", "details") if _is_json(value := getattr(link, name, None))]
        for body in found or [body_of(link) or _json_of(getattr(link, "response", None))]:
            yield from _fields(body)


def _is_json(value: Any) -> bool:
    return isinstance(value, Mapping | list)


def _json_of(response: Any) -> Any:
    try:
        return response.json()
    except (AttributeError, TypeError, ValueError, RuntimeError):  # none, no JSON, or never read
        return None


def _fields(value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str):
                yield str(name), item
            else:
                yield from _fields(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, depth + 1)
