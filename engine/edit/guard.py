"""Who may talk to the server: this page, opened with its token, from this machine; nothing else that a browser runs.

A page of anybody's can have a browser send requests to this address, under a name of its own that leads here, too. So
the name asked for must be ours (rebinding), the page that asks must be ours (Origin, Sec-Fetch-Site), and who opens the
line must know the token, which stands behind the # of the address: browsers send that to nobody.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

HOSTS = ("127.0.0.1", "localhost")
PROTOCOL = "jawari"  # of the line; the token is offered as a second one
LARGEST_MESSAGE = 1 << 16  # bytes
MOST_PAGES = 16  # at a time

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Server": "jawari",
}


def new_token() -> str:
    """One that nobody guesses."""
    return secrets.token_urlsafe(24)


def refusal(port: int, path: str, headers: Mapping[str, str], hosts: Sequence[str], token: str) -> tuple[int, str]:
    """Why a request is refused: status and a sentence; 0 if it is not. `hosts` are all its Host lines."""
    ours = {f"{host}:{port}" for host in HOSTS}
    if len(hosts) != 1 or hosts[0].lower() not in ours or not path.startswith("/"):
        return 403, "this page answers to its own address only"
    if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
        return 403, "not from another page"
    origin = headers.get("Origin")
    if origin is not None and origin not in {f"http://{host}" for host in ours}:
        return 403, "not from another page"
    if path != "/line":
        return 0, ""
    if origin is None:
        return 403, "a browser says where it comes from"
    offered = [word.strip() for word in headers.get("Sec-WebSocket-Protocol", "").split(",")]
    if not any(secrets.compare_digest(word.encode("utf-8", "replace"), token.encode()) for word in offered):
        return 401, "open the address that jawari edit printed"
    return 0, ""
