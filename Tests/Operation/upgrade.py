"""The previous release beside this one, on one registry and one broker, under load, in both orders, and back.

Each run publishes the demo's events and a few large fan-outs, and changes the workers meanwhile. The books must agree
at the end: every event has its pushes, every broken event is a dead letter, and nothing else is.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from deployment import Deployment, WideWorkload, say
from processes import DemoFailure
from store import PostgreSQLStore, SQLiteStore

STORES = {"sqlite": SQLiteStore, "postgresql": lambda _: PostgreSQLStore()}


class Upgrade:
    """One run: which build begins, and on which store."""

    def __init__(self, options, store_name, begins_with, folder):
        self._options = options
        self._title = f"{store_name}, begun by the {begins_with} release"
        builds = {"previous": os.path.abspath(options.previous), "present": os.path.abspath(options.apus)}
        other = "present" if begins_with == "previous" else "previous"
        self._first, self._second = (begins_with, builds[begins_with]), (other, builds[other])
        self._present = builds["present"]
        self._metric_names = {}
        self._store = STORES[store_name](folder)
        self._deployment = Deployment(
            folder, self._store, WideWorkload(options.seed, options.scale, options.fan_outs))

    def run(self):
        """Does it all; the answer tells whether the books agree."""
        deployment = self._deployment
        (first, first_build), (second, second_build) = self._first, self._second
        say(f"\n{self._title}")
        deployment.prepare(first_build)
        self._check_topology(second_build)
        old = deployment.start_worker(first, first_build)
        self._metric_names[first] = old.metric_names()
        deployment.publish(self._options.rate)
        deployment.wait_for_published(0.15)
        if first == "previous":
            say("  migrating the registry under load")
            say("    " + deployment.apus(self._present, "registry", "migrate").strip().replace("\n", "\n    "))
        say(f"  starting a worker of the {second} release beside the one of the {first}")
        new = deployment.start_worker(second, second_build)
        self._metric_names[second] = new.metric_names()
        deployment.wait_for_published(0.35)
        say(f"  draining the worker of the {first} release")
        deployment.end_worker(old)
        deployment.wait_for_published(0.55)
        say(f"  going back: starting a worker of the {first} release, killing the one of the {second}")
        old = deployment.start_worker(first, first_build)
        deployment.wait_for_published(0.65)
        deployment.end_worker(new, kill=True)
        deployment.wait_for_published(0.8)
        say(f"  and forward again, killing the one of the {first}")
        new = deployment.start_worker(second, second_build)
        deployment.end_worker(old, kill=True)
        deployment.settle()
        deployment.end_worker(new)
        return self._judge()

    def _check_topology(self, build):
        """The queues of one release are those of the other: RabbitMQ cannot change a queue's arguments."""
        self._deployment.apus(build, "topology", "check")

    def _judge(self):
        findings, record = self._deployment.judge()
        gone = self._metric_names["previous"] - self._metric_names["present"]
        findings.heading("Interface")
        findings.note("metrics of the previous release that this one lacks", len(gone))
        findings.detail("metrics that are gone", sorted(gone))
        findings.print()
        say(f"    {record.accepted} pushes accepted, {record.duplicates} of them duplicates")
        return findings.agrees

    def close(self):
        self._deployment.close()
        self._store.close()


def parse_options():
    parser = argparse.ArgumentParser(prog="deploy/bin/check-upgrade")
    parser.add_argument("--apus", required=True)
    parser.add_argument("--previous", required=True)
    parser.add_argument("--registry", choices=sorted(STORES))
    parser.add_argument("--order", choices=["previous", "present"])
    parser.add_argument("--rate", type=int, default=300)
    parser.add_argument("--scale", type=int, default=30)
    parser.add_argument("--fan-outs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


def main():
    options = parse_options()
    # An interrupt, a hang-up and a termination unwind the stack like any failure, so that nothing keeps running.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    started = time.monotonic()
    verdicts = {}
    for store_name in [options.registry] if options.registry else ["sqlite", "postgresql"]:
        for begins_with in [options.order] if options.order else ["previous", "present"]:
            name = f"{store_name}/{begins_with}"
            verdicts[name] = run_one(options, store_name, begins_with)
    failed = [name for name, agrees in verdicts.items() if not agrees]
    seconds = time.monotonic() - started
    verdict = f"FAILED: {', '.join(failed)}" if failed else "nothing was lost"
    say(f"\ncheck-upgrade: {len(verdicts)} upgrades beside the previous release, and back: {verdict} ({seconds:.0f} s)")
    return 1 if failed else 0


def run_one(options, store_name, begins_with):
    folder = tempfile.mkdtemp(prefix="apus-upgrade-")
    upgrade = None
    agrees = False
    try:
        upgrade = Upgrade(options, store_name, begins_with, folder)
        agrees = upgrade.run()
    except (DemoFailure, OSError, subprocess.SubprocessError) as failure:
        say(f"  failed: {failure}")
    finally:
        if upgrade:
            upgrade.close()
        if options.keep or not agrees:
            say(f"  configuration, logs and the simulator's record are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return agrees


if __name__ == "__main__":
    sys.exit(main())
