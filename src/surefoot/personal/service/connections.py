"""The open connections: how many there may be, in all and of one peer, and which must go when there are more."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_IPV6_NETWORK = 64  # bits: whoever has one address of such a network has all of them


@dataclass(frozen=True)
class Connection:
    """A connection: its peer, whether no request of it is being answered, and how it is closed."""

    peer: str
    idle: Callable[[], bool]
    close: Callable[[], None]


class Connections:
    """All open connections, the oldest first.

    An idle one, half open or kept alive, costs its peer nothing. So where there are too many, the oldest of these is
    closed, and no number of them keeps others out. Only if none is idle is a request refused.
    """

    def __init__(self, most: int) -> None:
        self.most, self.most_of_peer = most, most // 2
        self._open: dict[int, Connection] = {}
        self._of_peer: Counter[str] = Counter()

    def add(self, connection: Connection) -> None:
        """Count one that has come, and close an idle one if there are too many now."""
        crowded_peer = self._of_peer[connection.peer] >= self.most_of_peer
        if crowded_peer or len(self._open) >= self.most:
            for other in self._open.values():
                if (other.peer == connection.peer or not crowded_peer) and other.idle():
                    self.remove(other)
                    other.close()
                    break
        self._open[id(connection)] = connection
        self._of_peer[connection.peer] += 1

    def remove(self, connection: Connection) -> None:
        """Forget one that has ended."""
        if self._open.pop(id(connection), None) is not None:
            self._of_peer[connection.peer] -= 1
            if not self._of_peer[connection.peer]:
                del self._of_peer[connection.peer]

    def refusal(self, peer: str) -> str | None:
        """Why a request of this peer is not answered, if there are too many connections."""
        if self._of_peer[peer] > self.most_of_peer:
            return f"more than {self.most_of_peer:,} connections from one address are open; try again later"
        if len(self._open) > self.most:
            return f"more than {self.most:,} connections are open; try again later"
        return None


def peer_of(client: Any) -> str:
    """Who is at the other end, of a socket's address.

    >>> peer_of(("10.0.0.1", 5)), peer_of(("2001:db8::1", 5)), peer_of(("::ffff:10.0.0.1", 5)), peer_of(None)
    ('10.0.0.1', '2001:db8::/64', '10.0.0.1', '')
    """
    if client is None:
        return ""
    try:
        address = ipaddress.ip_address(str(client[0]).partition("%")[0])
    except ValueError:
        return str(client[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), _IPV6_NETWORK), strict=False))
