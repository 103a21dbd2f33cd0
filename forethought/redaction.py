"""Redaction of keys and passwords from what is shown, sent or stored.

Secret are the values of environment variables that are named like keys, the settings' own keys, the passwords
and keys in addresses of both, and what `register_secrets` was given. They are redacted from what tools
return, from prompts and replies, errors, logs, traces and recordings. What a person writes into a task is
stored as it was written; models and recordings see it without the keys.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_plus, urlsplit, urlunsplit

if TYPE_CHECKING:
    from forethought.settings import Settings

REDACTED = "[secret]"
_NAME = re.compile(
    r"(API_?KEYS?|_KEYS?|KEY_BASE|TOKEN|(ACCESS|API|AUTH)_TOKENS|SECRETS?|CREDENTIALS?"
    r"|PASSWORD|PASSWD|PASSPHRASE|PGPASS|_PASS|_PWD|_PAT|AUTHORIZATION|OTLP_(TRACES_|METRICS_|LOGS_)?HEADERS"
    r"|_SIG(NATURE)?)(_?\d+)?$",
    re.IGNORECASE,
)
"""Names of variables, headers and options whose values are secret."""
_KEY = re.compile(
    r"(?<![A-Za-z\d])(?:"
    r"(?:[sr]k[-_]|tvly-|gh[pousr]_|github_pat_|glpat-|hf_|AIza|xox[abeprs]-|eyJ)"
    r"(?:[A-Za-z\d]+[-_])*(?=[A-Za-z]*\d)[A-Za-z\d]{12,}"
    r"|A(?:KIA|SIA)[\dA-Z]{12,}"
    r"|(?=[A-Za-z]*\d)(?=[A-Z\d]*[a-z])(?=[a-z\d]*[A-Z])[A-Za-z\d]{20,}"
    r"|[\dA-Fa-f]{32,}|[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-[\dA-Fa-f]{12})(?![A-Za-z\d])"
)
"""Keys by how providers' keys begin, long runs of mixed letters and digits, hexadecimal tokens, UUIDs."""
_SHORTEST = 8
"""Characters; a shorter value is likely to stand in harmless text by chance."""
_registered: frozenset[str] = frozenset()


def looks_like_a_key(value: str) -> bool:
    """Whether `value` holds a text that is shaped like a provider's key."""
    return bool(_KEY.search(value))


def register_secrets(values: Iterable[str]) -> None:
    """Count `values` as secret from now on, in the whole process."""
    global _registered
    _registered |= frozenset(values)  # replaced, not changed: another thread may be reading it


def secret_values(settings: Settings | None = None) -> set[str]:
    """The secrets of the environment, of the settings, and the registered ones."""
    values = {*_registered, *_environment_secrets(tuple(os.environ.items()))}
    for value in (settings.model_dump() if settings is not None else {}).values():
        if hasattr(value, "get_secret_value"):
            values.update(_parts(value.get_secret_value()))
        elif isinstance(value, str):
            values.update(secrets_of_address(value))
    return values


@lru_cache(maxsize=4)
def _environment_secrets(variables: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """The secrets of an environment, which are asked for several times a call and hardly ever change."""
    return frozenset(secret for name, value in variables for secret in secrets_of(name, value))


def secrets_of(name: str, value: str) -> Iterator[str]:
    """The secrets in the variable, header or option `name`."""
    return _parts(value) if _NAME.search(name.replace("-", "_")) else secrets_of_address(value)


def secrets_of_address(address: str) -> Iterator[str]:
    """Password and keys in an address such as https://user:password@host?api_key=..., and the header made of
    user and password."""
    if "://" not in address:
        return
    with suppress(ValueError):
        parts = urlsplit(address)
        for _, name, value in _options(parts.query):
            if _is_secret(name, value):
                yield from (value, unquote_plus(value))
        # A user without a password is a name, unless it is a key.
        user, password = parts.username or "", parts.password or ""
        if password or looks_like_a_key(user):
            yield from (password or user, unquote(password or user))
            yield _base64(f"{unquote(user)}:{unquote(password)}")


def redactor(settings: Settings | None = None, extra: Iterable[str] = ()) -> Callable[[str], str]:
    """A function that redacts all secrets and `extra`, also as they stand in JSON, addresses or headers."""
    return _redactor(frozenset((*secret_values(settings), *extra)))


@lru_cache(maxsize=32)
def _redactor(secrets: frozenset[str]) -> Callable[[str], str]:
    # Without the line break that a file may have left at the end: it is sent and repeated without.
    known = {value for secret in secrets if len(value := secret.strip()) >= _SHORTEST}
    if not known:
        return lambda text: text
    forms = {form for value in known for form in _forms(value)}
    # Longest first: one may be the beginning of another.
    pattern = re.compile("|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form)))))
    return lambda text: pattern.sub(REDACTED, text)


def redact_json(value: Any, redact: Callable[[str], str]) -> Any:
    """`value` as JSON, with texts and keys redacted. What is no JSON becomes text, what is no number null."""
    plain = json.loads(json.dumps(value, default=str), parse_constant=lambda name: None)
    return _redacted(plain, redact)


def redact_error(error: BaseException, redact: Callable[[str], str]) -> None:
    """Redact the words of an error, of its causes and of the errors that it groups, in place."""
    left: list[BaseException] = [error]
    seen: set[int] = set()
    while left:
        at = left.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        at.args = tuple(redact(item) if isinstance(item, str) else item for item in at.args)
        for name in ("message", "problem", "detail", "hint", "strerror", "filename"):
            words = getattr(at, name, None)
            if isinstance(words, str):
                with suppress(AttributeError):  # a property of a class of its own
                    setattr(at, name, redact(words))
        grouped = at.exceptions if isinstance(at, BaseExceptionGroup) else ()
        left += [link for link in (at.__cause__, at.__context__, *grouped) if link is not None]


def without_credentials(url: str | None) -> str | None:
    """The address without user name, password and keys, as it may be stored with a thread."""
    if not url:
        return None
    parts = urlsplit(url)
    harmless = "&".join(
        option for option, name, value in _options(parts.query) if not _is_secret(name, value)
    )
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=harmless))


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): _redacted(item, redact) for key, item in value.items()}
    return [_redacted(item, redact) for item in value] if isinstance(value, list) else value


def _forms(value: str) -> tuple[str, ...]:
    as_json = (json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False))
    return value, *as_json, quote(value, safe="", errors="surrogateescape"), _base64(value)


def _parts(secret: str) -> Iterator[str]:
    """The secret, and those that it lists: NAME=TOKEN,... or headers such as authorization=Basic%20..."""
    yield secret
    for part in (secret, *(part.partition("=")[2] for part in secret.split(","))):
        plain = unquote(part).strip()
        yield from (part.strip(), plain)
        scheme, _, credentials = plain.partition(" ")
        if scheme.lower() in ("basic", "bearer"):
            yield credentials.strip()


def _options(query: str) -> Iterator[tuple[str, str, str]]:
    """Each option of an address with its name and its value, quoted as they stand."""
    for option in query.split("&"):
        name, _, value = option.partition("=")
        yield option, name, value


def _is_secret(name: str, value: str) -> bool:
    """Whether an option's value is a key: by its name (apiKey, access-token, key), or by its shape."""
    words = "_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", unquote_plus(name)).replace("-", "_")
    return bool(value and (_NAME.search(words) or looks_like_a_key(unquote_plus(value))))


def _base64(value: str) -> str:
    # A variable of the environment need not be UTF-8.
    return base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()
