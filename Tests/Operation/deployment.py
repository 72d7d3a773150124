"""A deployment of its own: broker, simulator, registry, and workers of any build, all in one folder."""

import itertools
import json
import os
import sqlite3
import time
import urllib.error
import urllib.request

from broker import Broker
from ledger import Findings, Metrics, Record, check_dead_letters, check_deliveries
from processes import DemoFailure, Process, free_ports, run, wait_until
from publisher import Publisher
from workload import APP, BUNDLE_ID, LISTENER, POOL, PREDICATE, Workload

KEY_ID = "DEMO123456"
TEAM_ID = "DEMOTEAM01"
RETRY_DELAYS = ["200ms", "1s", "3s"]
SETTLE_SECONDS = 180
# The settled state has to be seen this often in a row: a message between two queues is in neither for an instant.
SETTLED_LOOKS = 4
FAN_OUT_THRESHOLD_DEVICES = 250
TOPIC = "everyone"

CONFIGURATION = """\
[rabbitmq]
url = "{broker}"
[registry]
url = "{registry}"
[retry]
delays = {delays}
server_error_delay = "1s"
[fanout]
threshold_devices = {threshold}
chunk_devices = {threshold}
[log]
format = "json"
[admin]
listen = "127.0.0.1:0"
[[app]]
name = "{app}"
bundle_id = "{bundle_id}"
identity_pools = ["{pool}"]
[app.apns]
key_file = "{folder}/AuthKey_{key_id}.p8"
key_id = "{key_id}"
team_id = "{team_id}"
endpoint = "127.0.0.1:{apns_port}"
ca_file = "{folder}/simulator.pem"
"""


def say(text):
    print(text, flush=True)


class WideWorkload(Workload):
    """The demo's events that the previous release knows, and some to all devices, in chunks that workers share."""

    def __init__(self, seed, percent, fan_outs):
        super().__init__(seed, percent, suits_previous_release=True)
        step = len(self.events) // (fan_outs + 1)
        for number in range(fan_outs):
            serial = f"fan-out-{number}"
            data = {
                "app": APP, "topic": TOPIC,
                "notification": {"title": "Demo", "body": "To everyone", "data": {"serial": serial}},
            }
            for device in self.devices:
                self.requested.add((device.token, serial))
            self.events.insert((number + 1) * step, self._event(serial, "com.example.push.requested", data))

    def registrations(self):
        """The lines that `apus device import` reads."""
        return "".join(json.dumps({**device.registration(), "topics": [TOPIC]}) + "\n" for device in self.devices)


class Worker:
    """One `apus run`, and what its admin server says."""

    def __init__(self, name, apus, folder):
        self.name = name
        self.process = Process(name, [apus, "run", "--config", os.path.join(folder, "apus.toml")], folder)
        self._port = None

    def wait_until_ready(self):
        wait_until(lambda: self._get("/readyz")[0] == 200, 60, self.process, "ready")

    def metrics(self):
        """A scrape; empty if the worker cannot be asked."""
        status, text = self._get("/metrics")
        return Metrics(text if status == 200 else "")

    def metric_names(self):
        """The names of all metrics that it serves."""
        status, text = self._get("/metrics")
        if status != 200:
            raise DemoFailure(f"/metrics of {self.name} answered {status}\n{self.process.log_tail()}")
        return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}

    def log_lines(self):
        """What it logged, a dictionary for each line."""
        return [json.loads(line) for line in self.process.log().splitlines() if line.startswith("{")]

    def drain(self):
        """Ends it in order; anything but 0 is a failure."""
        status = self.process.stop(60)
        if status != 0:
            raise DemoFailure(f"{self.name} ended with status {status} instead of 0\n{self.process.log_tail()}")

    def _get(self, path):
        if self._port is None:
            for line in self.log_lines():
                if line.get("event") == "admin.listening":
                    self._port = line["port"]
        if self._port is None:
            return 0, ""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""


