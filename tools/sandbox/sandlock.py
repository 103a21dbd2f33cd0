"""sandlock: a full CPython in a process that the kernel confines (Landlock, seccomp; Linux 6.7 or later, no
root). Never a plain exec: where the kernel does not allow it, the tool says so.

What the program is given: the standard library and the installed packages to read, a private empty folder to
write, no environment, no network, no other process. Landlock alone does not keep a program from changing
the mode, owner or times of files that it cannot read, nor from changing the limits and priorities of other
processes of the same user: those calls are refused by name. What remains is that it can learn whether a path
exists.

Whatever the process says is data: a program that forges a message only lies about its own outcome.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forethought.extras import install_command
from forethought.tools.base import ToolError
from forethought.tools.sandbox.program import (
    MAX_OUTPUT,
    MODULES,
    Program,
    at_line,
    printed_before,
    too_big,
    too_slow,
)

_CHILD = Path(__file__).with_name("child.py")
_REFUSED = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    prlimit64 setrlimit setpriority ioprio_set sched_setscheduler sched_setparam sched_setattr
    sched_setaffinity settimeofday clock_settime clock_adjtime adjtimex syslog pidfd_open pidfd_getfd
    pidfd_send_signal kcmp
    inotify_init inotify_init1 fanotify_init fsopen fsmount fspick move_mount open_tree mount_setattr chroot
    mknod mknodat process_madvise process_mrelease migrate_pages move_pages quotactl quotactl_fd acct flock
    setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid
    memfd_create memfd_secret mq_open mq_unlink process_vm_readv process_vm_writev personality
"""


def why_not() -> ToolError | None:
    """Why this machine cannot run the backend; None if it can."""
    if sys.platform != "linux":
        return unavailable("the sandlock backend needs Linux 6.7 or later", INSTEAD)
    try:
        import sandlock
    except ImportError:
        return unavailable("the sandlock backend is not installed", install_command("sandbox"))
    have, need = sandlock.landlock_abi_version(), sandlock.min_landlock_abi()
    if have < need:
        return unavailable(
            f"this kernel cannot confine programs: it has Landlock ABI {max(have, 0)}, but {need} "
            "is needed (Linux 6.7 or later with Landlock enabled)",
            INSTEAD,
        )
    return None


def run_sandlock(program: Program) -> tuple[str, str]:
    """The backend that is chosen with `python_backend`."""
    if problem := why_not():
        raise problem
    with (
        tempfile.TemporaryDirectory(prefix="forethought-", ignore_cleanup_errors=True) as folder,
        _confined(program, folder) as process,
    ):
        return Session(program, folder, process, packages()).serve()


