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
    """The HTTP status of a failed call, if one came."""
    for link in chain(error):
        for name in ("status_code", "code"):
            status = getattr(link, name, None)
            if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
                return status
    return None


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
        for body in found or [_json_of(getattr(link, "response", None))]:
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
