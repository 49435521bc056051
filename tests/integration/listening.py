"""Which sockets of a process and of all it started listen, and on which addresses (Linux: from /proc)."""

import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

LISTEN = "0A"  # the state's code in /proc/net/tcp


@dataclass(frozen=True)
class Listener:
    """A listening socket."""

    address: IPv4Address | IPv6Address
    port: int
    pid: int
    command: str

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        mapped = getattr(self.address, "ipv4_mapped", None)
        return (mapped or self.address).is_loopback


def listeners(root: int) -> list[Listener]:
    """The listening sockets of a process and its descendants."""
    by_inode = _listening()
    found = []
    for pid in descendants(root):
        process = Path(f"/proc/{pid}")
        try:
            targets = [str(link.readlink()) for link in (process / "fd").iterdir()]
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it ended meanwhile
            continue
        inodes = {target[len("socket:[") : -1] for target in targets if target.startswith("socket:[")}
        found += [Listener(*by_inode[inode], pid, command[-80:]) for inode in inodes & by_inode.keys()]
    return found


def descendants(root: int) -> set[int]:
    """The process and all below it."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    below = {root}
    while new := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= new
    return below


def _listening() -> dict[str, tuple[IPv4Address | IPv6Address, int]]:
    found = {}
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == LISTEN:
                host, port = columns[1].split(":")
                found[columns[9]] = _address(host), int(port, 16)
    return found


def _address(text: str) -> IPv4Address | IPv6Address:
    """The kernel writes an address as words of four bytes in the machine's order."""
    words = [int(text[at : at + 8], 16).to_bytes(4, "little") for at in range(0, len(text), 8)]
    packed = b"".join(words)
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    return ip_address(socket.inet_ntop(family, packed))
