"""The demo: brings up everything, publishes, waits until all is settled, and tells whether nothing was lost."""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request

from broker import Broker
from ledger import (
    Findings, Metrics, Record, check_campaigns, check_dead_letters, check_deliveries, check_outbox, check_outcomes,
    check_renewals, check_worker)
from outbox import Outbox
from processes import DemoFailure, Process, free_ports, run, wait_until
from publisher import Publisher
from workload import APP, BUNDLE_ID, LISTENER, POOL, PREDICATE, SOURCE, Workload

KEY_ID = "DEMO123456"
TEAM_ID = "DEMOTEAM01"
RETRY_DELAYS = ["200ms", "1s", "3s"]
SETTLE_SECONDS = 120
DRAIN_SECONDS = 60
# The settled state has to be seen this often in a row: a message between two queues is in neither for an instant.
SETTLED_LOOKS = 4

CONFIGURATION = """\
[rabbitmq]
url = "{url}"
[registry]
url = "sqlite:{folder}/registry.db"
[retry]
delays = {delays}
server_error_delay = "1s"
[log]
format = "json"
[admin]
listen = "127.0.0.1:{admin_port}"
[analytics]
enabled = true
[relay]
url = "{outbox}"
[outcomes]
patience = "5m"
[[app]]
name = "{app}"
bundle_id = "{bundle_id}"
identity_pools = ["{pool}"]
outcomes = ["all"]
[app.apns]
key_file = "{folder}/AuthKey_{key_id}.p8"
key_id = "{key_id}"
team_id = "{team_id}"
endpoint = "127.0.0.1:{apns_port}"
ca_file = "{folder}/simulator.pem"
[app.fcm]
service_account_file = "{folder}/account.json"
endpoint = "127.0.0.1:{fcm_port}"
ca_file = "{folder}/fcm.pem"
[app.adm]
{adm_client}
endpoint = "127.0.0.1:{adm_port}"
token_url = "https://127.0.0.1:{adm_port}/auth/O2/token"
ca_file = "{folder}/adm.pem"
[app.webpush]
key_file = "{folder}/vapid.pem"
subject = "mailto:demo@example.com"
[webpush]
trusted_hosts = ["localhost"]
ca_file = "{folder}/webpush.pem"
"""


ANALYTICS = "apus.outcomes.analytics"


