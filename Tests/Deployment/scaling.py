"""Holds the arithmetic of KEDA's RabbitMQ scaler against a real node: before, in and after a load, and without statistics.

usage: scaling.py --command APUS --scaled-object FILE

KEDA itself cannot run here. Its scaler's figures are read as the scaler reads them (KEDA 2.21,
pkg/scalers/rabbitmq_scaler.go): by AMQP, the ready messages of a passive declare; by HTTP, the field `messages` of
/api/queues/VHOST/NAME, or messages_ready with excludeUnacknowledged. From these the number of workers follows as the
autoscaler computes it: ceil(metric / value) for each trigger, the largest, between the least and the most.
"""

import argparse
import base64
import json
import math
import os
import sys
import tempfile
import time
import urllib.request

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../deploy/demo"))

from broker import Broker  # noqa: E402
from processes import DemoFailure, Process, free_ports, run, wait_until  # noqa: E402

EVENTS = 12_000
PREFETCH = 1_000
# RabbitMQ collects statistics every five seconds.
STATISTICS_SECONDS = 30
CONFIGURATION = """\
[rabbitmq]
url = "{url}"
prefetch = {prefetch}
[log]
format = "json"
[admin]
listen = "127.0.0.1:{admin_port}"
[[app]]
name = "chat"
bundle_id = "com.example.chat"
[app.apns]
key_file = "key.p8"
key_id = "ABC123DEFG"
team_id = "DEF123GHIJ"
endpoint = "127.0.0.1:{apns_port}"
ca_file = "ca.pem"
"""


class Scaler:
    """KEDA's view of the triggers of a ScaledObject."""

    def __init__(self, broker, management_port, scaled_object):
        self._broker = broker
        self._management_port = management_port
        self._triggers = [trigger["metadata"] for trigger in scaled_object["spec"]["triggers"]]
        self._least = scaled_object["spec"]["minReplicaCount"]
        self._most = scaled_object["spec"]["maxReplicaCount"]

    def ready(self, queue):
        """protocol: amqp"""
        return self._broker.depths([queue])[queue]

    def messages(self, queue):
        """protocol: http, without and with excludeUnacknowledged. A missing field of JSON is a 0 in Go."""
        request = urllib.request.Request(f"http://127.0.0.1:{self._management_port}/api/queues/%2F/{queue}")
        request.add_header("Authorization", "Basic " + base64.b64encode(b"guest:guest").decode())
        with urllib.request.urlopen(request, timeout=10) as answer:
            fields = json.load(answer)
        return fields.get("messages", 0), fields.get("messages_ready", 0)

    def replicas(self, metrics):
        """The number of workers for one metric of each trigger."""
        wanted = max(math.ceil(metric / float(trigger["value"]))
                     for metric, trigger in zip(metrics, self._triggers, strict=True))
        return min(max(wanted, self._least), self._most)

    def read(self):
        """What each way of asking says of the first queue, and the number of workers that follows."""
        queues = [trigger["queueName"] for trigger in self._triggers]
        ready = [self.ready(queue) for queue in queues]
        both = [self.messages(queue) for queue in queues]
        return {
            "amqp": (ready[0], self.replicas(ready)),
            "http": (both[0][0], self.replicas([total for total, _ in both])),
            "excluding": (both[0][1], self.replicas([rest for _, rest in both])),
        }


