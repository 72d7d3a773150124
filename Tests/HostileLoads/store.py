"""Where the registry is: a file of SQLite's, or a private PostgreSQL server; and how another program locks it."""

import os
import pwd
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from processes import DemoFailure, Process, free_ports, run, wait_until

# How long a lock is held, and how often.
LOCK_SECONDS, LOCK_INTERVAL_SECONDS = 0.3, 2.0
SERVER_CONFIGURATION = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
shared_buffers = 32MB
fsync = off
"""


class SQLiteStore:
    """A file."""

    def __init__(self, folder: str):
        self._path = os.path.join(folder, "registry.db")
        self.url = f"sqlite:{self._path}"

    def lock(self, over) -> None:
        """Takes the file's lock for a moment, now and then, as another program that writes does."""
        connection = sqlite3.connect(self._path, timeout=5, isolation_level=None)
        while not over():
            try:
                connection.execute("BEGIN IMMEDIATE")
                time.sleep(LOCK_SECONDS)
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                pass
            time.sleep(LOCK_INTERVAL_SECONDS)

    def close(self) -> None:
        """Nothing runs."""


class PostgreSQLStore:
    """A server whose data, port and users are its own; the system's clusters are not touched."""

    def __init__(self):
        self._programs = find_programs()
        self._port = free_ports(1)[0]
        self._folder = tempfile.mkdtemp(prefix="apus-soak-postgresql-")
        # PostgreSQL refuses to run as root.
        self._unprivileged: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", pwd.getpwnam("postgres").pw_gid)
            self._unprivileged = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--"]
        data = os.path.join(self._folder, "data")
        run([*self._unprivileged, f"{self._programs}/initdb", f"--pgdata={data}", "--username=apus", "--auth=trust",
             "--encoding=UTF8", "--locale=C", "--no-sync"], self._folder)
        with open(f"{data}/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(SERVER_CONFIGURATION.format(port=self._port, folder=self._folder))
        self._server = Process(
            "postgresql", [*self._unprivileged, f"{self._programs}/postgres", "-D", data], self._folder)
        wait_until(lambda: self._query("SELECT 1"), 30, self._server, "ready")
        self.url = f"postgresql://apus:none@127.0.0.1:{self._port}/postgres?sslmode=disable"

    def lock(self, over) -> None:
        """Keeps all others from writing devices for a moment, now and then."""
        while not over():
            if not self._query("BEGIN; LOCK TABLE apus.device IN EXCLUSIVE MODE; "
                               f"SELECT pg_sleep({LOCK_SECONDS}); ROLLBACK"):
                raise DemoFailure("PostgreSQL does not let devices be locked")
            time.sleep(LOCK_INTERVAL_SECONDS)

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
    """The folder with the server's programs, of the newest version that is installed."""
    for version in range(30, 12, -1):
        folder = f"/usr/lib/postgresql/{version}/bin"
        if os.access(f"{folder}/initdb", os.X_OK):
            return folder
    raise DemoFailure("PostgreSQL is not installed; install it with: apt-get install postgresql")