class Demo:
    """One run, from an empty folder to the verdict."""

    def __init__(self, options, folder):
        self._options = options
        self._folder = folder
        self._command = os.path.abspath(options.command)
        self._workload = Workload(options.seed, options.scale)
        self._admin_port, self._apns_port, self._fcm_port, self._adm_port = free_ports(4)
        self._records = [self._path(f"{service}.ndjson") for service in ("apns", "fcm", "adm", "webpush")]
        self._broker = None
        self._outbox = None
        self._simulators = []
        self._worker = None
        self._counter = None
        self._workers_started = 0

    def run(self):
        """Does it all; the answer tells whether everything agrees."""
        self._prepare()
        publisher = self._publish()
        self._settle(publisher.confirmed)
        metrics = self._scrape()
        self._outbox.stop_relays(DRAIN_SECONDS)
        self._stop_worker()
        self._stop_simulators()
        self._count_campaigns()
        return self._judge(publisher, metrics)

    def close(self):
        """Ends whatever still runs."""
        for process in [self._worker, self._counter, *self._simulators]:
            if process:
                process.kill()
        if self._outbox:
            self._outbox.close()
        if self._broker:
            self._broker.stop()

    # The parts

    def _prepare(self):
        say("Starting a private RabbitMQ node")
        self._broker = Broker(self._folder)
        say("Starting a private PostgreSQL server with the tables of a backend and an outbox (apus relay sql)")
        self._outbox = self._make_outbox()
        self._outbox.prepare()
        self._make_keys()
        self._write_scripts()
        say("Starting simulators of APNs, FCM, ADM and browsers' push services")
        self._start_simulators()
        with open(self._path("client.toml"), encoding="utf-8") as file:
            client = file.read().strip()
        self._write("apus.toml", CONFIGURATION.format(
            url=self._broker.url, folder=self._folder, delays=json.dumps(RETRY_DELAYS), admin_port=self._admin_port,
            app=APP, bundle_id=BUNDLE_ID, pool=POOL, key_id=KEY_ID, team_id=TEAM_ID, apns_port=self._apns_port,
            fcm_port=self._fcm_port, adm_port=self._adm_port, adm_client=client,
            outbox=self._outbox.database.url("apus_relay")))
        self._register()
        self._subscribe()
        self._broker.wait()
        self._apus("topology", "apply")
        self._broker.bind_outcomes()
        say(f"Starting one worker, relays: {len(self._outbox.relays)}")
        self._start_worker()
        self._outbox.start_relays()

    def _make_outbox(self):
        return Outbox(
            self._folder, self._command, self._workload.customers, max(50, 300 * self._options.scale // 100), rate=200,
            relay_count=1)

    def _start_simulators(self):
        apns, fcm, adm, web_push = self._records
        workload = self._workload
        self._simulate(
            "apns", "simulate", "simulator.pem", "--listen", f"127.0.0.1:{self._apns_port}",
            "--key-file", self._path(f"AuthKey_{KEY_ID}.p8"), "--key-id", KEY_ID, "--team-id", TEAM_ID,
            "--topic", BUNDLE_ID, "--script", self._path("script.ndjson"), "--record", apns)
        self._simulate(
            "fcm", "simulate-fcm", "account.json", "--listen", f"127.0.0.1:{self._fcm_port}",
            "--ca-out", self._path("fcm.pem"), "--make-account", self._path("account.json"),
            "--script", self._path("androids.ndjson"), "--record", fcm)
        self._simulate(
            "adm", "simulate-adm", "client.toml", "--listen", f"127.0.0.1:{self._adm_port}",
            "--ca-out", self._path("adm.pem"), "--make-client", self._path("client.toml"),
            "--script", self._path("kindles.ndjson"), "--record", adm)
        self._simulate(
            "webpush", "simulate-webpush", "browsers.ndjson", "--ca-out", self._path("webpush.pem"), "--app", APP,
            "--key-file", self._path("vapid.pem"), "--devices", str(len(workload.browsers)),
            "--devices-out", self._path("browsers.ndjson"), "--record", web_push)

    def _simulate(self, name, command, file, *arguments):
        """Starts a simulator, and waits for the file that it writes last."""
        if command == "simulate":
            arguments += ("--ca-out", self._path(file))
        process = Process(f"simulator-{name}", [self._command, command, *arguments], self._folder)
        self._simulators.append(process)
        wait_until(lambda: os.path.exists(self._path(file)), 20, process, "listening")

    def _register(self):
        workload = self._workload
        devices = workload.devices + workload.androids + workload.kindles
        say(f"Registering {len(workload.devices)} iPhones of {len(workload.identities)} identities, "
            f"{len(workload.androids)} Androids, {len(workload.kindles)} Kindles and {len(workload.browsers)} browsers")
        self._write("devices.ndjson", "".join(json.dumps(device.registration()) + "\n" for device in devices))
        self._apus("device", "import", "devices.ndjson")
        self._apus("device", "import", "browsers.ndjson")

    def _registered_tokens(self):
        """The token of each device in the registry."""
        lines = self._apus("device", "list", "--json", "--show-token").splitlines()
        return {device["deviceId"]: device.get("token") for device in map(json.loads, lines)}

    def _subscribe(self):
        """A user subscribes to records by a condition, which is tried on a record first."""
        say(f"Subscribing the user {LISTENER} to songs where {PREDICATE}")
        self._apus(
            "subscription", "save", "cheap-songs", "--app", APP, "--user", LISTENER, "--type", "Song", "--predicate",
            PREDICATE, "--fires-on", "created", "--alert", "{artist}: {title} for {price}")
        self._write("song.json", json.dumps({"artist": "mei chen", "price": 12, "title": "Dear"}))
        print(self._apus(
            "subscription", "test", "cheap-songs", "--app", APP, "--user", LISTENER, "--record", "song.json"),
            flush=True)

    def _make_keys(self):
        for name in (f"AuthKey_{KEY_ID}.p8", "vapid.pem"):
            run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                 self._path(name)], self._folder)
            os.chmod(self._path(name), 0o600)

    def _write_scripts(self):
        """What the simulators answer to the tokens that were drawn for a fault."""
        now = int(time.time() * 1_000)
        lines = {
            "dead": {"answer": "unregistered", "since": now},
            "throttled": {"answer": "throttle", "times": 1},
            "unavailable": {"answer": "status", "status": 503, "reason": "ServiceUnavailable", "times": 1},
            "failing": {"answer": "status", "status": 500, "reason": "InternalServerError", "times": 1},
        }
        self._write("script.ndjson", "".join(
            json.dumps({"token": device.token, **lines[device.fault]}) + "\n"
            for device in self._workload.devices if device.fault))
        lines = {"dead": {"answer": "unregistered"}, "unavailable": {"answer": "unavailable", "times": 1}}
        self._write("androids.ndjson", "".join(
            json.dumps({"token": android.token, **lines[android.fault]}) + "\n"
            for android in self._workload.androids if android.fault))
        lines = {
            "dead": {"answer": "unregistered"},
            "throttled": {"answer": "throttled", "retry_after": 1, "times": 1},
            "renewed": {"answer": "replaced"},
        }
        self._write("kindles.ndjson", "".join(
            json.dumps({
                "registration": kindle.token, **lines[kindle.fault],
                **({"successor": kindle.successor} if kindle.successor else {}),
            }) + "\n"
            for kindle in self._workload.kindles if kindle.fault))

    def _start_worker(self):
        self._workers_started += 1
        self._worker = Process(
            f"worker-{self._workers_started}", [self._command, "run", "--config", self._path("apus.toml")],
            self._folder)
        wait_until(lambda: self._get("/readyz")[0] == 200, 30, self._worker, "ready")

    # The load

    def _publish(self):
        events = self._workload.events
        say(f"Publishing {len(events)} events through pika, with publisher confirms, and "
            f"{self._outbox.order_count} more by transactions of pgbench")
        publisher = Publisher(self._broker.url, "apus.changes", events, self._options.rate)
        publisher.start()
        must_kill = self._options.kill_worker
        last_line = 0
        while not self._outbox.load() or not publisher.is_done:
            if publisher.error:
                raise DemoFailure(f"publishing failed: {publisher.error}\n{self._broker.node.log_tail()}")
            if must_kill and self._accepted() > len(events) // 5:
                must_kill = False
                self._kill_worker()
            self._check_processes()
            if time.monotonic() - last_line > 1:
                last_line = time.monotonic()
                self._progress(publisher.confirmed)
            time.sleep(0.02)
        publisher.join()
        while must_kill and self._accepted() <= len(events) // 5:
            self._check_processes()
            time.sleep(0.01)
        if must_kill:
            self._kill_worker()
        say(f"RabbitMQ confirmed {publisher.confirmed} events in {publisher.ended - publisher.started:.1f} s")
        return publisher

    def _kill_worker(self):
        say("Killing the worker in the middle of its work (SIGKILL) and starting another")
        self._worker.kill()
        self._start_worker()

    def _settle(self, published):
        """Waits until every queue but the dead letters is empty and nothing is in flight."""
        say("Waiting until every row has left the outbox, and every push has ended")
        wait_until(
            lambda: self._outbox.left_count() == 0, SETTLE_SECONDS, self._outbox.relays[0], "emptying the outbox")
        deadline = time.monotonic() + SETTLE_SECONDS
        looks = 0
        last_line = 0
        while looks < SETTLED_LOOKS:
            self._check_processes()
            waiting = self._waiting()
            metrics = self._scrape()
            held = metrics.total("apus_pushes_in_flight") + metrics.total("apus_deliveries_unacknowledged")
            is_settled = waiting == 0 and held == 0
            looks = looks + 1 if is_settled else 0
            if time.monotonic() - last_line > 1:
                last_line = time.monotonic()
                self._progress(published)
            if time.monotonic() > deadline:
                raise DemoFailure(
                    f"not settled within {SETTLE_SECONDS} s: {self._depths()}\n{self._worker.log_tail()}")
            time.sleep(0.15)

    def _stop_worker(self):
        say("Stopping the worker (SIGTERM): it drains")
        status = self._worker.stop(DRAIN_SECONDS)
        if status != 0:
            raise DemoFailure(f"the worker ended with status {status} instead of 0\n{self._worker.log_tail()}")

    def _stop_simulators(self):
        for simulator in self._simulators:
            simulator.stop(20)

    def _count_campaigns(self):
        """Has all outcomes counted in the registry, which an operator would do beside the workers."""
        say("Counting campaigns (apus analytics)")
        while self._broker.depths([ANALYTICS])[ANALYTICS] > 0:
            self._counter = Process(
                "analytics", [self._command, "analytics", "--config", self._path("apus.toml")], self._folder)
            # What it has taken and not counted when it ends goes back to the queue.
            wait_until(
                lambda: self._broker.depths([ANALYTICS])[ANALYTICS] == 0, SETTLE_SECONDS, self._counter, "empty queue")
            status = self._counter.stop(DRAIN_SECONDS)
            if status != 0:
                raise DemoFailure(f"apus analytics ended with status {status}\n{self._counter.log_tail()}")

    # The verdict

    def _judge(self, publisher, metrics):
        record = Record(*self._records, self._workload.token_of_successor)
        is_whole = self._workers_started == 1
        findings = Findings()
        findings.heading("Events")
        findings.equal("published and confirmed", len(self._workload.events), publisher.confirmed)
        if is_whole:
            outcomes = metrics.by("apus_events_total", "outcome")
            findings.note("taken up by the worker, retries included", sum(outcomes.values()))
            for outcome, count in sorted(outcomes.items()):
                findings.note(f"  {outcome}", count)
        findings.equal("left in the queues, dead letters apart", 0, self._waiting())
        dead_letters = self._broker.message_ids("apus.dead-letter")
        check_dead_letters(findings, self._workload, metrics, dead_letters, is_whole)
        check_worker(findings, self._workload, metrics, record, is_whole)
        committed = self._outbox.committed()
        self._workload.requested |= committed
        check_deliveries(findings, self._workload, record, is_whole)
        check_outbox(findings, committed, record, self._outbox.left_count(), self._outbox.refused_count())
        outcomes = self._broker.take_outcomes()
        check_outcomes(findings, metrics, outcomes, is_whole)
        campaigns = self._apus("campaign", "list", "--limit", "100000", "--json")
        # The function push of an outbox names no campaign.
        check_campaigns(
            findings, [json.loads(line) for line in campaigns.splitlines()],
            [outcome for outcome in outcomes if outcome["event"]["source"] == SOURCE])
        check_renewals(findings, self._workload, record, self._registered_tokens())
        if is_whole:
            self._check_last_word(findings, metrics)
        print("\nLedger")
        findings.print()
        self._print_speed(publisher, record)
        return findings.agrees

    def _check_last_word(self, findings, metrics):
        """The line that the worker logs when it ends has to say what /metrics said."""
        lines = [json.loads(line) for line in self._worker.log().splitlines() if line.startswith("{")]
        ledgers = [line for line in lines if line.get("event") == "ledger"]
        findings.heading("The worker's last word")
        findings.equal("ledger lines in its log, one for each push service", 4, len(ledgers))
        if ledgers:
            findings.equal(
                "accepted, as in /metrics", metrics.by("apus_pushes_total", "outcome")["accepted"],
                sum(ledger.get("accepted", 0) for ledger in ledgers))

    def _print_speed(self, publisher, record):
        delays = sorted(self._delays(publisher, record))
        print(f"\n  {record.rate():,.0f} pushes a second over the middle nine tenths of the load")
        if delays:
            middle, late = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
            print(f"  publish to push: p50 {middle:.0f} ms, p99 {late:.0f} ms ({len(delays)} pushes)")

    def _delays(self, publisher, record):
        """From pika's publish to the simulator's first sight of the push, by one wall clock."""
        for key, seen in record.first_seen.items():
            if len(key) == 2:
                index = self._workload.index_of_request.get(key[1])
            else:
                index = self._workload.index_of_change.get(key[1:])
            if index is not None:
                yield max(0.0, seen - publisher.published_at[index])

    # Small help

    def _progress(self, published):
        depths = self._depths()
        retry = sum(count for name, count in depths.items() if ".retry." in name)
        print(
            f"  published {published:>6}   pushed {self._accepted():>6}   work queue {depths['apus.work']:>6}"
            f"   retry {retry:>4}   dead letters {depths['apus.dead-letter']:>3}", flush=True)

    def _depths(self):
        return self._broker.depths(
            ["apus.work", "apus.fanout", "apus.dead-letter"] + [f"apus.retry.{delay}" for delay in RETRY_DELAYS])

    def _waiting(self):
        return sum(count for name, count in self._depths().items() if name != "apus.dead-letter")

    def _accepted(self):
        """How many pushes the worker that runs now has seen accepted; 0 if it cannot be asked."""
        status, text = self._get("/metrics")
        return Metrics(text).total("apus_pushes_total", outcome="accepted") if status == 200 else 0

    def _scrape(self):
        status, text = self._get("/metrics")
        if status != 200:
            raise DemoFailure(f"/metrics answered {status}\n{self._worker.log_tail()}")
        return Metrics(text)

    def _get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._admin_port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""
        except OSError:
            return 0, ""

    def _check_processes(self):
        for process in [
                self._worker, *self._simulators, self._broker.node, *self._outbox.relays, self._outbox.database.process]:
            if not process.is_running:
                raise DemoFailure(f"{process.name} ended with status {process.status}\n{process.log_tail()}")

    def _apus(self, *arguments):
        return run([self._command, *arguments, "--config", self._path("apus.toml")], self._folder)

    def _write(self, name, text):
        with open(self._path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def _path(self, name):
        return os.path.join(self._folder, name)


class OutboxDemo(Demo):
    """Transactions of a backend alone, while each part between their commits and the pushes is killed."""

    ORDERS = 20_000
    RATE = 500

    def __init__(self, options, folder):
        super().__init__(options, folder)
        self._workload.forget_events()

    def run(self):
        self._prepare()
        self._load()
        self._settle(self._outbox.committed_count())
        metrics = self._scrape()
        self._outbox.stop_relays(DRAIN_SECONDS)
        self._stop_worker()
        self._stop_simulators()
        return self._judge_outbox(metrics)

    def _make_outbox(self):
        return Outbox(
            self._folder, self._command, self._workload.customers, max(500, self.ORDERS * self._options.scale // 100),
            self._options.rate or self.RATE, relay_count=2)

    def _load(self):
        outbox = self._outbox
        say(f"Committing {outbox.order_count} orders by transactions of pgbench, each with a push; some are rolled back")
        strikes = [self._kill_relay, self._kill_worker, self._kill_broker, self._kill_database, self._kill_relay]
        step = outbox.order_count // (len(strikes) + 1)
        next_strike = step
        is_over = False
        while strikes or not is_over:
            is_over = outbox.load()
            committed = outbox.committed_count()
            self._check_processes()
            self._progress(committed)
            if strikes and (is_over or committed >= next_strike):
                strikes.pop(0)()
                next_strike += step
            time.sleep(0.5)

    def _kill_relay(self):
        say("Killing a relay (SIGKILL) and starting another")
        self._outbox.relays[0].kill()
        self._outbox.start_relay(0)
        self._outbox.relays.reverse()

    def _kill_broker(self):
        say("Killing RabbitMQ (SIGKILL) and starting it again")
        self._broker.kill()
        self._broker.start()
        self._broker.wait()

    def _kill_database(self):
        say("Killing PostgreSQL (SIGKILL) and starting it again")
        self._outbox.kill_database()
        self._outbox.database.start()

    def _judge_outbox(self, metrics):
        committed = self._outbox.committed()
        record = Record(*self._records, self._workload.token_of_successor)
        told = {(message["event"]["source"], message["event"]["id"]) for message in self._broker.take_outcomes()}
        findings = Findings()
        check_outbox(findings, committed, record, self._outbox.left_count(), self._outbox.refused_count())
        findings.equal("events that the backend was told of", len(committed), len(told))
        findings.equal("left in the queues, dead letters apart", 0, self._waiting())
        findings.equal("dead letters", 0, len(self._broker.message_ids("apus.dead-letter")))
        check_worker(findings, self._workload, metrics, record, False)
        print("\nLedger")
        findings.print()
        return findings.agrees


def say(text):
    print(text, flush=True)


def parse_options():
    parser = argparse.ArgumentParser(prog="deploy/bin/demo")
    parser.add_argument("--command", required=True)
    parser.add_argument("--kill-worker", action="store_true")
    parser.add_argument("--outbox", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=int, default=100)
    return parser.parse_args()


def main():
    options = parse_options()
    # An interrupt, a hang-up and a termination unwind the stack like any failure, so that nothing keeps running.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    folder = tempfile.mkdtemp(prefix="apus-demo-")
    started = time.monotonic()
    demo = (OutboxDemo if options.outbox else Demo)(options, folder)
    status = 1
    try:
        agrees = demo.run()
        seconds = time.monotonic() - started
        verdict = "Everything agrees, nothing was lost" if agrees else "The ledger does not agree: see WRONG above"
        say(f"\n{verdict} ({seconds:.0f} s)")
        status = 0 if agrees else 1
    except DemoFailure as failure:
        say(f"\nThe demo failed: {failure}")
    except KeyboardInterrupt:
        status = 130
    finally:
        demo.close()
        if options.keep or status == 1:
            say(f"Configuration, logs and the simulators' records are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
