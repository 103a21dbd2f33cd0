"""What a careful operator declares of AgentDojo's tools: the one table that the gates go by."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from forethought.tools.base import Tool

CHANGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "send_email": ("egress", ("subject", "body")),
    "delete_email": ("write", ()),
    "create_calendar_event": ("write", ("description", "location")),
    "cancel_calendar_event": ("write", ()),
    "reschedule_calendar_event": ("write", ()),
    "add_calendar_event_participants": ("write", ()),
    "create_file": ("write", ("content",)),
    "append_to_file": ("write", ("content",)),
    "delete_file": ("write", ()),
    "share_file": ("egress", ()),
    "send_money": ("write", ("subject",)),
    "schedule_transaction": ("write", ("subject",)),
    "update_scheduled_transaction": ("write", ("subject",)),
    "update_password": ("write", ()),
    "update_user_info": ("write", ()),
    "send_direct_message": ("egress", ("body",)),
    "send_channel_message": ("egress", ("body",)),
    "invite_user_to_slack": ("egress", ()),
    "add_user_to_channel": ("write", ()),
    "remove_user_from_slack": ("write", ()),
    "post_webpage": ("egress", ("content",)),
    "reserve_hotel": ("write", ()),
    "reserve_restaurant": ("write", ()),
    "reserve_car_rental": ("write", ()),
}
"""The tools that change or send something: their effect, and the arguments that hold what is said, not where
it goes or whom it serves."""
FETCHES = {"get_webpage": "url"}
"""Tools that open an address: the argument that holds it."""
OWN = {
    "get_iban",
    "get_balance",
    "get_user_info",
    "get_user_information",
    "get_scheduled_transactions",
    "get_current_day",
}
"""Registers in which nobody but their owner can write a word. The contacts are not: AgentDojo puts every
sender of an e-mail there."""
STORES = {
    "search_calendar_events",
    "get_day_calendar_events",
    "create_calendar_event",
    "search_files",
    "search_files_by_filename",
    "create_file",
}
"""Tools whose records get their `id_` from the store."""
PUBLIC = ("_hotels", "_restaurants", "_car_", "restaurant_opening", "flight_information", "webpage")
"""Part of the name of a tool that returns no private data."""


def declared(name: str) -> dict[str, Any]:
    """The fields of `Tool` for the tool of this name."""
    effect, content = CHANGES.get(name, ("egress" if name in FETCHES else "read", ()))
    public = name in FETCHES or (effect == "read" and any(part in name for part in PUBLIC))
    options = {
        "effect": effect,
        "address": FETCHES.get(name),
        "retryable": name in FETCHES,
        "outside": name not in OWN,
        "content": content,
        "record_id": "id_" if name in STORES else "",
        "private": effect == "read" and not public,
    }
    known = {field.name for field in fields(Tool)}
    return {key: value for key, value in options.items() if key in known}
