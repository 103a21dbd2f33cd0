"""Redaction of keys and passwords from what is shown, sent or stored.

Secret by their place are the settings' own keys, values of variables that are named like keys or listed in
FORETHOUGHT_SECRETS, passwords and keys in addresses and connection strings, paths of webhooks, and what
`register_secrets` was given. A weak one, such as the password `postgres`, is not redacted: harmless text that
holds it would be destroyed. `forethought doctor` names the variables whose secrets are weak.

Redacted are tools' results, prompts and replies, errors, logs, traces and recordings. What a person writes
into a task is stored as it was written; models and recordings see it without the keys.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_plus, urlsplit, urlunsplit

if TYPE_CHECKING:
    from forethought.settings import Settings

REDACTED = "[secret]"
LISTED = "FORETHOUGHT_SECRETS"  # lists the names of variables, comma-separated
_PREFIX = r"(?:[sr]k|glpat|tvly|pplx|xai|nvapi|gh[pousr]|github_pat|hf|gsk|xox[abeprs])[-_]"
PROVIDER_KEY = re.compile(
    rf"\b{_PREFIX}[\w-]{{0,40}}?[A-Za-z\d]{{16,}}[\w-]*"
    r"|\bA(?:KIA|SIA)[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
"""Patterns of keys: those of providers, JSON web tokens, private keys in PEM."""
_SHAPE = re.compile(
    rf"^{_PREFIX}.{{8}}|\b(?:[\dA-Fa-f]{{32,}}|[\dA-Fa-f]{{8}}(?:-[\dA-Fa-f]{{4}}){{3}}-[\dA-Fa-f]{{12}})\b"
    r"|\b(?=[A-Za-z]*\d)(?=[A-Z\d]*[a-z])(?=[a-z\d]*[A-Z])[A-Za-z\d]{20,}"
)
_RUN = re.compile(r"[^\s\-_./:,;=\\]+")
_TURN = re.compile(r"(?<=[a-z])[A-Z\d]|(?<=[A-Z])\d|(?<=\d)[A-Za-z]|(?<=[A-Za-z\d])[^\w\s](?=[A-Za-z\d])")
_TURNS, _LONG = 4, 16
"""Changes of the kind of character in a run, and characters of a declared secret: few words have as many."""
_NAME = re.compile(
    r"((API|_)KEYS?|KEY_BASE|TOKEN|(ACCESS|API|AUTH)_TOKENS|SECRETS?|CREDENTIALS?|PASS(WORD|WD|PHRASE)"
    r"|_(PG)?PASS|_PWD|_PAT|AUTHORIZATION|_HEADERS|_SIG(NATURE)?)(_?\d+)?$",
    re.IGNORECASE,
)
_DECLARED = re.compile(r"^FORETHOUGHT_|^PG|_API_KEY$")
_PIECE = re.compile(r"(?:[\s,;&?\"']|\\n)+")
_OPTION = re.compile(r"(?<![\w.-])([\w.-]+)(?:[\"']?\s*=|[\"']\s*:|:\s)\s*[\"']?([^\s,;&\"']+)")
_LOGIN = re.compile(r"(?<=://)([^\s/?#:]*)(?::([^\s/?#]*))?@")
_SHAPES = re.compile(
    rf"{PROVIDER_KEY.pattern}|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{{20,}}=*|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)",
    re.DOTALL,
)
_registered: frozenset[str] = frozenset()


def is_strong(text: str, declared: bool = False) -> bool:
    """Whether `text` hardly stands in harmless text: it has the shape of a key, or is declared and long."""
    turns = max((len(_TURN.findall(run)) for run in _RUN.findall(text)), default=0)
    is_key = (len(text) >= 8 and turns >= _TURNS) or _SHAPE.search(text) or PROVIDER_KEY.search(text)
    return bool(is_key or (declared and len(text) >= _LONG))


def register_secrets(values: Iterable[str]) -> None:
    """Count `values` as secret from now on, in the whole process, but for weak ones."""
    global _registered  # replaced, not changed: another thread may be reading it
    _registered |= frozenset(value for value in values if is_strong(value, declared=True))


def secret_values(settings: Settings | None = None) -> frozenset[str]:
    """The secrets of the environment, of the settings, and the registered ones, but for weak ones."""
    own = []
    for name, value in vars(settings).items() if settings is not None else ():
        text = value.get_secret_value() if hasattr(value, "get_secret_value") else value
        own += [(f"FORETHOUGHT_{name}", text)] if isinstance(text, str) else []
    return _registered | _secrets(tuple(os.environ.items()))[0] | _secrets(tuple(own))[0]


def weak_secrets() -> list[str]:
    """The variables of the environment whose secrets are too weak to be redacted."""
    return _secrets(tuple(os.environ.items()))[1]


@lru_cache(maxsize=8)
def _secrets(variables: tuple[tuple[str, str], ...]) -> tuple[frozenset[str], list[str]]:
    """The strong secrets of all variables, and the names of those whose secrets are all weak."""
    listed = dict(variables).get(LISTED, "").replace(" ", "").split(",")
    strong, weak = set[str](), []
    for name, value in variables:
        texts = set(candidates("SECRET" if name in listed else name, value)) if name != LISTED else ()
        declared = name in listed or _DECLARED.search(name) or _is_webhook(name, value)
        found = [text for text in texts if is_strong(text, bool(declared))]
        strong.update(found)
        if texts and not found:
            weak.append(name)
    return frozenset(strong), weak


def candidates(name: str, value: str) -> Iterator[str]:
    """What is secret by its place in the variable, header or option `name`, strong or weak."""
    for key in PROVIDER_KEY.findall(value):
        yield from (key, *_PIECE.split(key))  # the lines of a key in PEM, too
    named = _is_secret(name) and not (os.path.isabs(value) and os.path.exists(value))
    if named and value.strip():
        yield value.strip()
    texts = [text for option, text in _OPTION.findall(value) if named or _is_secret(option)]
    for text in texts + (_PIECE.split(value) if named else []):
        for form in (text, text.partition("#")[0], unquote(text), unquote_plus(text)):
            yield from filter(None, (form, *form.split()))
    for user, password in _LOGIN.findall(value):
        if password or is_strong(user):  # a user without a password is a name, unless it is a key
            yield from (password or user, unquote(password or user))
        if is_strong(password or user, declared=True):
            yield f"{unquote(user)}:{unquote(password)}"  # of which base64 makes a header
    if _is_webhook(name, value):
        parts = re.split("[/?#]", value.partition("://")[2])[1:]
        yield from (part for part in parts if is_strong(part, declared=part.isalnum()))


def _is_secret(name: str) -> bool:
    """Whether a variable, header or option is named like a key: API_KEY, apiKey, access-token, key."""
    return bool(_NAME.search("_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("-", "_")))


def _is_webhook(name: str, value: str) -> bool:
    return "://" in value and "hook" in f"{name} {value}".lower()


def redactor(settings: Settings | None = None) -> Callable[[str], str]:
    """A function that redacts all secrets, also as they stand in JSON, addresses or headers."""
    return _redactor(secret_values(settings))


def scrubber(settings: Settings | None = None) -> Callable[[str], str]:
    """A redactor that also redacts what has the shape of a key or a login, whoever it belongs to.

    For what leaves this machine, such as exports, and for what a model is trained on.
    """
    own = redactor(settings)
    return lambda text: _SHAPES.sub(REDACTED, own(text))


@lru_cache(maxsize=32)
def _redactor(secrets: frozenset[str]) -> Callable[[str], str]:
    forms = _all_forms(secrets)
    return lambda text: reduce(lambda said, form: said.replace(form, REDACTED), forms, text)


@lru_cache(maxsize=32)
def _all_forms(secrets: frozenset[str]) -> list[str]:
    """Longest first: one may be the beginning of another."""
    return sorted({form for value in secrets for form in _forms(value)}, key=len, reverse=True)


def settled_end(text: str, settings: Settings | None = None) -> int:
    """Up to where a text that still grows can be shown once it is redacted: what comes after may be the
    beginning of a secret."""
    end = len(text)
    for form in _all_forms(secret_values(settings)):
        at = text.find(form[0], max(0, len(text) - len(form) + 1))
        while 0 <= at < end and not form.startswith(text[at:]):
            at = text.find(form[0], at + 1)
        end = min(end, at) if at >= 0 else end
    return end


def redact_json(value: Any, redact: Callable[[str], str]) -> Any:
    """`value` as JSON, with texts and keys redacted. What is no JSON becomes text, what is no number null."""
    return redact_texts(json.loads(json.dumps(value, default=str), parse_constant=lambda name: None), redact)


def redact_error(error: BaseException, redact: Callable[[str], str]) -> None:
    """Redact the words of an error, of its causes and of the errors that it groups, in place."""
    left: list[BaseException | None] = [error]
    seen: set[int] = set()
    while left:
        at = left.pop()
        if at is None or id(at) in seen:
            continue
        seen.add(id(at))
        at.args = tuple(redact(item) if isinstance(item, str) else item for item in at.args)
        for name in ("message", "problem", "detail", "hint", "strerror", "filename"):
            words = getattr(at, name, None)
            if isinstance(words, str):
                with suppress(AttributeError):  # a property of a class of its own
                    setattr(at, name, redact(words))
        grouped = at.exceptions if isinstance(at, BaseExceptionGroup) else ()
        left += [at.__cause__, at.__context__, *grouped]


def without_credentials(url: str | None) -> str | None:
    """The address without user name, password and keys, as it may be stored with a thread."""
    if not url:
        return None
    parts = urlsplit(url)
    options = (option for option in parts.query.split("&") if not any(candidates("", option)))
    harmless = "&".join(option for option in options if not is_strong(unquote_plus(option)))
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=harmless))


def redact_texts(value: Any, redact: Callable[[str], str]) -> Any:
    """`value` with the texts and keys in its dicts, lists and tuples redacted; all else as it is."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact_texts(key, redact): redact_texts(item, redact) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redact_texts(item, redact) for item in value)
    return value


def _forms(value: str) -> Iterator[str]:
    yield from (value, *(json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)))
    # A variable of the environment need not be UTF-8.
    yield quote(value, safe="", errors="surrogateescape")
    yield base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()