class Deployment:
    """From an empty folder to the verdict; the caller chooses which build does what, and when."""

    def __init__(self, folder, store, workload):
        self.folder = folder
        self.store = store
        self.workload = workload
        self.workers = []
        self._publishers = []
        self._numbers = itertools.count(1)
        self._apns_port = free_ports(1)[0]
        self.record_path = self.path("record.ndjson")
        self.broker = Broker(folder)
        self.simulator = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def apus(self, build, *arguments):
        """Runs a command of a build, which has to succeed, and returns what it printed."""
        return run([build, *arguments, "--config", self.path("apus.toml")], self.folder)

    # The parts

    def prepare(self, build):
        """Makes the registry with its devices, the topology and the simulator with one build."""
        run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
             self.path(f"AuthKey_{KEY_ID}.p8")], self.folder)
        os.chmod(self.path(f"AuthKey_{KEY_ID}.p8"), 0o600)
        self.configure(self.store.url)
        self.write("devices.ndjson", self.workload.registrations())
        self.apus(build, "device", "import", "devices.ndjson")
        self.apus(
            build, "subscription", "save", "cheap-songs", "--app", APP, "--user", LISTENER, "--type", "Song",
            "--predicate", PREDICATE, "--fires-on", "created", "--alert", "{artist}: {title} for {price}")
        self._write_script()
        self.simulator = Process("simulator", [
            build, "simulate", "--listen", f"127.0.0.1:{self._apns_port}", "--ca-out", self.path("simulator.pem"),
            "--key-file", self.path(f"AuthKey_{KEY_ID}.p8"), "--key-id", KEY_ID, "--team-id", TEAM_ID,
            "--topic", BUNDLE_ID, "--script", self.path("script.ndjson"), "--record", self.record_path,
        ], self.folder)
        wait_until(lambda: os.path.exists(self.path("simulator.pem")), 20, self.simulator, "listening")
        self.broker.wait()
        self.apus(build, "topology", "apply")

    def configure(self, registry):
        """Writes the configuration that all builds read."""
        self.write("apus.toml", CONFIGURATION.format(
            broker=self.broker.url, registry=registry, folder=self.folder, delays=json.dumps(RETRY_DELAYS),
            threshold=FAN_OUT_THRESHOLD_DEVICES, app=APP, bundle_id=BUNDLE_ID, pool=POOL, key_id=KEY_ID,
            team_id=TEAM_ID, apns_port=self._apns_port))

    def _write_script(self):
        """What the simulator answers to the tokens that were drawn for a fault."""
        lines = {
            "dead": {"answer": "unregistered", "since": int(time.time() * 1_000)},
            "throttled": {"answer": "throttle", "times": 3},
            "unavailable": {"answer": "status", "status": 503, "reason": "ServiceUnavailable", "times": 2},
            "failing": {"answer": "status", "status": 500, "reason": "InternalServerError", "times": 2},
        }
        self.write("script.ndjson", "".join(
            json.dumps({"token": device.token, **lines[device.fault]}) + "\n"
            for device in self.workload.devices if device.fault))

    def start_worker(self, name, build):
        """Starts a worker and waits until it is ready."""
        worker = Worker(f"worker-{next(self._numbers)}-{name}", build, self.folder)
        self.workers.append(worker)
        worker.wait_until_ready()
        return worker

    def end_worker(self, worker, kill=False):
        """Drains a worker, or kills it in the middle of its work."""
        if kill:
            worker.process.kill()
        else:
            worker.drain()
        self.workers.remove(worker)

    # The load

    def publish(self, rate, share=1.0):
        """Begins to publish the events that were not published yet, up to this share of all."""
        begin = sum(publisher.count for publisher in self._publishers)
        events = self.workload.events[begin:round(len(self.workload.events) * share)]
        publisher = Publisher(self.broker.url, "apus.changes", events, rate)
        publisher.count = len(events)
        self._publishers.append(publisher)
        publisher.start()

    @property
    def confirmed(self):
        """How many events RabbitMQ has confirmed."""
        return sum(publisher.confirmed for publisher in self._publishers)

    def wait_for_published(self, share):
        """Waits until this share of the events was confirmed."""
        wanted = round(len(self.workload.events) * share)
        deadline = time.monotonic() + SETTLE_SECONDS
        while self.confirmed < wanted:
            error = self._publishers[-1].error
            if error:
                raise DemoFailure(f"publishing failed: {error}\n{self.broker.node.log_tail()}")
            if time.monotonic() > deadline:
                raise DemoFailure(f"only {self.confirmed} of {wanted} events confirmed in time")
            self.check_processes()
            time.sleep(0.02)

    def settle(self):
        """Waits until all is published, every queue but the dead letters is empty, and nothing is in flight."""
        self.wait_for_published(sum(publisher.count for publisher in self._publishers) / len(self.workload.events))
        deadline = time.monotonic() + SETTLE_SECONDS
        looks = 0
        while looks < SETTLED_LOOKS:
            self.check_processes()
            waiting = sum(count for name, count in self.depths().items() if name != "apus.dead-letter")
            held = sum(
                scrape.total("apus_pushes_in_flight") + scrape.total("apus_unacknowledged_deliveries")
                for scrape in (worker.metrics() for worker in self.workers))
            looks = looks + 1 if waiting + held == 0 else 0
            if time.monotonic() > deadline:
                raise DemoFailure(f"not settled within {SETTLE_SECONDS} s: {self.depths()}")
            time.sleep(0.15)

    def depths(self):
        return self.broker.depths(
            ["apus.work", "apus.fanout", "apus.dead-letter"] + [f"apus.retry.{delay}" for delay in RETRY_DELAYS])

    def check_processes(self):
        for process in [worker.process for worker in self.workers] + [self.simulator, self.broker.node]:
            if not process.is_running:
                raise DemoFailure(f"{process.name} ended with status {process.status}\n{process.log_tail()}")

    # The verdict

    def judge(self):
        """Compares what was published with what the simulator accepted; duplicates are allowed, losses are not."""
        self.simulator.stop(20)
        record = Record(self.record_path)
        findings = Findings()
        findings.equal("events published and confirmed", len(self.workload.events), self.confirmed)
        check_dead_letters(
            findings, self.workload, Metrics(""), self.broker.message_ids("apus.dead-letter"), is_whole=False)
        check_deliveries(findings, self.workload, record, is_whole=False)
        return findings, record

    def close(self):
        """Ends whatever still runs."""
        for process in [worker.process for worker in self.workers] + [self.simulator]:
            if process:
                process.kill()
        self.broker.stop()


def integrity(path):
    """What SQLite says of a file: "ok", or what is wrong."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return "; ".join(row[0] for row in connection.execute("PRAGMA integrity_check"))
    finally:
        connection.close()
