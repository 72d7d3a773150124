"""What hostile loads are made of: connections from addresses of their own, a pace, and a count of what came back."""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from service import Target

ANSWER_SECONDS = 30
# How soon a connection that has been closed is opened again.
PAUSE_SECONDS = 0.5
ANSWER_BYTES_MAXIMUM = 64 << 20


class Pace:
    """So many turns in a second, whoever takes them."""

    def __init__(self, per_second: float):
        self._interval = 1 / per_second
        self._next = time.monotonic()

    async def turn(self) -> None:
        now = time.monotonic()
        self._next = max(self._next + self._interval, now)
        await asyncio.sleep(self._next - now)


@dataclass
class Load:
    """One kind of attack."""

    name: str
    # How many connections at once, and how many turns in a second all of them take.
    connections: int
    per_second: float
    # The last numbers of the addresses 127.0.2.x that they come from.
    addresses: range
    # One turn, over and over until the end.
    turn: Callable[["Attacker"], Awaitable[None]]
    # Whether an answer 2xx is a breach.
    is_forbidden: bool = False


@dataclass
class Findings:
    """What came back to one load."""

    turns: int = 0
    # Statuses, and what became of turns without one.
    outcomes: Counter = field(default_factory=Counter)
    breaches: list[str] = field(default_factory=list)


class Attacker:
    """One connection of a load after the other."""

    def __init__(self, target: Target, load: Load, number: int, pace: Pace, findings: Findings):
        self.target = target
        self.load = load
        self.number = number
        self.turns = 0
        self.findings = findings
        # What a load remembers from one turn to the next.
        self.notes: dict[str, Any] = {}
        self._pace = pace
        self._address = f"127.0.2.{load.addresses[number % len(load.addresses)]}"
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        """Takes turns until it is cancelled."""
        while True:
            await self._pace.turn()
            self.turns += 1
            self.findings.turns += 1
            try:
                await self.load.turn(self)
            except TimeoutError:
                self._ended("no answer")
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
                self._ended("closed")
                await asyncio.sleep(PAUSE_SECONDS)

    async def connect(self, receive_buffer_bytes: int | None = None) -> None:
        """A new connection, unless there is one."""
        if self.writer and not self.writer.is_closing():
            return
        stream = socket.socket()
        stream.setblocking(False)
        if receive_buffer_bytes:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        try:
            stream.bind((self._address, 0))
            async with asyncio.timeout(ANSWER_SECONDS):
                await asyncio.get_running_loop().sock_connect(stream, ("127.0.0.1", self.target.port))
        except BaseException:
            stream.close()
            raise
        self.reader, self.writer = await asyncio.open_connection(sock=stream, limit=receive_buffer_bytes or 65_536)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        async with asyncio.timeout(ANSWER_SECONDS):
            await self.writer.drain()

    def request(self, method: str, path: str, fields: str = "", body: bytes = b"") -> bytes:
        """A request in whole; fields end with CR LF."""
        return (f"{method} {path} HTTP/1.1\r\nHost: {self.target.host}\r\n{fields}"
                f"Content-Length: {len(body)}\r\n\r\n").encode() + body

    async def answer(self) -> int:
        """Reads an answer to its end and notes its status."""
        async with asyncio.timeout(ANSWER_SECONDS * 2):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            status = int(head.split(" ", 2)[1])
            self.note(status)
            length = head.partition("\r\ncontent-length:")[2].partition("\r\n")[0].strip()
            if length:
                await self._skip(min(int(length), ANSWER_BYTES_MAXIMUM))
        if "connection: close" in head:
            self.close()
        return status

    async def ask(self, data: bytes) -> int:
        """Sends a request on the connection that there is, and reads the answer."""
        await self.connect()
        await self.send(data)
        return await self.answer()

    def note(self, status: int) -> None:
        self.findings.outcomes[status] += 1
        if self.load.is_forbidden and 200 <= status < 400:
            self.breach(f"answered with {status}")

    def breach(self, what: str) -> None:
        if len(self.findings.breaches) < 20:
            self.findings.breaches.append(f"{self.load.name}: {what}")

    def close(self) -> None:
        if self.writer:
            self.writer.close()
            self.writer = None

    async def _skip(self, count: int) -> None:
        while count:
            piece = await self.reader.read(min(count, 65_536))
            if not piece:
                raise ConnectionError("the answer ended too soon")
            count -= len(piece)

    def _ended(self, how: str) -> None:
        self.findings.outcomes[how] += 1
        self.close()


async def attack(target: Target, loads: list[Load], seconds: float) -> dict[str, Findings]:
    """Runs all loads at once for so long."""
    results = {load.name: Findings() for load in loads}
    tasks = []
    for load in loads:
        pace = Pace(load.per_second)
        for number in range(load.connections):
            tasks.append(asyncio.create_task(Attacker(target, load, number, pace, results[load.name]).run()))
    await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    broken = [task for task in tasks if task.done()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if broken:
        raise broken[0].exception() or RuntimeError("a load ended before its time")
    return results
