"""sandlock: a full CPython in a process that the kernel confines (Landlock, seccomp; Linux 6.7 or later, no
root). Never a plain exec: where the kernel does not allow it, the tool says so.

What the program is given: the standard library and the installed packages to read, a private empty folder to
write, no environment, no network, no other process. Landlock alone does not keep a program from changing
the mode, owner or times of files that it cannot read, nor from changing the limits and priorities of other
processes of the same user: those calls are refused by name. What remains is that it can learn whether a path
exists.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forethought.tools.base import ToolError
from forethought.tools.sandbox.backend import Program
from forethought.tools.sandbox.session import INSTEAD, Session, unavailable

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
        return unavailable("the sandlock backend is not installed", "pip install 'forethought[sandbox]'")
    have, need = sandlock.landlock_abi_version(), sandlock.min_landlock_abi()
    if have < need:
        return unavailable(
            f"this kernel cannot confine programs: it offers Landlock {max(have, 0)}, and {need} is needed "
            "(Linux 6.7 or later, with Landlock switched on)",
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
