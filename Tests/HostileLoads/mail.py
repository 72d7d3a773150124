"""Clients that fetch their notifications, while a process of its own deposits them as a worker does: each has a number,
and each that the registry kept has to come, once and in its order."""

import itertools
import json
import subprocess
import threading
import time

from book import Book, Client, Span
from clients import Mailbox, Over, Rhythm, open_mailbox, poll_once
from service import Target

# A client gets one notification for each look of the server. These are a second apart, and several with a debug build,
# so that each mailbox has one notification in four seconds.
MAILBOXES = 80
DEPOSITS_PER_SECOND = 20
# How long a notification may wait for the server to look.
LOOK_INTERVAL_SECONDS = 1
# How long what was deposited last may be under way.
SETTLING_SECONDS = 30
SOURCE = "127.0.1.7"


class Mail:
    """When each notification was kept by the registry, and when its client had it."""

    def __init__(self, book: Book):
        self._book = book
        self._lock = threading.Lock()
        self._kept: dict[int, float] = {}
        # From when its client waited in vain, if its polls were put off.
        self._received: dict[int, Span] = {}
        # Nothing is noted any more.
        self.is_settled = threading.Event()

    def was_kept(self, number: int) -> None:
        with self._lock:
            self._kept[number] = time.monotonic()
            self._count_if_complete(number)

    def was_received(self, number: int, put_off_since: float | None) -> None:
        with self._lock:
            received = time.monotonic()
            self._received[number] = Span(put_off_since or received, received)
            self._count_if_complete(number)

    def settle(self) -> None:
        """Waits for what is under way; what does not come is lost."""
        deadline = time.monotonic() + SETTLING_SECONDS
        while self._missing() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.is_settled.set()
        for number in self._missing():
            self._book.fail(f"notification {number} was kept by the registry, and did not come")

    def _missing(self) -> list[int]:
        with self._lock:
            return sorted(self._kept.keys() - self._received.keys())

    def _count_if_complete(self, number: int) -> None:
        if number in self._kept and number in self._received:
            received = self._received[number]
            # The client may have it before the process that deposited it hears that it was kept.
            self._book.spans.append(Span(min(self._kept[number], received.began), received.ended))


def open_mailboxes(target: Target) -> list[Mailbox]:
    """What is there before the loads begin, so that a slow server does not make a short run one without mail."""
    client = Client(target.host, SOURCE, Book("mailboxes"), {"Content-Type": "application/json"})
    return [open_mailbox(client, target, f"mail-{number}") for number in range(MAILBOXES)]


def mail(command: list[str], mailboxes: list[Mailbox], target: Target, over: Over, book: Book) -> None:
    """Clients with a mailbox each; the command deposits what it is told to."""
    book.allowance_seconds = LOOK_INTERVAL_SECONDS
    found = Mail(book)
    for place, mailbox in enumerate(mailboxes):
        mailbox.enter(book)
        threading.Thread(target=fetch, args=(target.host, mailbox.path, place, book, found), daemon=True).start()
    deposit(command, mailboxes, over, book, found)
    found.settle()


def fetch(host: str, path: str, place: int, book: Book, found: Mail) -> None:
    """Takes notifications from one mailbox until all is settled."""
    last = 0
    put_off_since: float | None = None
    while True:
        status, body = poll_once(host, path, SOURCE)
        if found.is_settled.is_set():
            return
        if status == 200:
            number = json.loads(body)["number"]
            if number <= last or number % MAILBOXES != place:
                book.fail(f"notification {number} came to mailbox {place}, after {last}")
            last = number
            found.was_received(number, put_off_since)
        if status in (200, 204):
            book.held += 1
            put_off_since = None
            continue
        put_off_since = put_off_since or time.monotonic()
        if status == 503:
            book.postponed()
        elif status == 0:
            book.reconnected += 1
        else:
            book.fail(f"a poll was answered with {status}: {body[:200]!r}")
        time.sleep(1)


def deposit(command: list[str], mailboxes: list[Mailbox], over: Over, book: Book, found: Mail) -> None:
    """Lets notifications wait in each mailbox in turn."""
    rhythm = Rhythm(Book("deposits"), DEPOSITS_PER_SECOND)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as depositor:
        for number in itertools.count(1):
            if over():
                break
            rhythm.wait()
            payload = json.dumps({"aps": {"alert": "soak"}, "number": number})
            depositor.stdin.write(f"{number} {mailboxes[number % MAILBOXES].token} {payload}\n")
            answer = depositor.stdout.readline()
            if answer == f"{number} kept\n":
                found.was_kept(number)
            else:
                book.fail(f"the deposit of notification {number} was answered with {answer!r}")
                time.sleep(0.1)
