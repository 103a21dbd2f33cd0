"""The only place that talks to a model: ask a question, get a validated reply (see `ask.Models`).

Importing it loads no provider: those come with the first call.
"""

from forethought.models.ask import Models
from forethought.models.record import RecordingTransport
from forethought.models.replay import ReplayTransport
from forethought.models.schema import NotStrict, drop_nulls, strict_schema
from forethought.models.types import (
    ConfigurationError,
    Function,
    Image,
    Message,
    ModelError,
    ReplayError,
    ReplyError,
    ReplyResult,
    ReplySpec,
    Transport,
    TransportError,
    reply_spec,
)

__all__ = [
    "ConfigurationError",
    "Function",
    "Image",
    "Message",
    "ModelError",
    "Models",
    "NotStrict",
    "RecordingTransport",
    "ReplayError",
    "ReplayTransport",
    "ReplyError",
    "ReplyResult",
    "ReplySpec",
    "Transport",
    "TransportError",
    "drop_nulls",
    "reply_spec",
    "strict_schema",
]
