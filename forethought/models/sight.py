"""Whether a model can see: as its profile tells, or as the provider says when it is shown an image."""

from __future__ import annotations

import re
from typing import Any

from forethought.models.causes import status_of
from forethought.models.retry import one_line
from forethought.models.types import ModelRequest, ReplyError

_NAMES_SIGHT = re.compile(
    r"\bimages?\b|image_url|\bvision\b|multi-?modal|mmproj|content must be a string", re.IGNORECASE
)
_NAMES_THIS_IMAGE = re.compile(
    r"too (large|big|small|many)|exceed|at most|maximum|corrupt|damaged|truncated|invalid (base64|image)|"
    r"(unsupported|unknown) image|image (format|type)|"
    r"(could not|failed to|unable to) (decode|load|read|parse)",
    re.IGNORECASE,
)
_STATUSES = (400, 404, 415, 422, 500, 501)
"""Local servers answer 500 to what a hosted one calls a bad request."""


def shows_images(request: ModelRequest) -> bool:
    """Whether a message of the request has an image."""
    return any(message.images for message in request.messages)


def check_sight(request: ModelRequest, profile: Any, base_url: str | None) -> None:
    """Raises ReplyError when the request has images and the model's profile says that it cannot see.

    With a `base_url` the profile is not asked: the name of a model says nothing about who serves it.
    """
    if shows_images(request) and not base_url and (profile or {}).get("image_inputs") is False:
        raise blind(request.model)


def sight_error(error: BaseException, request: ModelRequest) -> ReplyError | None:
    """The provider's refusal of an image: of any, or of this one; None where its words are about something
    else.
    """
    if not shows_images(request) or status_of(error) not in _STATUSES:
        return None
    said = one_line(error)
    if not _NAMES_SIGHT.search(said):
        return None
    if _NAMES_THIS_IMAGE.search(said):
        message = f"model {request.model} refused the image: {said}"
        return ReplyError(message, problem=message)
    return blind(request.model, said)


def blind(model: str, said: str = "") -> ReplyError:
    """The error for a model without eyes."""
    message = (
        f"model {model} cannot see images; "
        "set vision_model (--set vision_model=provider:name) to one that can"
    )
    return ReplyError(message + (f" ({said})" if said else ""), problem=message)
