"""Requests that two servers may read in two ways (RFC 9112). Each has to be refused, and answered once."""

import asyncio
import re

from attacker import Attacker

# What hides in a body; HTTP/1.0 needs no field.
HIDDEN = b"GET /openapi.json HTTP/1.0\r\n\r\n"
STATUS_LINE = re.compile(rb"HTTP/1\.[01] (\d{3}) ")


def request(*lines: bytes, body: bytes = HIDDEN, end: bytes = b"\r\n") -> bytes:
    """A PUT that may come through, but for these header fields."""
    head = (b"PUT /v1/devices/smuggled HTTP/1.1", b"Host: HOST", b"Authorization: Bearer TOKEN", *lines, b"")
    return end.join(head) + end + body


def chunked(body: bytes) -> bytes:
    return request(b"Transfer-Encoding: chunked", body=body + HIDDEN)


def framed_by(*lines: bytes) -> bytes:
    return request(*lines, body=b"0\r\n\r\n" + HIDDEN)


LENGTH = b"Content-Length: %d" % len(HIDDEN)
TARGET = b"GET /v1/devices HTTP/1.1\r\nHost: HOST\r\n"

CASES: dict[str, bytes] = {
    "space before the colon": request(LENGTH.replace(b":", b" :")),
    "tab before the colon": request(LENGTH.replace(b":", b"\t:")),
    "folded field": request(b"X-A: a", b" b", LENGTH),
    "folded transfer coding": framed_by(b"Transfer-Encoding:", b" chunked"),
    "space before the first field": request().replace(b"\r\nHost", b"\r\n Host"),
    "bare LF in the head": request(LENGTH, end=b"\n"),
    "bare CR in a field": request(b"X-A: a\rContent-Length: 0", LENGTH),
    "NUL in a field": request(b"X-A: a\0b", LENGTH),
    "field without a colon": request(b"X-A", LENGTH),
    "field without a name": request(b": a", LENGTH),
    "length and chunked": framed_by(LENGTH, b"Transfer-Encoding: chunked"),
    "chunked and length": framed_by(b"Transfer-Encoding: chunked", LENGTH),
    "two lengths": request(LENGTH, b"Content-Length: 0"),
    "two lengths in one": request(LENGTH + b", 0"),
    "length with a sign": request(b"Content-Length: +%d" % len(HIDDEN)),
    "negative length": request(b"Content-Length: -1"),
    "hexadecimal length": request(b"Content-Length: 0x10"),
    "empty length": request(b"Content-Length:"),
    "length that overflows": request(b"Content-Length: 18446744073709551617"),
    "unknown transfer coding": framed_by(b"Transfer-Encoding: xchunked"),
    "chunked is not the last": framed_by(b"Transfer-Encoding: chunked, identity"),
    "chunked twice": framed_by(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
    "vertical tab before chunked": framed_by(b"Transfer-Encoding: \x0bchunked"),
    "quoted chunked": framed_by(b'Transfer-Encoding: "chunked"'),
    "chunked in HTTP/1.0": framed_by(b"Transfer-Encoding: chunked").replace(b"HTTP/1.1", b"HTTP/1.0", 1),
    "chunk size with 0x": chunked(b"0x1\r\na\r\n0\r\n\r\n"),
    "chunk size with a space": chunked(b" 1\r\na\r\n0\r\n\r\n"),
    "negative chunk size": chunked(b"-1\r\na\r\n0\r\n\r\n"),
    "chunk size that overflows": chunked(b"10000000000000001\r\na\r\n0\r\n\r\n"),
    "bare LF after a chunk size": chunked(b"1\na\r\n0\r\n\r\n"),
    "bare LF in a chunk extension": chunked(b"1;a\nb\r\na\r\n0\r\n\r\n"),
    "bare LF after a chunk": chunked(b"1\r\na\n0\r\n\r\n"),
    "nothing after a chunk": chunked(b"1\r\na0\r\n\r\n"),
    "bare LF at the end of chunks": chunked(b"0\n\n"),
    "two hosts": request(b"Host: example.com", LENGTH),
    "no host": request(LENGTH).replace(b"Host: HOST\r\n", b"", 1),
    "another host in the target": request(LENGTH).replace(b"PUT /", b"PUT http://example.com/"),
    "NUL in the target": TARGET.replace(b"/v1", b"/v1\0") + b"\r\n" + HIDDEN,
    "NUL in the method": TARGET.replace(b"GET", b"G\0T") + b"\r\n" + HIDDEN,
    "space in the target": TARGET.replace(b"/v1", b"/v 1") + b"\r\n" + HIDDEN,
    "tab in the request line": TARGET.replace(b" HTTP", b"\tHTTP") + b"\r\n" + HIDDEN,
    "HTTP/2.0": TARGET.replace(b"HTTP/1.1", b"HTTP/2.0") + b"\r\n" + HIDDEN,
    "HTTP/1.10": TARGET.replace(b"HTTP/1.1", b"HTTP/1.10") + b"\r\n" + HIDDEN,
}
NAMES = list(CASES)


async def smuggle(attacker: Attacker) -> None:
    """One case after the other: one answer has to come, 4xx or 5xx, and then the end of the connection."""
    name = NAMES[(attacker.turns + attacker.number * len(NAMES) // attacker.load.connections) % len(NAMES)]
    data = CASES[name].replace(b"HOST", attacker.target.host.encode())
    await attacker.connect()
    try:
        await attacker.send(data.replace(b"TOKEN", attacker.target.tokens["tenant"].encode()))
        received = b""
        async with asyncio.timeout(20):
            while piece := await attacker.reader.read(65_536):
                received += piece
    finally:
        attacker.close()
    statuses = [int(status) for status in STATUS_LINE.findall(received)]
    if not statuses:
        raise ConnectionError("no answer")
    if len(statuses) > 1:
        attacker.breach(f"{name}: {len(statuses)} answers, {statuses}")
    attacker.findings.outcomes[statuses[0]] += 1
    if statuses[0] < 400:
        attacker.breach(f"{name}: answered with {statuses[0]}")
