"""Checks that every panel of the dashboards shows something, and that every alert fires for a real fault."""

import argparse
import json
import math
import os
import re
import shutil
import signal
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# The demo has a private RabbitMQ node and processes that end with it, the soak of the API a private PostgreSQL.
sys.path[:0] = [os.path.join(ROOT, "deploy", "demo"), os.path.join(ROOT, "Tests", "HostileLoads")]

from faults import FAULTS  # noqa: E402
from processes import DemoFailure  # noqa: E402
from prometheus import Prometheus  # noqa: E402
from stage import APPS, Stage  # noqa: E402

WARM_UP_SECONDS = 40
PANEL_SECONDS = 60
ALERT_SECONDS = 45
RUN_SECONDS_MAXIMUM = 600


class Check:
    """One run."""

    def __init__(self, options, folder):
        self._options = options
        self._stage = Stage(os.path.abspath(options.command), folder)
        self._folder = folder
        self._prometheus = None
        self._failures = []
        self._checked = {"panels": 0, "alerts": 0}

    def run(self):
        """Does it all, and returns what failed."""
        say("Starting RabbitMQ, two simulators of APNs, a worker, the registry's API, Prometheus")
        with open(os.path.join(ROOT, "deploy", "alerts", "apus.rules.yml"), encoding="utf-8") as file:
            rules = file.read()
        self._stage.start()
        self._prometheus = Prometheus(self._folder, rules)
        self._watch()
        say(f"Waiting {WARM_UP_SECONDS} s for load, a large fan-out included")
        self._wait(WARM_UP_SECONDS)
        if not self._options.only:
            self._check_quiet()
            for name in sorted(os.listdir(os.path.join(ROOT, "deploy", "dashboards"))):
                self._check_dashboard(name)
            self._check_exemplars()
        self._check_alerts(set(re.findall(r"- alert: (\w+)", rules)))
        return self._failures

    def close(self):
        """Ends whatever runs."""
        self._stage.close()
        if self._prometheus:
            self._prometheus.process.kill()

    @property
    def summary(self):
        """What was checked, in a line."""
        result = f"{len(self._failures)} failures" if self._failures else "all well"
        return f"{self._checked['panels']} panels, {self._checked['alerts']} alerts: {result}"

    def _watch(self):
        self._prometheus.watch([self._stage.admin_port, self._stage.api_admin_port])

    def _wait(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._check_processes()
            time.sleep(0.5)

    def _check_processes(self):
        if self._stage.load.error:
            raise DemoFailure(f"the load ended: {self._stage.load.error}")
        for process in (self._stage.worker, self._stage.api, self._stage.broker.node, self._prometheus.process):
            if not process.is_running:
                raise DemoFailure(f"{process.name} ended with status {process.status}\n{process.log_tail()}")

    def fail(self, text):
        """Notes and tells a failure."""
        self._failures.append(text)
        say(f"  FAILED: {text}")

    def _check_quiet(self):
        alerts = sorted({name for name, _, _ in self._prometheus.alerts()})
        say(f"Without a fault: {', '.join(alerts) or 'no alert'}")
        for name in alerts:
            self.fail(f"{name} is active without a fault")

    # Panels

    def _check_dashboard(self, name):
        with open(os.path.join(ROOT, "deploy", "dashboards", name), encoding="utf-8") as file:
            board = json.load(file)
        variables = [entry["name"] for entry in board["templating"]["list"] if entry["type"] == "query"]
        count = 0
        for panel in board["panels"]:
            for target in panel.get("targets", []):
                count += 1
                query = target["expr"].replace("$__rate_interval", "10s")
                for variable in variables:
                    query = query.replace(f"${variable}", ".*")
                series = self._prometheus.series(query, PANEL_SECONDS)
                if not any(math.isfinite(value) for values in series for value in values):
                    self.fail(f"{name}, {panel['title']}: nothing for {query}")
        self._checked["panels"] += sum(1 for panel in board["panels"] if panel["type"] != "row")
        say(f"Dashboard {name}: {count} queries")

    def _check_exemplars(self):
        for metric in ("apus_push_duration_seconds_bucket", "apus_event_lag_seconds_bucket"):
            found = {labels["apns_id"] for labels in self._prometheus.exemplars(metric)}
            recorded = set().union(*(self._stage.simulators[app].apns_ids() for app in APPS))
            say(f"Exemplars of {metric}: {len(found)}, of which APNs saw {len(found & recorded)}")
            if not found or not found <= recorded:
                self.fail(f"the exemplars of {metric} are not the pushes that APNs saw")

    # Alerts

    def _check_alerts(self, names):
        provoked = {name for alerts, _, _ in FAULTS for name in alerts}
        for name in sorted(names ^ provoked):
            self.fail(f"{name}: " + ("no fault provokes it" if name in names else "the rules do not have it"))
        for alerts, labels, fault in FAULTS:
            if self._options.only and not set(alerts) & set(self._options.only):
                continue
            began = time.monotonic()
            with fault(self._stage, self._prometheus):
                waiting = list(alerts)
                while waiting and time.monotonic() < began + ALERT_SECONDS:
                    time.sleep(0.25)
                    firing = [
                        name for name, state, own in self._prometheus.alerts()
                        if state == "firing" and labels.items() <= own.items()]
                    for name in [name for name in waiting if name in firing]:
                        waiting.remove(name)
                        self._checked["alerts"] += 1
                        say(f"{name}: firing after {time.monotonic() - began:.0f} s")
                for name in waiting:
                    self.fail(f"{name} does not fire within {ALERT_SECONDS} s; active: {self._prometheus.alerts()}")
            if self._stage.load.error:
                raise DemoFailure(f"the load ended: {self._stage.load.error}")


def say(text):
    print(text, flush=True)


def parse_options():
    parser = argparse.ArgumentParser(prog="deploy/bin/check-dashboards")
    parser.add_argument("--command", required=True)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--only", action="append", metavar="ALERT")
    return parser.parse_args()


def main():
    options = parse_options()
    # A termination and the end of the time unwind the stack like any failure, so that nothing keeps running.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, lambda number, _: sys.exit(f"check-dashboards: ended by {signal.Signals(number).name}"))
    signal.alarm(RUN_SECONDS_MAXIMUM)
    folder = tempfile.mkdtemp(prefix="apus-dashboards-")
    check = Check(options, folder)
    status = 1
    try:
        status = 1 if check.run() else 0
    except DemoFailure as failure:
        check.fail(f"{failure}")
    finally:
        check.close()
        if options.keep or status:
            say(f"Logs and Prometheus's data are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    say(f"check-dashboards: {check.summary}")
    return status


if __name__ == "__main__":
    sys.exit(main())