class Trial:
    """A node with its management API, a simulator, workers, and what is read of them."""

    def __init__(self, command, folder, scaled_object):
        self._command = command
        self._folder = folder
        self._scaled_object = scaled_object
        self._processes = []
        self._broker = None
        self._rows = []
        self._failures = []

    def run(self):
        self._start()
        self._expect("before the load", (0, 2), (0, 2), (0, 2))
        self._publish()
        # No worker runs, so that all is ready.
        self._expect("12 000 events wait", (EVENTS, 3), (EVENTS, 3), (EVENTS, 3))
        # APNs does not answer, so the worker keeps all that it was given.
        simulator, worker = self._simulate("--script", "script"), self._start_worker()
        rest = EVENTS - PREFETCH
        self._expect("a worker holds 1 000 of them", (rest, 3), (EVENTS, 3), (rest, 3))
        for process in (worker, simulator):
            process.kill()
        self._broker.kill()
        self._broker.start(self._management + "management_agent.disable_metrics_collector = true\n")
        self._broker.wait()
        self._expect("without statistics", (EVENTS, 3), (0, 2), (0, 2), stays=True)
        self._broker.kill()
        self._broker.start(self._management)
        self._broker.wait()
        self._expect("with statistics again", (EVENTS, 3), (EVENTS, 3), (EVENTS, 3))
        simulator, worker = self._simulate(), self._start_worker()
        self._expect("after the load", (0, 2), (0, 2), (0, 2))
        status = worker.stop(60)
        if status != 0:
            self._failures.append(f"the worker ended with status {status}\n{worker.log_tail()}")
        simulator.stop(20)
        self._report()
        return not self._failures

    def close(self):
        """Ends whatever still runs."""
        for process in self._processes:
            process.kill()
        if self._broker:
            self._broker.stop()

    def _start(self):
        management_port, self._admin_port, self._apns_port = free_ports(3)
        self._management = f"management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {management_port}\n"
        self._broker = Broker(self._folder, ["rabbitmq_management"], self._management)
        self._scaler = Scaler(self._broker, management_port, self._scaled_object)
        self._write("apus.toml", CONFIGURATION.format(
            url=self._broker.url, prefetch=PREFETCH, admin_port=self._admin_port, apns_port=self._apns_port))
        self._write("script", '{"token":"","answer":"silent"}\n')
        self._apus("device", "add", "--app", "chat", "--user", "mei", "--token", "00fc13ad" * 8)
        self._broker.wait()
        self._apus("topology", "apply")

    def _publish(self):
        event = {"specversion": "1.0", "source": "/scaling", "type": "com.example.push.requested",
                 "data": {"app": "chat", "userIds": ["mei"], "notification": {"body": "hello"}}}
        self._write("events", "".join(json.dumps({**event, "id": str(number)}) + "\n" for number in range(EVENTS)))
        self._apus("publish", "--file", "events")

    def _simulate(self, *arguments):
        os.path.exists(self._path("ca.pem")) and os.unlink(self._path("ca.pem"))
        os.path.exists(self._path("key.p8")) and os.unlink(self._path("key.p8"))
        simulator = self._process("simulator", "simulate", "--listen", f"127.0.0.1:{self._apns_port}", "--make-key", "key.p8",
                                  "--ca-out", "ca.pem", *arguments)
        wait_until(lambda: os.path.exists(self._path("ca.pem")), 30, simulator, "listening")
        return simulator

    def _start_worker(self):
        return self._process("worker", "run")

    def _process(self, name, *arguments):
        process = Process(f"{name}-{len(self._processes)}", [self._command, *arguments], self._folder)
        self._processes.append(process)
        return process

    def _expect(self, what, amqp, http, excluding, stays=False):
        """Waits until all three ways of asking say so; statistics are seconds old."""
        print(f"scaling: {what}", flush=True)
        wanted = {"amqp": amqp, "http": http, "excluding": excluding}
        deadline = time.monotonic() + STATISTICS_SECONDS * (4 if what == "after the load" else 1)
        found = self._scaler.read()
        while found != wanted and time.monotonic() < deadline:
            time.sleep(0.5)
            found = self._scaler.read()
        # A statistic that is only late would come now.
        end = time.monotonic() + 12
        while stays and found == wanted and time.monotonic() < end:
            time.sleep(0.5)
            found = self._scaler.read()
        self._rows.append((what, found))
        if found != wanted:
            self._failures.append(f"{what}: {found}, and should be {wanted}")

    def _report(self):
        print(f"{'scaling:':<36}{'amqp, ready':>20}{'http, messages':>20}{'http, messages_ready':>24}")
        for what, found in self._rows:
            texts = [f"{metric} -> {replicas}" for metric, replicas in found.values()]
            print(f"  {what:<34}{texts[0]:>20}{texts[1]:>20}{texts[2]:>24}")
        for failure in self._failures:
            print(f"scaling: WRONG {failure}")

    def _apus(self, *arguments):
        return run([self._command, *arguments], self._folder)

    def _path(self, name):
        return os.path.join(self._folder, name)

    def _write(self, name, text):
        with open(self._path(name), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--scaled-object", required=True)
    options = parser.parse_args()
    with open(options.scaled_object, encoding="utf-8") as file:
        scaled_object = next(entry for entry in yaml.safe_load_all(file) if entry["kind"] == "ScaledObject")
    with tempfile.TemporaryDirectory(prefix="apus-scaling-") as folder:
        trial = Trial(os.path.abspath(options.command), folder, scaled_object)
        try:
            return 0 if trial.run() else 1
        except DemoFailure as failure:
            print(f"scaling: {failure}")
            return 1
        finally:
            trial.close()


if __name__ == "__main__":
    sys.exit(main())
