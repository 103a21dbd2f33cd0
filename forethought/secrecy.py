"""What must never be shown, sent or kept: keys and passwords, and a function that blots them out of a text.

Secret are the values of environment variables that are named like keys, the settings' own keys, and the
passwords in addresses of both. They are blotted out of what tools return, of prompts and replies, of errors,
logs and recordings. What a person writes into a task is kept as it was written; the models and the recording
see it without the keys.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from forethought.settings import Settings

BLOTTED = "[secret]"
_NAME = re.compile(
    r"(API_?KEYS?|_KEYS?|KEY_BASE|TOKEN|(ACCESS|API|AUTH)_TOKENS|SECRETS?|CREDENTIALS?"
    r"|PASSWORD|PASSWD|PASSPHRASE|PGPASS|_PASS|_PWD|_PAT|AUTHORIZATION|OTLP_(TRACES_|METRICS_|LOGS_)?HEADERS)(_?\d+)?$",
    re.IGNORECASE,
)
_SHORTEST = 8
"""Characters; a shorter value is likely to stand in harmless text by chance. No key of a provider's is
shorter."""


def secret_values(settings: Settings | None = None) -> set[str]:
    """The secrets of the environment and of the settings."""
    found: set[str] = set()
    for name, value in os.environ.items():
        found.update(_parts(value) if _NAME.search(name) else _of_address(value))
    for value in (settings.model_dump() if settings is not None else {}).values():
        if hasattr(value, "get_secret_value"):
            found.update(_parts(value.get_secret_value()))
        elif isinstance(value, str):
            found.update(_of_address(value))
    return found


def scrubber(settings: Settings | None = None, extra: Iterable[str] = ()) -> Callable[[str], str]:
    """A function that blots out the secrets and `extra`, also as they stand in JSON, addresses or headers."""
    # Without the line break that a file may have left at the end: it is sent and repeated without.
    values = (value.strip() for value in (*secret_values(settings), *extra))
    known = {value for value in values if len(value) >= _SHORTEST}
    if not known:
        return lambda text: text
    forms = {form for value in known for form in _forms(value)}
    # Longest first: one may be the beginning of another.
    pattern = re.compile("|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form)))))
    return lambda text: pattern.sub(BLOTTED, text)


def scrub_error(error: BaseException, scrub: Callable[[str], str]) -> None:
    """Blot the secrets out of the words of an error and of its causes, before it is shown or kept."""
    at: BaseException | None = error
    seen: set[int] = set()
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        at.args = tuple(scrub(item) if isinstance(item, str) else item for item in at.args)
        for name in ("message", "problem", "detail", "hint"):
            said = getattr(at, name, None)
            if isinstance(said, str):
                with suppress(AttributeError):  # a property of a class of its own
                    setattr(at, name, scrub(said))
        at = at.__cause__ or at.__context__


def without_userinfo(url: str | None) -> str | None:
    """The address without user name and password: it is kept with the thread, and a secret must not be."""
    if not url:
        return None
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _forms(value: str) -> tuple[str, ...]:
    as_json = (json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False))
    return value, *as_json, quote(value, safe="", errors="surrogateescape"), _base64(value)


def _parts(secret: str) -> Iterator[str]:
    """The secret, and those that it lists: NAME=TOKEN,... or headers such as authorization=Basic%20..."""
    yield secret
    for part in (secret, *(part.partition("=")[2] for part in secret.split(","))):
        said = unquote(part).strip()
        yield from (part.strip(), said)
        scheme, _, credentials = said.partition(" ")
        if scheme.lower() in ("basic", "bearer"):
            yield credentials.strip()


def _of_address(address: str) -> Iterator[str]:
    """The password in an address such as https://user:password@host, and the header that is made of it."""
    if "://" not in address:
        return
    with suppress(ValueError):
        parts = urlsplit(address)
        # A database's may stand among its options.
        for name in ("password", "sslpassword"):
            yield from parse_qs(parts.query).get(name, ())
        if password := unquote(parts.password or ""):
            yield password
            yield _base64(f"{unquote(parts.username or '')}:{password}")


def _base64(value: str) -> str:
    # A variable of the environment need not be UTF-8.
    return base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()
