"""Whether a model can see images: by its profile, or by the provider's refusal."""

from __future__ import annotations

import re
from typing import Any

from forethought.models.errors import describe, status_of
from forethought.models.types import ModelRequest, ReplyError

_ABOUT_IMAGES = re.compile(r"image|vision|multi-?modal|mmproj|content must be a string", re.IGNORECASE)
_STATUSES = (400, 404, 415, 422, 500, 501)
"""Local servers answer 500 to what a hosted one calls a bad request."""


def has_images(request: ModelRequest) -> bool:
    """Whether a message of the request has an image."""
    return any(message.images for message in request.messages)


def check_vision(request: ModelRequest, profile: Any, base_url: str | None) -> None:
    """Raise ReplyError when there are images and the model's profile says that it takes none.

    With a `base_url` the profile is not asked: a model's name says nothing about who serves it.
    """
    if has_images(request) and not base_url and (profile or {}).get("image_inputs") is False:
        raise _error(request.model, "its profile says so")


def image_refusal(error: BaseException, request: ModelRequest) -> ReplyError | None:
    """The error for a refusal of the images; None where the refusal is about something else."""
    if not has_images(request) or status_of(error) not in _STATUSES:
        return None
    words = describe(error)
    return _error(request.model, words) if _ABOUT_IMAGES.search(words) else None


def _error(model: str, reason: str) -> ReplyError:
    message = (
        f"model {model} took no image ({reason}); if it cannot see, set vision_model "
        "(--set vision_model=provider:name) to a model that can"
    )
    return ReplyError(message, problem=message)
