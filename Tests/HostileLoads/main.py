"""The soak of the registry's API: every hostile load at once, and beside them one well-behaved client of each dialect,
which must not notice."""

import argparse
import asyncio
import json
import multiprocessing
import os
import queue
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from attacker import Findings, Load, attack
from book import Book
from broker import Broker
from clients import CLIENTS, audit
from loads import LOADS
from mail import mail, open_mailboxes
from processes import DemoFailure
from report import Verdict
from service import APP, Service, Target
from store import PostgreSQLStore, SQLiteStore

# How much memory the server may take at any time.
MEMORY_BYTES_MAXIMUM = 256 << 20
# In what time ninety-nine of a hundred operations of each client have to be done, pauses and attempts included.
P99_SECONDS_MAXIMUM = 1
# The hostile processes step back when the processors are short.
HOSTILE_NICENESS = 10
PROGRESS_SECONDS = 10
# Connections of all loads together, with room.
OPEN_FILES_WANTED = 8_192
# How long a process may take to end once the time is over; an operation may be in the midst of its attempts.
ENDING_SECONDS = 90

Fork = multiprocessing.get_context("fork")


class Soak:
    """One run, from an empty folder to the verdict."""

    def __init__(self, options: argparse.Namespace, folder: str):
        self._options = options
        self._seconds = options.seconds or options.minutes * 60
        self._say = (lambda text: print(text, file=sys.stderr, flush=True)) if options.json else say
        self.store = PostgreSQLStore() if options.registry == "postgresql" else SQLiteStore(folder)
        try:
            self.broker = Broker(folder)
            try:
                self.broker.wait()
                self.service = Service(options.apus, folder, self.store.url, self.broker.url)
            except BaseException:
                self.broker.stop()
                raise
        except BaseException:
            self.store.close()
            raise
        self._results = Fork.Queue()
        self._ends_at = 0.0
        self._counts = {name: Fork.Value("Q", 0, lock=False) for name in [*CLIENTS, "mail"]}
        self._processes: dict[str, multiprocessing.Process] = {}

    def run(self) -> Verdict:
        """Does it all."""
        chosen = {
            name: [load for load in loads if re.search(self._options.loads, load.name)] for name, loads in LOADS.items()
        }
        count = sum(map(len, chosen.values()))
        clients = CLIENTS | {"mail": self._mail()}
        self._say(f"Running {count} hostile loads and {len(clients)} clients for {self._seconds} s")
        target = self.service.target
        self._ends_at = time.monotonic() + self._seconds
        for name, client in clients.items():
            self._start(name, self._behave, target, name, client)
        attacks = {name: loads for name, loads in chosen.items() if loads}
        for name, loads in attacks.items():
            self._start(name, self._attack, target, loads)
        self._start("lock", self.store.lock, self._over)
        results = self._collect()
        p99_seconds_maximum = None if self._options.untimed else P99_SECONDS_MAXIMUM
        verdict = Verdict(self._seconds, p99_seconds_maximum, MEMORY_BYTES_MAXIMUM)
        verdict.books = [results[name] for name in clients]
        verdict.holds = results["lock"]
        for name in attacks:
            verdict.findings.update(results[name])
        self._judge(verdict)
        return verdict

    def _mail(self) -> Callable:
        """The client whose notifications are deposited by a program that was built beside the command."""
        depositor = os.path.join(os.path.dirname(os.path.abspath(self._options.apus)), "courier-depositor")
        return partial(mail, [depositor, self.store.url, APP], open_mailboxes(self.service.target))

    def _judge(self, verdict: Verdict) -> None:
        self._say("Reading back what was confirmed")
        verdict.problems += audit(self.service.target, verdict.books)
        kept = set(self.broker.message_ids("apus.work"))
        if lost := sum(len(book.events - kept) for book in verdict.books):
            verdict.problems.append(f"{lost} events were answered with 202, and RabbitMQ does not have them")
        if (status := self.service.ready()) != 200:
            verdict.problems.append(f"/readyz is answered with {status} after the loads")
        verdict.processor_seconds = self.service.processor_seconds()
        memory = self.service.memory
        if (status := self.service.stop()) != 0:
            verdict.problems.append(f"the server ended with status {status} at SIGTERM instead of 0")
        verdict.memory_bytes, verdict.memory_after_seconds = memory.greatest_bytes, memory.greatest_after_seconds
        log = self.service.process.log()
        secrets = self.service.target.secrets + [secret for book in verdict.books for secret in book.secrets]
        if found := sum(secret in log for secret in set(secrets)):
            verdict.problems.append(f"{found} secrets stand in the log, {self.service.process.log_path}")

    # The processes

    def _start(self, name: str, body: Callable, *arguments) -> None:
        def run() -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            try:
                result = body(*arguments)
            except Exception as error:  # A fault of a load or a client is a finding about this program.
                result = RuntimeError(f"{name}: {type(error).__name__}: {error}")
            self._results.put((name, result))

        process = Fork.Process(target=run, name=name, daemon=True)
        process.start()
        self._processes[name] = process

    def _over(self) -> bool:
        return time.monotonic() >= self._ends_at

    def _behave(self, target: Target, name: str, client: Callable) -> Book:
        count = self._counts[name]
        book = Book(name)

        def over() -> bool:
            count.value = book.operations
            return self._over()

        client(target, over, book)
        return book

    def _attack(self, target: Target, loads: list[Load]) -> dict[str, Findings]:
        os.nice(HOSTILE_NICENESS)
        return asyncio.run(attack(target, loads, self._ends_at - time.monotonic()))

    def _collect(self) -> dict[str, Any]:
        """Waits for the end of every process, and says each ten seconds how far it is; returns what each found."""
        results: dict[str, Any] = {}
        next_line = time.monotonic() + PROGRESS_SECONDS
        while len(results) < len(self._processes):
            try:
                name, result = self._results.get(timeout=0.5)
                if isinstance(result, Exception):
                    raise DemoFailure(str(result))
                results[name] = result
            except queue.Empty:
                pass
            if not self.service.process.is_running:
                raise DemoFailure(
                    f"the server ended with status {self.service.process.status}\n{self.service.process.log_tail()}")
            if time.monotonic() > self._ends_at + ENDING_SECONDS:
                running = [name for name, process in self._processes.items() if process.is_alive()]
                raise DemoFailure(f"not ended {ENDING_SECONDS} s after the time: {', '.join(running)}")
            if time.monotonic() >= next_line:
                next_line += PROGRESS_SECONDS
                self._progress()
        return results

    def _progress(self) -> None:
        counts = "   ".join(f"{name} {count.value}" for name, count in self._counts.items())
        seconds = self._seconds - max(0.0, self._ends_at - time.monotonic())
        self._say(f"  {seconds:4.0f} s   {self.service.memory.current_bytes / 2**20:4.0f} MiB   {counts}")

    def close(self) -> None:
        """Ends whatever still runs."""
        for process in self._processes.values():
            if process.is_alive():
                process.kill()
        self.service.process.kill()
        self.broker.stop()
        self.store.close()


