"""Where the service listens, under which names it answers, and when it needs a token."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::\d{1,5})?")


@dataclass(frozen=True)
class Hosts:
    """Names that a request may carry in its Host header.

    A web page can point a name of its own at 127.0.0.1 and so make a browser ask this service; the Host
    header then shows that name. `any_address` also allows literal addresses, which cannot be redirected.
    """

    names: frozenset[str]
    any_address: bool = False

    def allows(self, header: str) -> bool:
        """Return whether a Host header names this service, with or without a port.

        Examples
        --------
        >>> Hosts(frozenset({"localhost"})).allows("localhost:8765")
        True
        >>> Hosts(frozenset({"localhost"})).allows("localhost.example.org")
        False
        """
        found = _HOST.fullmatch(header)
        if found is None:
            return False
        name = (found[1] or found[2]).lower()
        return name in self.names or (self.any_address and _address(name) is not None)


def resolve(host: str, port: int) -> tuple[socket.AddressFamily, str]:
    """Return the family and literal address to bind for a host as the user wrote it."""
    if not host.strip():
        raise ValueError("host must not be empty; leave it out to listen on 127.0.0.1")
    if not 0 <= port <= 65535:
        raise ValueError(f"port must be between 0 and 65535, got {port}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise ValueError(f"host {host!r} is not an address of this machine; use 127.0.0.1") from None
    family, _, _, _, address = found[0]
    return family, str(address[0])


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach a literal address."""
    found = _address(address)
    return found is not None and found.is_loopback


def check_token(token: str | None, address: str) -> None:
    """Refuse an address that other machines can reach without a token, and a token that cannot be sent."""
    if token is None:
        if not is_loopback(address):
            raise ValueError(
                f"other machines can reach {address}: give a token (--token or UNMET_TOKEN), "
                "or listen on 127.0.0.1"
            )
    elif not re.fullmatch(r"[!-~]{1,200}", token):
        raise ValueError("token must be 1 to 200 visible ASCII characters without spaces")


def allowed_hosts(host: str, address: str, more: Sequence[str] = ()) -> Hosts:
    """Return the names of a service bound to `address`, given as `host`; `more` are names of a proxy."""
    for name in more:
        if not re.fullmatch(r"[A-Za-z0-9._:-]{1,253}", name):
            raise ValueError(f"allow_hosts must hold plain names without port or scheme, got {name!r}")
    names = {name.lower() for name in (*LOOPBACK_NAMES, address, host, *more)}
    if is_loopback(address):
        return Hosts(frozenset(names))
    names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    found = _address(address)
    return Hosts(frozenset(names), any_address=found is not None and found.is_unspecified)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.split("%")[0])
    except ValueError:
        return None
