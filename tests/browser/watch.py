"""What a browser did behind its pages: requests, complaints of the console, violations of the policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage

_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.violatedDirective} forbids ${event.blockedURI} at ${event.sourceFile}`));
"""


@dataclass
class Watch:
    """All that the browser asked for and complained about."""

    origin: str
    """Where every request has to go: http://127.0.0.1:PORT."""
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    async def follow(self, context: BrowserContext) -> None:
        """Record every page that the context will have."""
        context.set_default_timeout(30_000)
        await context.add_init_script(_REPORT_VIOLATIONS)
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.complaints.append(f"page error: {error.error}"))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    @property
    def strays(self) -> list[str]:
        """Requests that left the application. What a page holds itself (data:) leaves nothing."""
        return [
            url
            for url in self.requests
            if not url.startswith("data:") and "{0.scheme}://{0.netloc}".format(urlsplit(url)) != self.origin
        ]

    def forgive(self, status: int) -> None:
        """Take back the complaints of replies with this status, which the test provoked."""
        self.complaints = [text for text in self.complaints if f"status of {status} " not in text]