def say(text: str) -> None:
    print(text, flush=True)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="deploy/bin/api-soak", description=__doc__)
    time_options = parser.add_mutually_exclusive_group()
    time_options.add_argument("--minutes", type=int, default=10, help="how long it takes (10)")
    time_options.add_argument("--seconds", type=int, help="the same in seconds")
    parser.add_argument("--apus", required=True, metavar="PATH", help="the command that is tried")
    parser.add_argument(
        "--untimed", action="store_true",
        help=f"do not judge times; without it the 99th percentile of each client is at most {P99_SECONDS_MAXIMUM} s")
    parser.add_argument("--registry", choices=["sqlite", "postgresql"], default="sqlite", help="where devices are kept")
    parser.add_argument("--loads", default="", metavar="REGEX", help="only the hostile loads whose names it matches")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the configuration and the log")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    # An interrupt, a hang-up and a termination unwind the stack like any failure, so that nothing keeps running.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES_WANTED if hard == resource.RLIM_INFINITY else min(OPEN_FILES_WANTED, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    folder = tempfile.mkdtemp(prefix="apus-soak-")
    soak = None
    status = 1
    try:
        soak = Soak(options, folder)
        verdict = soak.run()
        if options.json:
            say(json.dumps(verdict.members(), indent=2))
        else:
            verdict.print()
        status = 0 if verdict.is_good else 1
    except DemoFailure as failure:
        print(f"The soak failed: {failure}", file=sys.stderr)
    except KeyboardInterrupt:
        status = 130
    finally:
        if soak:
            soak.close()
        if options.keep or status == 1:
            print(f"The configuration and the server's log are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
