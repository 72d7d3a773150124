"""Where the registry is: a file of SQLite's, or a private PostgreSQL server; and how another program locks it."""

import itertools
import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from book import Span
from processes import DemoFailure, Process, free_ports, run, wait_until

# How long a lock is held, and how long it is free then.
LOCK_SECONDS, LOCK_PAUSE_SECONDS = 0.3, 2.0
# Once a minute it is held for longer than a request waits, which is a second; for the first time in short runs, too.
HOLD_SECONDS, HOLD_INTERVAL_SECONDS, HOLD_FIRST_AFTER_SECONDS = 3.0, 60.0, 8.0
# How long a lock may take to be got from those who write.
LOCK_PATIENCE_SECONDS = 10.0
SERVER_CONFIGURATION = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
shared_buffers = 32MB
fsync = off
"""


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
    """A server whose data, port and users are its own; the system's clusters are not touched."""

    def __init__(self):
        self._programs = find_programs()
        self._port = free_ports(1)[0]
        self._folder = tempfile.mkdtemp(prefix="apus-soak-postgresql-")
        self._tables = itertools.cycle(["device", "subscription", "courier_message"])
        # PostgreSQL refuses to run as root.
        self._unprivileged: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", pwd.getpwnam("postgres").pw_gid)
            self._unprivileged = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"]
        data = os.path.join(self._folder, "data")
        run(self._server_command("initdb", f"--pgdata={data}", "--username=apus", "--auth=trust", "--encoding=UTF8",
                                 "--locale=C", "--no-sync"), self._folder)
        with open(f"{data}/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(SERVER_CONFIGURATION.format(port=self._port, folder=self._folder))
        self._server = Process("postgresql", self._server_command("postgres", "-D", data), self._folder)
        wait_until(lambda: self._query("SELECT 1"), 30, self._server, "ready")
        self.url = f"postgresql://apus:none@127.0.0.1:{self._port}/postgres?sslmode=disable"

    def _server_command(self, name: str, *arguments: str) -> list[str]:
        """A command of the server as a user without rights; one of another Debian is entered before, as root."""
        enter = f"{self._programs}/enter"
        if os.access(enter, os.X_OK):
            return [enter, *self._unprivileged, name, *arguments]
        return [*self._unprivileged, f"{self._programs}/{name}", *arguments]

    def lock_briefly(self, seconds: float) -> None:
        # One table after the other: who holds several may be in a deadlock with the registry, which is another trial.
        self._lock_table(next(self._tables), "EXCLUSIVE", seconds)

    def lock_out(self, seconds: float) -> None:
        # As ALTER TABLE and VACUUM FULL do: devices cannot be read, either.
        self._lock_table("device", "ACCESS EXCLUSIVE", seconds)

    def _lock_table(self, name: str, mode: str, seconds: float) -> None:
        if not self._query(
                f"BEGIN; SET LOCAL lock_timeout = '{LOCK_PATIENCE_SECONDS:g}s'; "
                f"LOCK TABLE apus.{name} IN {mode} MODE; SELECT pg_sleep({seconds}); ROLLBACK"):
            raise DemoFailure(f"PostgreSQL does not let the table {name} be locked")

    def close(self) -> None:
        """Ends the server; an immediate shutdown gives the system's shared memory back."""
        self._server.stop(20, first=signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _query(self, text: str) -> bool:
        return subprocess.run(
            [f"{self._programs}/psql", "-h", "127.0.0.1", "-p", str(self._port), "-U", "apus", "-d", "postgres", "-qc",
             text], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False).returncode == 0


def find_programs() -> str:
    """The folder with the server's programs: that which is asked for, or of the newest version that is installed."""
    if named := os.environ.get("APUS_POSTGRESQL_PROGRAMS"):
        return named
    for version in range(30, 12, -1):
        folder = f"/usr/lib/postgresql/{version}/bin"
        if os.access(f"{folder}/initdb", os.X_OK):
            return folder
    raise DemoFailure("PostgreSQL is not installed; install it with: apt-get install postgresql")
