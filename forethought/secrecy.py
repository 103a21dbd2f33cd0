"""What must never be shown, sent or kept: keys and passwords, and a function that blots them out of a text.

Secret are the values of environment variables that are named like keys, the settings' own keys, the passwords
and keys in addresses of both, and what `remember` was told. They are blotted out of what tools return, of
prompts and replies, of errors, logs and recordings. What a person writes into a task is kept as it was
written; the models and the recording see it without the keys.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_plus, urlsplit, urlunsplit

from forethought.key_shape import looks_like_a_key

if TYPE_CHECKING:
    from forethought.settings import Settings

BLOTTED = "[secret]"
_NAME = re.compile(
    r"(API_?KEYS?|_KEYS?|KEY_BASE|TOKEN|(ACCESS|API|AUTH)_TOKENS|SECRETS?|CREDENTIALS?"
    r"|PASSWORD|PASSWD|PASSPHRASE|PGPASS|_PASS|_PWD|_PAT|AUTHORIZATION|OTLP_(TRACES_|METRICS_|LOGS_)?HEADERS)(_?\d+)?$",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(r"_SIG(NATURE)?$", re.IGNORECASE)
_ACCESS = re.compile(r"_(AUTH|ACCESS)$", re.IGNORECASE)
"""Names of options whose values may be keys or words: `auth=required`."""
_SHORTEST = 8
"""Characters; a shorter value is likely to stand in harmless text by chance. No key of a provider's is
shorter."""
_remembered: frozenset[str] = frozenset()


def remember(values: Iterable[str]) -> None:
    """Count `values` as secret from now on, in the whole process: a file names them, say."""
    global _remembered
    _remembered |= frozenset(values)  # replaced, not changed: another thread may be reading it


def secret_values(settings: Settings | None = None) -> set[str]:
    """The secrets of the environment and of the settings, and those that are remembered."""
    found = set(_remembered)
    for name, value in os.environ.items():
        found.update(secrets_of(name, value))
    for value in (settings.model_dump() if settings is not None else {}).values():
        if hasattr(value, "get_secret_value"):
            found.update(_parts(value.get_secret_value()))
        elif isinstance(value, str):
            found.update(secrets_of_address(value))
    return found


def secrets_of(name: str, value: str) -> Iterator[str]:
    """The secrets in a variable, a header or an option of a program."""
    name = name.replace("-", "_")
    if _NAME.search(name):
        return _parts(value)
    return secrets_of_address(value)


def secrets_of_address(address: str) -> Iterator[str]:
    """Password, token and keys in an address such as https://user:password@host?api_key=..., and the header
    that is made of the first two."""
    if "://" not in address:
        return
    with suppress(ValueError):
        parts = urlsplit(address)
        # A database's password may stand among its options.
        for option, name, value in _options(parts.query):
            if _holds_key(name, value):
                yield option  # of which the value may be too short to be blotted out by itself
            if _is_key(name, value):
                yield from (value, unquote_plus(value))
        # Over HTTP a key may stand in the user's place. Else a user without a password is a name.
        user, password = parts.username or "", parts.password or ""
        token = parts.scheme in ("http", "https") and looks_like_a_key(unquote(user))
        if password or token:
            yield from (password or user, unquote(password or user))
            yield _base64(f"{unquote(user)}:{unquote(password)}")


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


def blotted(value: Any, scrub: Callable[[str], str]) -> Any:
    """`value` as JSON has it, with the secrets blotted out of its texts and keys. What is no JSON is its text
    there, and what is no number is null."""
    plain = json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)
    return _blotted(plain, scrub)


def scrub_error(error: BaseException, scrub: Callable[[str], str]) -> None:
    """Blot the secrets out of the words of an error, of its causes and of what it groups, before it is shown
    or kept."""
    left: list[BaseException] = [error]
    seen: set[int] = set()
    while left:
        at = left.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        at.args = tuple(scrub(item) if isinstance(item, str) else item for item in at.args)
        for name in ("message", "problem", "detail", "hint", "strerror", "filename"):
            said = getattr(at, name, None)
            if isinstance(said, str):
                with suppress(AttributeError):  # a property of a class of its own
                    setattr(at, name, scrub(said))
        grouped = at.exceptions if isinstance(at, BaseExceptionGroup) else ()
        left += [link for link in (at.__cause__, at.__context__, *grouped) if link is not None]


def without_credentials(url: str | None) -> str | None:
    """The address without user name, password and keys: it is kept with the thread, and a secret must not
    be."""
    if not url:
        return None
    parts = urlsplit(url)
    harmless = "&".join(
        option for option, name, value in _options(parts.query) if not _holds_key(name, value)
    )
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=harmless))


def _blotted(value: Any, scrub: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {scrub(key): _blotted(item, scrub) for key, item in value.items()}
    return [_blotted(item, scrub) for item in value] if isinstance(value, list) else value


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


def _options(query: str) -> Iterator[tuple[str, str, str]]:
    """Each option, its name and its value, as they stand there, quoted."""
    for option in query.split("&"):
        name, _, value = option.partition("=")
        yield option, name, value


def _is_key(name: str, value: str) -> bool:
    """Whether an option's value is a key by itself: apiKey, access-token and key are names of such."""
    name = _words(name)
    named = _NAME.search(name) or _SIGNATURE.search(name)
    return bool(value and (named or looks_like_a_key(unquote_plus(value))))


def _holds_key(name: str, value: str) -> bool:
    """Whether an option of an address is secret as a whole: its value alone may be any word."""
    return _is_key(name, value) or bool(value and _ACCESS.search(_words(name)))


def _words(name: str) -> str:
    return "_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", unquote_plus(name)).replace("-", "_")


def _base64(value: str) -> str:
    # A variable of the environment need not be UTF-8.
    return base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()
