"""The users of a server: their names and tokens, and where what is theirs is kept."""

from __future__ import annotations

import hashlib
import re

LOCAL_USER = "local"
"""The user without a login: the person at this machine, with the operator's files."""
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_@-]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_TAKEN = re.compile(r"local|system|user-[0-9a-f]{32}", re.IGNORECASE)
"""Reserved names: the local user, the server itself, hashed labels."""
_TOKEN = re.compile(r"[ -~]{16,}")


def label_of(user: str) -> str:
    """A user's name as a label of a namespace or a folder; one that cannot be is replaced by its hash."""
    return user if _LABEL.fullmatch(user) else "user-" + hashlib.sha256(user.encode()).hexdigest()[:32]


def named_tokens(text: str) -> dict[str, str]:
    """Tokens by user. Raises ValueError, which repeats none of them."""
    pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    users = {name.strip(): token.strip() for name, _, token in pairs}
    # A value without a user, of a list that came out empty, would let in everybody on this machine.
    valid = users and all(map(_NAME.fullmatch, users)) and all(map(_TOKEN.fullmatch, users.values()))
    if not valid or not len(pairs) == len(users) == len(set(users.values())):
        raise ValueError(
            "must be name=token, comma-separated, such as alice=...,bob=...; a name has letters, digits and "
            ". _ -; each token is unique, with at least 16 printable ASCII characters (openssl rand -hex 24)"
        )
    if any(map(_TAKEN.fullmatch, users)):
        raise ValueError("uses a reserved name (local, system or user-HASH); rename that user")
    if len({name.casefold() for name in users}) < len(users):
        raise ValueError("has user names that differ only in case; rename one")  # of folders
    return users
