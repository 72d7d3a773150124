"""What one well-behaved client did, and the HTTP client that it uses."""

import http.client
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

ATTEMPTS_MAXIMUM = 8
FAILURES_KEPT_MAXIMUM = 20
TIMEOUT_SECONDS = 20


class Refused(Exception):
    """An operation did not succeed, however often it was tried."""


@dataclass(frozen=True)
class Span:
    """From when to when, in seconds of the monotonic clock, which is the same in all processes."""

    began: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def meets(self, others: list["Span"]) -> bool:
        """Whether any of the others was at the same time."""
        return any(self.began <= other.ended and other.began <= self.ended for other in others)


@dataclass
class Book:
    """How long each operation took, what was confirmed, and what went wrong."""

    dialect: str
    # How far apart its operations are meant to begin; infinite if none waits for another.
    interval_seconds: float = math.inf
    # How much longer than the operations of others its own may take, because it is made to wait.
    allowance_seconds: float = 0.0
    # When each operation was carried out, with all its attempts and pauses.
    spans: list[Span] = field(default_factory=list)
    # When answers asked for another attempt: 429 and 503.
    postponements: list[float] = field(default_factory=list)
    # Connections that ended before an answer.
    reconnected: int = 0
    # Long polls that were held.
    held: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)
    # What `GET` of a path of the native API has to show at the end; None if there must be nothing.
    confirmed: dict[str, Any] = field(default_factory=dict)
    # The ids of events that were answered with 202.
    events: set[str] = field(default_factory=set)
    # What may not stand in the server's log.
    secrets: list[str] = field(default_factory=list)

    @contextmanager
    def operation(self, name: str, path: str | None = None) -> Iterator[None]:
        """Times an operation; if it fails, nobody knows what became of the path."""
        began = time.monotonic()
        try:
            yield
        except Exception as error:  # Whatever boto3 or a socket raises is a failure of the operation.
            self.fail(f"{name}: {type(error).__name__}: {str(error)[:300]}")
            if path:
                self.confirmed.pop(path, None)
            time.sleep(0.1)
        finally:
            self.spans.append(Span(began, time.monotonic()))

    @property
    def operations(self) -> int:
        return len(self.spans)

    def fail(self, what: str) -> None:
        """Notes what must not have happened."""
        self.failed += 1
        if len(self.failures) < FAILURES_KEPT_MAXIMUM:
            self.failures.append(what)

    def postponed(self, count: int = 1) -> None:
        """Notes answers that asked for another attempt."""
        self.postponements += [time.monotonic()] * count

    def apart_from(self, holds: list[Span]) -> list[Span]:
        """The operations that were carried out at other times."""
        return [span for span in self.spans if not span.meets(holds)]

    def meeting(self, holds: list[Span]) -> list[Span]:
        """The operations that were carried out, in whole or in part, at these times."""
        return [span for span in self.spans if span.meets(holds)]

    def recovery_seconds(self, holds: list[Span]) -> float:
        """How long after one of these times the last operation that had met it was done."""
        return max((span.ended - hold.ended for hold in holds for span in self.meeting([hold])), default=0.0)

    def postponed_in(self, spans: list[Span]) -> int:
        """How many answers in these operations asked for another attempt."""
        return sum(Span(moment, moment).meets(spans) for moment in self.postponements)

    def quantile(self, share: float, spans: list[Span]) -> float:
        """The time that this share of the operations, and of those that waited for them, did not exceed, in seconds.

        Without those that could not begin a client that stands still for a minute would show one slow operation.
        """
        waits = []
        for span in spans:
            seconds = span.seconds
            waits.append(seconds)
            while (seconds := seconds - self.interval_seconds) > 0:
                waits.append(seconds)
        waits.sort()
        return waits[max(0, math.ceil(share * len(waits)) - 1)] if waits else 0.0


class Client:
    """An HTTP client as it should be: it keeps its connection, and comes again when it is told to."""

    def __init__(self, host: str, source: str, book: Book, fields: dict[str, str] | None = None):
        self._host = host
        self._source = source
        self._book = book
        self._fields = fields or {}
        self._connection: http.client.HTTPConnection | None = None

    def request(
            self, method: str, path: str, body: str | None = None,
            fields: dict[str, str] | None = None) -> tuple[int, bytes]:
        """Status and body of the answer that is neither 429 nor 503; further header fields are of this request."""
        problem = ""
        for _ in range(ATTEMPTS_MAXIMUM):
            try:
                status, content, pause = self._attempt(method, path, body, self._fields | (fields or {}))
            except (OSError, http.client.HTTPException) as error:
                self.close()
                self._book.reconnected += 1
                problem = f"{type(error).__name__} {error}"
                time.sleep(0.02)
                continue
            if status not in (429, 503):
                return status, content
            self._book.postponed()
            problem = f"{status} {content[:200]!r}"
            time.sleep(min(pause, 5))
        raise Refused(f"{method} {path[:80]} after {ATTEMPTS_MAXIMUM} attempts: {problem}")

    def expect(
            self, statuses: tuple[int, ...], method: str, path: str, body: str | None = None,
            fields: dict[str, str] | None = None) -> bytes:
        """The body of an answer with one of these statuses."""
        status, content = self.request(method, path, body, fields)
        if status not in statuses:
            raise Refused(f"{method} {path[:80]} was answered with {status}: {content[:200]!r}")
        return content

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _attempt(
            self, method: str, path: str, body: str | None, fields: dict[str, str]) -> tuple[int, bytes, float]:
        if not self._connection:
            self._connection = http.client.HTTPConnection(
                self._host, timeout=TIMEOUT_SECONDS, source_address=(self._source, 0))
        self._connection.request(method, path, body, fields)
        answer = self._connection.getresponse()
        content = answer.read()
        return answer.status, content, float(answer.getheader("Retry-After") or 1)


def contains(found: Any, wanted: Any) -> bool:
    """Whether all that is wanted is found: members of objects, entries of arrays."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            name in found and contains(found[name], value) for name, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and all(any(contains(entry, value) for entry in found) for value in wanted)
    return found == wanted
