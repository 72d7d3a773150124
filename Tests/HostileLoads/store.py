"""Where the registry is: a file of SQLite's, or a private PostgreSQL server; and how another program locks it."""

import itertools
import os
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from book import Span
from database import Database
from processes import DemoFailure

# How long a lock is held, and how long it is free then.
LOCK_SECONDS, LOCK_PAUSE_SECONDS = 0.3, 2.0
# Once a minute it is held for longer than a request waits, which is a second; for the first time in short runs, too.
HOLD_SECONDS, HOLD_INTERVAL_SECONDS, HOLD_FIRST_AFTER_SECONDS = 3.0, 60.0, 8.0
# How long a lock may take to be got from those who write.
LOCK_PATIENCE_SECONDS = 10.0


class Store(ABC):
    """What both have in common."""

    # What `registry.url` in the configuration says.
    url: str

    def lock(self, over: Callable[[], bool]) -> list[Span]:
        """Keeps others from writing for a moment, now and then, and sometimes for long; returns the long times."""
        holds: list[Span] = []
        next_hold = time.monotonic() + HOLD_FIRST_AFTER_SECONDS
        while not over():
            began = time.monotonic()
            if began < next_hold:
                self.lock_briefly(LOCK_SECONDS)
            else:
                next_hold += HOLD_INTERVAL_SECONDS
                self.lock_out(HOLD_SECONDS)
                holds.append(Span(began, time.monotonic()))
            time.sleep(LOCK_PAUSE_SECONDS)
        return holds

    @abstractmethod
    def lock_briefly(self, seconds: float) -> None:
        """Keeps others from writing, as another program that writes does."""

    @abstractmethod
    def lock_out(self, seconds: float) -> None:
        """Takes the strongest lock that another program takes in its work."""

    @abstractmethod
    def close(self) -> None:
        """Ends what runs for it."""


class SQLiteStore(Store):
    """A file."""

    def __init__(self, folder: str):
        self._path = os.path.join(folder, "registry.db")
        self.url = f"sqlite:{self._path}"

    def lock_briefly(self, seconds: float) -> None:
        connection = sqlite3.connect(self._path, timeout=LOCK_PATIENCE_SECONDS, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            raise DemoFailure(f"SQLite does not let the registry be locked: {error}") from error
        finally:
            connection.close()

    def lock_out(self, seconds: float) -> None:
        # Who writes does not keep others from reading a file with a write-ahead log.
        self.lock_briefly(seconds)

    def close(self) -> None:
        """Nothing runs."""


class PostgreSQLStore(Store):
    """A private server."""

    def __init__(self):
        self._database = Database("apus-soak-postgresql-")
        self._tables = itertools.cycle(["device", "subscription", "courier_message"])
        self.url = self._database.url()

    def lock_briefly(self, seconds: float) -> None:
        # One table after the other: who holds several may be in a deadlock with the registry, which is another trial.
        self._lock_table(next(self._tables), "EXCLUSIVE", seconds)

    def lock_out(self, seconds: float) -> None:
        # As ALTER TABLE and VACUUM FULL do: devices cannot be read, either.
        self._lock_table("device", "ACCESS EXCLUSIVE", seconds)

    def _lock_table(self, name: str, mode: str, seconds: float) -> None:
        if not self._database.accepts(
                f"BEGIN; SET LOCAL lock_timeout = '{LOCK_PATIENCE_SECONDS:g}s'; "
                f"LOCK TABLE apus.{name} IN {mode} MODE; SELECT pg_sleep({seconds}); ROLLBACK"):
            raise DemoFailure(f"PostgreSQL does not let the table {name} be locked")

    def close(self) -> None:
        """Ends the server."""
        self._database.close()
