"""Public repositories that are run where the user has them: each in its own process, never copied here."""

from __future__ import annotations

from pathlib import Path

from forethought.evals.environments.process import WorkerProcess


def open_checkout(worker: str, folder: Path, *arguments: str) -> WorkerProcess:
    """A process that runs the checkout in `folder` by `worker` (tau_bench or tau2), for one episode."""
    module = f"{__name__}.{worker}"
    return WorkerProcess(f"{folder.name} ({worker})", ("-m", module, str(folder.resolve()), *arguments))
