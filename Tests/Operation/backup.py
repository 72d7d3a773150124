"""Backups under load, a disaster, and what is back after the restore; and a move from SQLite to PostgreSQL.

Each drill publishes the demo's events and compares the books at the end. While a backup is made, a client registers
devices all the time: a registration that was confirmed before the backup began must be in it.
"""

import argparse
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from database import find_programs
from deployment import APP, Deployment, WideWorkload, integrity, say
from processes import DemoFailure, run
from store import PostgreSQLStore, SQLiteStore


class Registrar(threading.Thread):
    """Registers devices without a pause, a few at a time, and knows which were confirmed."""

    BATCH = 20

    def __init__(self, deployment, build):
        super().__init__(name="registrar", daemon=True)
        self._deployment = deployment
        self._build = build
        self._is_over = threading.Event()
        self.confirmed = 0
        self.error = None

    def run(self):
        try:
            while not self._is_over.is_set():
                lines = "".join(self.line(self.confirmed + index) for index in range(self.BATCH))
                self._deployment.write("late.ndjson", lines)
                self._deployment.apus(self._build, "device", "import", "late.ndjson")
                self.confirmed += self.BATCH
        except DemoFailure as failure:
            self.error = failure

    @staticmethod
    def line(number):
        return json.dumps({
            "deviceId": f"late-{number:06}", "platform": "APNS", "token": f"{number:064x}", "app": APP,
            "userId": "late"}) + "\n"

    def finish(self):
        self._is_over.set()
        self.join()
        if self.error:
            raise self.error


class Drill:
    """What the drills have in common: a deployment under load, and books at the end."""

    def __init__(self, options, store, folder):
        self._build = os.path.abspath(options.apus)
        self._options = options
        self._folder = folder
        self._deployment = Deployment(folder, store, WideWorkload(options.seed, options.scale, fan_outs=2))
        self._registrar = Registrar(self._deployment, self._build)
        self._worker = None

    def begin(self, share=1.0):
        """Prepares all, starts a worker, publishes this share of the events, and registers devices."""
        self._deployment.prepare(self._build)
        self._worker = self._deployment.start_worker("first", self._build)
        self._deployment.publish(self._options.rate, share)
        self._registrar.start()
        self._deployment.wait_for_published(0.2)

    def late_devices(self, registry):
        """The devices of the registrar in a registry."""
        text = run([
            self._build, "device", "list", "--user", "late", "--limit", "1000000", "--json",
            "--config", self._deployment.path("apus.toml"), "--set", f"registry.url={registry}"], self._folder)
        return {json.loads(line)["deviceId"] for line in text.splitlines()}

    def check_copy(self, name, registry, confirmed_before):
        """A copy has all that was confirmed before it began, and nothing that never was."""
        found = self.late_devices(registry)
        missing = {f"late-{number:06}" for number in range(confirmed_before)} - found
        if missing:
            raise DemoFailure(f"{name}: {len(missing)} confirmed devices are not in it, for example {min(missing)}")
        say(f"  {name}: {confirmed_before} devices confirmed before, {len(found)} in it, none missing")

    def disaster(self, restore):
        """Kills the worker, takes the registry away, restores it, and starts again."""
        self._deployment.wait_for_published(0.6)
        self._registrar.finish()
        say("  the worker is killed, and the registry is gone")
        self._deployment.end_worker(self._worker, kill=True)
        began = time.monotonic()
        restore()
        self._worker = self._deployment.start_worker("restored", self._build)
        say(f"  restored, and a worker is ready, after {time.monotonic() - began:.1f} s")

    def judge(self):
        self._deployment.settle()
        stale = self._registrar.confirmed - len(self.late_devices(self._current()))
        say(f"  {stale} devices that registered after the backup have to register again")
        pruned = self._worker.metrics().total("apus_pushes_total", outcome="token_dead")
        self._deployment.end_worker(self._worker)
        findings, _ = self._deployment.judge()
        findings.note("dead tokens that APNs refused since the restore", pruned)
        findings.print()
        return findings.agrees

    def _current(self):
        return self._deployment.store.url

    def close(self):
        self._registrar._is_over.set()
        self._deployment.close()
        self._deployment.store.close()


class SQLiteDrill(Drill):
    """`apus registry backup`, and SQLite's own tools, of a file in use; then a restore."""

    title = "SQLite: online backups under load, and a restore"

    def __init__(self, options, folder):
        super().__init__(options, SQLiteStore(folder), folder)

    def run(self):
        self.begin()
        path = self._deployment.path("registry.db")
        ways = {
            "apus registry backup": lambda file: self._deployment.apus(self._build, "registry", "backup", file),
            "sqlite3 .backup": lambda file: run(
                ["sqlite3", "-cmd", ".timeout 30000", path, f".backup '{file}'"], self._folder),
            "sqlite3 VACUUM INTO": lambda file: run(
                ["sqlite3", "-cmd", ".timeout 30000", path, f"VACUUM INTO '{file}'"], self._folder),
        }
        for number, (name, back_up) in enumerate(ways.items()):
            file = self._deployment.path(f"backup-{number}.db")
            confirmed, began = self._registrar.confirmed, time.monotonic()
            back_up(file)
            seconds = time.monotonic() - began
            verdict = integrity(file)
            if verdict != "ok":
                raise DemoFailure(f"{name}: integrity_check says {verdict}")
            self.check_copy(f"{name} ({seconds:.2f} s, integrity_check ok)", f"sqlite:{file}", confirmed)
        self.disaster(self._restore)
        return self.judge()

    def _restore(self):
        for file in glob.glob(self._deployment.path("registry.db*")):
            os.remove(file)
        shutil.copy(self._deployment.path("backup-0.db"), self._deployment.path("registry.db"))


