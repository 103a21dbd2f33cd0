"""Copies that the Wayback Machine keeps of pages that are gone (PreFlect's peers have an archive search)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass

import httpx

from forethought.tools.base import ToolError
from forethought.tools.web.fetch import Page, fetch

SECONDS = 15.0
"""Longest wait for the archive's word, and again for the copy."""
_STAMP = re.compile(r"\d{8}")


@dataclass(frozen=True)
class Copy:
    """An archived page and when it was taken."""

    page: Page
    date: str
    """ISO, or '' if the archive does not say."""


async def archived(url: str, archive_url: str | None, allowed_hosts: Collection[str]) -> Copy | None:
    """The newest copy of `url`; None where there is none or the archive does not answer.

    Args:
        url: The page's address. Names and passwords in it are not passed on.
        archive_url: The archive's availability API; None: no archive is asked.
        allowed_hosts: Private hosts that may be opened. A page on one of them is asked for only at an archive
            that is on one too: a public archive is not told of an intranet.
    """
    if archive_url is None:
        return None
    gone = httpx.URL(url).copy_with(username=None, password=None, fragment=None)
    if gone.host in allowed_hosts and httpx.URL(archive_url).host not in allowed_hosts:
        return None
    asked = httpx.URL(archive_url).copy_merge_params({"url": str(gone)})
    try:
        address, stamp = _closest(await fetch(str(asked), allowed_hosts, seconds=SECONDS))
        if not address:
            return None
        page = await fetch(address, allowed_hosts, seconds=SECONDS)
    except ToolError:
        return None  # the caller tells of the page itself, which is gone whatever the archive does
    date = f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}" if _STAMP.match(stamp) else ""
    return None if page.status >= 400 else Copy(page, date)


def _closest(answer: Page) -> tuple[str, str]:
    """Address and time stamp in {"archived_snapshots": {"closest": {available, url, timestamp}}}, or ''."""
    try:
        found = json.loads(answer.body)["archived_snapshots"]["closest"]
        address, stamp = str(found["url"]), str(found.get("timestamp") or "")
        return (address, stamp) if found.get("available") is not False else ("", "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return "", ""
