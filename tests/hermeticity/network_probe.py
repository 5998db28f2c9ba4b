"""Says whether this process could reach a network: prints `reachable` or `unreachable`.

Connecting a datagram socket asks the kernel for a route and sends nothing. The address is one of TEST-NET-1 (RFC 5737),
which no host has.
"""

import socket
import sys


def network() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "unreachable"
    return "reachable"


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write(network() + "\n")