class PostgreSQLDrill(Drill):
    """`pg_dump` of the schema of a database in use, and a restore into another database."""

    title = "PostgreSQL: pg_dump under load, and a restore"

    def __init__(self, options, folder):
        super().__init__(options, PostgreSQLStore(), folder)
        self._programs = find_programs()
        self._registry = self._deployment.store.url

    def run(self):
        self.begin()
        dump = self._deployment.path("registry.dump")
        confirmed, began = self._registrar.confirmed, time.monotonic()
        run([f"{self._programs}/pg_dump", "--schema=apus", "--format=custom", f"--file={dump}", self._registry],
            self._folder)
        seconds = time.monotonic() - began
        restored = self._restore_into("restored", dump)
        self.check_copy(f"pg_dump ({seconds:.2f} s, {os.path.getsize(dump) // 1024} KiB)", restored, confirmed)
        self.disaster(lambda: self._use(self._restore_into("again", dump)))
        return self.judge()

    def _restore_into(self, database, dump):
        url = self._registry.replace("/postgres?", f"/{database}?")
        run([f"{self._programs}/psql", "--quiet", "--command", f"CREATE DATABASE {database}", self._registry],
            self._folder)
        run([f"{self._programs}/pg_restore", "--exit-on-error", "--no-owner", f"--dbname={url}", dump], self._folder)
        return url

    def _use(self, url):
        run([f"{self._programs}/psql", "--quiet", "--command", "DROP SCHEMA apus CASCADE", self._registry],
            self._folder)
        self._registry = url
        self._deployment.configure(url)

    def _current(self):
        return self._registry


class MoveDrill(Drill):
    """From SQLite to PostgreSQL by `apus registry copy`, and how long nothing is pushed."""

    title = "A move from SQLite to PostgreSQL"

    def __init__(self, options, folder):
        super().__init__(options, SQLiteStore(folder), folder)
        self._target = PostgreSQLStore()

    def run(self):
        deployment = self._deployment
        self.begin(share=0.6)
        seconds = self._copy()
        say(f"  copied while the worker runs, in {seconds:.1f} s")
        self._registrar.finish()
        # Publishers keep the rest meanwhile.
        deployment.settle()
        began = time.monotonic()
        deployment.end_worker(self._worker)
        seconds = self._copy()
        deployment.configure(self._target.url)
        self._worker = deployment.start_worker("moved", self._build)
        count = len(deployment.workload.devices) + self._registrar.confirmed
        stopped = time.monotonic() - began
        deployment.publish(self._options.rate)
        say(f"  stopped for {stopped:.1f} s with {count} devices, {seconds:.1f} s of it the second copy")
        return self.judge()

    def _copy(self):
        began = time.monotonic()
        run([self._build, "registry", "copy", self._deployment.store.url, self._target.url], self._folder, seconds=600)
        return time.monotonic() - began

    def _current(self):
        return self._target.url

    def close(self):
        super().close()
        self._target.close()


DRILLS = {"sqlite": SQLiteDrill, "postgresql": PostgreSQLDrill, "move": MoveDrill}


def parse_options():
    parser = argparse.ArgumentParser(prog="deploy/bin/check-backup")
    parser.add_argument("--apus", required=True)
    parser.add_argument("--drill", choices=list(DRILLS))
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def run_one(options, name):
    folder = tempfile.mkdtemp(prefix="apus-backup-")
    drill = None
    agrees = False
    try:
        say(f"\n{DRILLS[name].title}")
        drill = DRILLS[name](options, folder)
        agrees = drill.run()
    except (DemoFailure, OSError, subprocess.SubprocessError) as failure:
        say(f"  failed: {failure}")
    finally:
        if drill:
            drill.close()
        if options.keep or not agrees:
            say(f"  configuration, logs and the simulator's record are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return agrees


def main():
    options = parse_options()
    # An interrupt, a hang-up and a termination unwind the stack like any failure, so that nothing keeps running.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    started = time.monotonic()
    names = [options.drill] if options.drill else list(DRILLS)
    failed = [name for name in names if not run_one(options, name)]
    verdict = f"FAILED: {', '.join(failed)}" if failed else "nothing was lost"
    say(f"\ncheck-backup: {len(names)} drills: {verdict} ({time.monotonic() - started:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
