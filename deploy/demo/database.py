"""A private PostgreSQL server: data, port and users are its own; the system's clusters are not touched."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from processes import DemoFailure, Process, free_ports, run, wait_until

START_SECONDS = 60
CONFIGURATION = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
shared_buffers = 32MB
fsync = off
"""


class Database:
    """Starts the server, and starts it again after `kill`."""

    def __init__(self, prefix):
        self._programs = find_programs()
        self.port = free_ports(1)[0]
        # Not below the demo's own folder, which another user may not enter.
        self._folder = tempfile.mkdtemp(prefix=prefix)
        # PostgreSQL refuses to run as root.
        self._unprivileged = []
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", pwd.getpwnam("postgres").pw_gid)
            # A change of the user ends that the kernel kills it when the demo dies.
            self._unprivileged = [
                "setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups", "--pdeathsig", "KILL", "--"]
        self._data = os.path.join(self._folder, "data")
        run(self._server_command(
            "initdb", f"--pgdata={self._data}", "--username=apus", "--auth=trust", "--encoding=UTF8", "--locale=C",
            "--no-sync"), self._folder)
        with open(f"{self._data}/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=self.port, folder=self._folder))
        self.process = None
        self.start()

    def start(self):
        """Starts the server on its data, and waits until it answers."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            self.process = Process("postgresql", self._server_command("postgres", "-D", self._data), self._folder)
            try:
                return wait_until(lambda: self.accepts("SELECT 1"), START_SECONDS, self.process, "ready")
            except DemoFailure:
                # What a killed server has left may hold its memory for a moment more, which ends a new one.
                if "pre-existing shared memory block" not in self.process.log_tail(3) or time.monotonic() > deadline:
                    raise

    def kill(self):
        """Ends all its processes at once; its data stays."""
        # Connections of a server whose first process is gone may live on for a moment, and answer.
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
        self.process.kill()
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def close(self):
        """Ends the server; an immediate shutdown gives the system's shared memory back."""
        if self.process:
            self.process.stop(20, first=signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, user="apus"):
        """The address of the database for a user, who needs no password."""
        return f"postgresql://{user}:none@127.0.0.1:{self.port}/postgres?sslmode=disable"

    def query(self, text, user="apus"):
        """Runs statements; the lines of their rows, with | between columns."""
        return run(self._psql(text, user), self._folder).splitlines()

    def accepts(self, text):
        """Whether statements succeed."""
        return subprocess.run(
            self._psql(text, "apus"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False).returncode == 0

    def program(self, name, user):
        """The command line of one of PostgreSQL's programs that connects to the server."""
        return [f"{self._programs}/{name}", "-h", "127.0.0.1", "-p", str(self.port), "-U", user]

    def _psql(self, text, user):
        return [*self.program("psql", user), "-d", "postgres", "-qAt", "-v", "ON_ERROR_STOP=1", "-c", text]

    def _server_command(self, name, *arguments):
        """A command of the server as a user without rights; one of another Debian is entered before, as root."""
        enter = f"{self._programs}/enter"
        if os.access(enter, os.X_OK):
            return [enter, *self._unprivileged, name, *arguments]
        return [*self._unprivileged, f"{self._programs}/{name}", *arguments]


def find_programs():
    """The folder with the server's programs: that which is asked for, or of the newest version that is installed."""
    if named := os.environ.get("APUS_POSTGRESQL_PROGRAMS"):
        return named
    for version in range(30, 12, -1):
        folder = f"/usr/lib/postgresql/{version}/bin"
        if os.access(f"{folder}/initdb", os.X_OK):
            return folder
    raise DemoFailure("PostgreSQL is not installed; install it with: apt-get install postgresql")
