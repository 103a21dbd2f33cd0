"""What a person gives again to go on with a thread: what its record may name, and never decide.

A database is data. Whoever can write to it could name a module there, which would be imported, or an address,
which prompts and the operator's key would be sent to. So both come from flags and the environment alone, and
the record only tells what has to be given.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from forethought.app.errors import CliError
from forethought.app.options import Flags
from forethought.app.text import one_line
from forethought.redaction import without_credentials
from forethought.settings import Settings


def check_given(
    what: str, flags: Flags, settings: Settings, *, tools: str | None = None, base_url: str | None = None
) -> None:
    """Raises CliError unless a person names, in a flag or in the environment, the `tools` and the `base_url`
    that `what` was run with. A flag may name others; the environment may not, since whoever set it need not
    have thought of this thread.

    `settings` are those of `flags`.
    """
    if tools and not flags.tools and tools != settings.tools:
        raise must_be_given(what, "--tools", tools)
    if base_url and not flags.base_url and base_url != without_credentials(settings.base_url):
        raise CliError(
            f"{what} was run with --base-url {_shown(base_url)}, and prompts and key go only where you say: "
            "give --base-url again, this one or another"
        )


def must_be_given(what: str, flag: str, name: str) -> CliError:
    """A record names code that nobody has named now."""
    given = f"{flag} {_shown(name)}"
    return CliError(f"{what} was run with {given}, which is code: give {given} again")


@dataclass(frozen=True)
class Permits:
    """What the re-runs of a debugging may do, besides asking its model."""

    environment: str | None = None
    """MODULE:NAME of what makes the world that a trajectory ran in."""
    allow_writes: bool = False

    def check(self, what: str, environment: str | None, allow_writes: bool) -> None:
        """Raises CliError unless a person permits again what the record of `what` says was permitted."""
        if environment and not self.environment:
            raise must_be_given(what, "--environment", environment)
        if allow_writes and not self.allow_writes:
            raise CliError(
                f"{what} was begun with --allow-writes, which holds only where it is given: give it again"
            )

    @property
    def again(self) -> str:
        """As it is typed; ' ' before each flag."""
        named = f" --environment {shlex.quote(self.environment)}" if self.environment else ""
        return named + " --allow-writes" * self.allow_writes


def again(flags: Flags) -> str:
    """What a command that goes on has to be given again, as it is typed; ' ' before each flag.

    An address loses its password, and a database's that may hold one is left out.
    """
    file = flags.db if flags.db and ("://" not in flags.db or flags.db.startswith("sqlite:")) else None
    given = {"--db": file, "--tools": flags.tools, "--base-url": without_credentials(flags.base_url)}
    return "".join(f" {name} {shlex.quote(value)}" for name, value in given.items() if value)


def _shown(name: str) -> str:
    return shlex.quote(one_line(name, 200))
