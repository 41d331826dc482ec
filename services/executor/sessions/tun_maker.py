"""Makes a node's device in its session's network: `tun_maker.py SOCKET IP DEVICE MTU QUEUE PORT OWN OTHER...`.

It runs in the session's network namespace, from outside, before any program of the session does. It leads to the
addresses OTHER and nowhere else. It sends the device, and a socket that listens on PORT of the address OWN, over the
unix socket with the descriptor SOCKET. Both stay with who holds these: the session can open neither. It needs only
Python's standard library.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys

_TUNSETIFF = 0x400454CA
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
"""A device of layer 3, whose packets have nothing before the IP header."""


def made_device(name: str) -> int:
    """Return the descriptor of a new device; it vanishes when that is closed."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI))
    return descriptor


def settings(device: str, mtu: str, queue: str, own: str, others: list[str]) -> str:
    """The lines for `ip -batch`. Only the nodes have a route, so a wrong address fails at once."""
    lines = [
        f"addr add {own}/24 dev {device} noprefixroute",
        f"link set dev {device} mtu {mtu} txqueuelen {queue} up",
        *(f"route replace {other}/32 dev {device} src {own}" for other in others),
    ]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Make the device, and send it."""
    answer, ip, device, mtu, queue, port, own, *others = sys.argv[1:]
    descriptor = made_device(device)
    subprocess.run(  # noqa: S603  our own program
        [ip, "-batch", "-"], input=settings(device, mtu, queue, own, others).encode(), check=True
    )
    listener = socket.create_server((own, int(port)), backlog=128)
    socket.send_fds(socket.socket(fileno=int(answer)), [b"made"], [descriptor, listener.fileno()])


if __name__ == "__main__":
    main()
