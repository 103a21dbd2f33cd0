"""A retrospective model: its data, its training, its serving, and the gate before it (SAMULE 3.2.2).

Importing it makes models named `local:PATH` known.
"""

from forethought.models.types import BACKENDS, Backend
from forethought.settings import Settings


def _local_models(settings: Settings) -> Backend:
    from forethought.training.local import LocalModels

    return LocalModels(settings)


BACKENDS["local:"] = _local_models
