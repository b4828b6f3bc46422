"""Headers of every answer: what browsers may do with it."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "Content-Security-Policy"
HEADERS = {
    POLICY: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_FOR_A_YEAR = "public, max-age=31536000, immutable"


class SecurityHeaders:
    """Adds :data:`HEADERS` to every response; an own policy of a page is left to it if it is a sandbox without scripts.

    Caches keep static files only: for a year if the address names the content, else they revalidate them each time.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    if not (name == POLICY and headers.get(name, "").startswith("sandbox;")):
                        headers[name] = value
                headers.setdefault("Cache-Control", _caching(scope, message["status"]))
            await send(message)

        await self.app(scope, receive, sending)


def _caching(scope: Scope, status: int) -> str:
    if not scope["path"].startswith("/static/"):
        return "no-store"
    return _FOR_A_YEAR if scope["query_string"].startswith(b"v=") and status in (200, 304) else "no-cache"