@contextmanager
def _confined(program: Program, folder: str) -> Iterator[Any]:
    """The confined interpreter; it is killed at the end, whatever it does."""
    from sandlock import Sandbox
    from sandlock.sandbox import StdioMode

    python = os.path.realpath(sys.executable)
    environment = {"HOME": folder, "PYTHONHASHSEED": "0", "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
    sandbox = Sandbox(
        fs_readable=_readable(python),
        fs_writable=[folder],
        clean_env=True,
        env={**environment, "TZ": "UTC"},
        cwd=folder,
        max_memory=program.memory_mb << 20,
        max_processes=1,
        no_coredump=True,
        extra_deny_syscalls=_REFUSED.split(),
    )
    command = [python, "-P", "-s", "-S", "-B", str(_CHILD)]
    piped = {"stdin": StdioMode.PIPED, "stdout": StdioMode.PIPED, "stderr": StdioMode.PIPED}
    try:
        process = sandbox.popen(command, **piped)
    except (RuntimeError, OSError) as error:
        raise unavailable(f"the sandbox could not be started: {error}", INSTEAD) from error
    with process:
        yield process


def _readable(python: str) -> list[str]:
    """The interpreter, the standard library, installed packages, shared libraries; nothing else."""
    paths = sysconfig.get_paths()
    wanted = [
        python,
        str(_CHILD),
        paths["stdlib"],
        paths["platstdlib"],
        *packages(),
        str(sysconfig.get_config_var("LIBDIR") or ""),
        *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"),
        *("/usr/share/zoneinfo", "/dev/null", "/dev/urandom"),
    ]
    return [path for path in dict.fromkeys(wanted) if path and os.path.exists(path)]


def packages() -> list[str]:
    """The folders of installed packages of this interpreter."""
    paths = sysconfig.get_paths()
    return list(dict.fromkeys([paths["purelib"], paths["platlib"]]))


START_S = 20.0
"""Longest wait for the interpreter to start; it is not the program's time."""
MAX_FOLDER = 64 << 20
"""Most bytes in the program's folder, and half of it in one file."""
MAX_MESSAGE = 8 * MAX_OUTPUT
INSTEAD = "set python_backend to monty"
_HINTS = {
    "ModuleNotFoundError": "only the standard library and the installed packages are there",
    "PermissionError": "the sandbox has no files, network or other processes; `files` has the given files' "
    "texts, `tables` their tables, and the current folder can be written",
}


def unavailable(message: str, hint: str) -> ToolError:
    """The backend cannot be used here."""
    return ToolError(message, cause="unavailable", hint=hint)


class Session:
    """One program and its process: pumps the pipes, answers its calls, holds the limits."""

    def __init__(self, program: Program, folder: str, process: Any, packages: list[str]) -> None:
        self._program, self._folder, self._process = program, folder, process
        self._packages = packages
        self._printed, self._received, self._to_send = bytearray(), bytearray(), bytearray()
        self._seconds_left = START_S
        self._selector = selectors.DefaultSelector()
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        self._out, self._err = process.stdout.fileno(), process.stderr.fileno()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)

    @property
    def _text(self) -> str:
        return self._printed.decode("utf-8", "replace")

    def serve(self) -> tuple[str, str]:
        """Talk with the process until it has an outcome."""
        with self._selector:
            if not (self._next() or {}).get("ready"):
                raise unavailable(f"the sandbox did not start: {self._text[-300:].strip()}", INSTEAD)
            # Which the process cannot lift, since it may not set any limit itself.
            resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (MAX_FOLDER // 2, MAX_FOLDER // 2))
            self._seconds_left = self._program.seconds
            self._send(
                {
                    "code": self._program.code,
                    "inputs": dict(self._program.inputs),
                    "functions": list(self._program.functions),
                    "paths": self._packages,
                    "modules": MODULES,
                    "limit": MAX_OUTPUT,
                }
            )
            while (message := self._next()) is not None:
                if "call" not in message:
                    return self._outcome(message)
                self._send(self._call(message))
            return self._died()

    def _call(self, message: dict[str, Any]) -> dict[str, Any]:
        call = self._program.functions.get(str(message["call"]))
        positional, named = message.get("positional", []), message.get("named", {})
        if call is None or not isinstance(positional, list) or not isinstance(named, dict):
            return {"error": "there is no such function"}
        try:
            return {"text": call(*positional, **named)}
        except RuntimeError as error:
            return {"error": str(error)}

    def _send(self, message: dict[str, Any]) -> None:
        self._to_send += json.dumps(message).encode() + b"\n"
        if self._process.stdin.fileno() not in self._selector.get_map():
            self._selector.register(self._process.stdin.fileno(), selectors.EVENT_WRITE)

    def _next(self) -> dict[str, Any] | None:
        """The next message of the process; None when there will be none. Raises ToolError at a limit."""
        while True:
            line, end, rest = self._received.partition(b"\n")
            if end:
                self._received = rest
                return _parsed(bytes(line))
            if self._out not in self._selector.get_map():
                return None
            self._pump()

    def _pump(self) -> None:
        """Move what can be moved, for at most a twentieth of a second, and look at the limits."""
        began = time.monotonic()
        for key, _ in self._selector.select(min(self._seconds_left, 0.05)):
            if key.fd == self._out:
                self._take(key.fd, self._received)
            elif key.fd == self._err:
                self._take(key.fd, self._printed)
            else:
                self._give(key.fd)
        self._seconds_left -= time.monotonic() - began
        if self._seconds_left <= 0:
            raise too_slow(self._program, self._text)
        if len(self._printed) > MAX_OUTPUT or len(self._received) > MAX_MESSAGE:
            raise too_big(self._program, self._text)
        if _size(self._folder) > MAX_FOLDER:
            message = f"the code wrote more than {MAX_FOLDER >> 20} MB of files"
            raise ToolError(message + printed_before(self._text), cause="limit", hint="write less")

    def _take(self, fd: int, into: bytearray) -> None:
        part = os.read(fd, 65536)
        into += part
        if not part:
            self._selector.unregister(fd)

    def _give(self, fd: int) -> None:
        try:
            del self._to_send[: os.write(fd, self._to_send[:65536])]
        except BrokenPipeError:
            self._to_send.clear()
        if not self._to_send:
            self._selector.unregister(fd)

    def _outcome(self, message: dict[str, Any]) -> tuple[str, str]:
        while self._err in self._selector.get_map():  # read what was printed to its end
            self._pump()
        if message.get("memory"):
            raise too_big(self._program, self._text)
        if "error" in message:
            error, line = str(message["error"]), message.get("line")
            where = at_line(self._program.code, line) if isinstance(line, int) else ""
            raise ToolError(
                where + error + printed_before(self._text),
                hint=_HINTS.get(error.split(":")[0], "correct the code and run it again"),
            )
        return self._text, str(message.get("value", ""))[:MAX_OUTPUT]

    def _died(self) -> tuple[str, str]:
        """The process ended by itself without an outcome."""
        began = time.monotonic()
        result = self._process.wait(timeout=max(self._seconds_left, 0.1))
        if time.monotonic() - began >= self._seconds_left:
            raise too_slow(self._program, self._text)
        if result.exit_code == 0:
            return self._text, ""
        if result.exit_code < 0 and result.signal in (None, -1, 0, 9):
            raise too_big(self._program, self._text)
        how = f"exit code {result.exit_code}" if result.exit_code > 0 else f"signal {result.signal}"
        message = f"the program exited with {how}{printed_before(self._text)}"
        raise ToolError(message, hint="let it run to its end")


def _parsed(line: bytes) -> dict[str, Any]:
    """A message; whatever a program forged is an error like any other."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    return (
        message
        if isinstance(message, dict)
        else {"error": "the program closed its connection to the sandbox"}
    )


def _size(folder: str) -> int:
    """Bytes in the program's folder."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_blocks * 512
            except OSError:  # gone in the meantime
                continue
    return total
