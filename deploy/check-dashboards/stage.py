"""Everything that the dashboards show, on real parts: servers, simulators of APNs, a worker, the registry's API."""

import json
import os
import random
import signal
import socket
import threading
import time
import urllib.error
import urllib.request

import pika
import pika.exceptions

from broker import Broker
from processes import Process, free_ports, run, wait_until
from store import PostgreSQLStore, find_programs

KEY_ID = "CHECK12345"
TEAM_ID = "CHECKTEAM1"
APPS = ("chat", "mail")
CHAT_DEVICES = 3_000
MAIL_DEVICES = 200
# A load that is interrupted again before is an error.
RECONNECT_SECONDS = 5
RETRY_DELAYS = ["1s", "3s", "10s"]

CONFIGURATION = """\
[rabbitmq]
url = "{url}"
management_url = "{management_url}"
[registry]
url = "sqlite:{folder}/registry.db"
[retry]
delays = {delays}
server_error_delay = "1s"
[log]
format = "json"
[admin]
listen = "127.0.0.1:{admin_port}"
[outcomes]
patience = "0ms"
"""
APP = """
[[app]]
name = "{app}"
bundle_id = "com.example.{app}"
{outcomes}
[app.apns]
key_file = "{folder}/AuthKey_{key_id}.p8"
key_id = "{key_id}"
team_id = "{team_id}"
endpoint = "127.0.0.1:{port}"
ca_file = "{folder}/{app}.pem"
connections = 1
connections_max = {connections}
"""
# A backend that wants to hear of its pushes, and nobody listens at its webhook.
TOLD = 'outcomes = ["accepted"]'
WEBHOOK = """
[app.webhook]
url = "http://127.0.0.1:1/outcomes"
secret = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
"""


class Simulator:
    """APNs for one app, with a port that takes faults while it runs."""

    def __init__(self, app, command, folder, port):
        self.record = os.path.join(folder, f"{app}.ndjson")
        (self._control,) = free_ports(1)
        certificate = os.path.join(folder, f"{app}.pem")
        self.process = Process(f"apns-{app}", [
            command, "simulate", "--listen", f"127.0.0.1:{port}", "--ca-out", certificate,
            "--key-file", os.path.join(folder, f"AuthKey_{KEY_ID}.p8"), "--key-id", KEY_ID, "--team-id", TEAM_ID,
            "--control", str(self._control), "--record", self.record,
            # So slow that one connection can be too few.
            *(["--max-streams", "20", "--latency", "20"] if app == "mail" else [])], folder)
        wait_until(lambda: os.path.exists(certificate), 20, self.process, "listening")

    def inject(self, **fault):
        """Injects a fault, for example `fault="answer", status=403`; `clear=True` ends all."""
        with socket.create_connection(("127.0.0.1", self._control), timeout=5) as control:
            control.sendall((json.dumps(fault) + "\n").encode())
            control.shutdown(socket.SHUT_WR)
            answer = control.makefile().read()
        if "error" in answer:
            raise RuntimeError(f"the simulator refused {fault}: {answer}")

    def apns_ids(self):
        """The identifiers of all recorded pushes."""
        with open(self.record, encoding="utf-8") as file:
            return {json.loads(line)["apns_id"] for line in file if line.endswith("\n")}


class Stage:
    """The parts, from an empty folder; `close` ends all of them."""

    def __init__(self, command, folder):
        self._command = command
        self.folder = folder
        self.admin_port, self.api_admin_port, self.api_port, *self._apns_ports = free_ports(5)
        self.broker = None
        self._outbox = None
        self.simulators = {}
        self.worker = None
        self.api = None
        self.load = None
        self._workers_started = 0

    def start(self):
        """Starts everything, and the load."""
        self.broker = Broker(self.folder, with_management=True)
        run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
             self.path(f"AuthKey_{KEY_ID}.p8")], self.folder)
        os.chmod(self.path(f"AuthKey_{KEY_ID}.p8"), 0o600)
        self.configure()
        devices = [self._device("chat", number) for number in range(CHAT_DEVICES)]
        devices += [self._device("mail", number) for number in range(MAIL_DEVICES)]
        with open(self.path("devices.ndjson"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(device) + "\n" for device in devices)
        self.apus("device", "import", "devices.ndjson")
        self.apus("subscription", "save", "songs", "--app", "chat", "--user", "chat-1", "--type", "Song",
                  "--predicate", "price <= 20", "--alert", "{title}")
        token = self.apus("registry", "token", "add", "check", "--permission", "write").strip()
        for app, port in zip(APPS, self._apns_ports):
            self.simulators[app] = Simulator(app, self._command, self.folder, port)
        self.broker.wait()
        self.apus("topology", "apply")
        self.start_worker()
        self.api = Process("api", [
            self._command, "registry", "--config", self.path("apus.toml"),
            "--set", f"registry.listen=127.0.0.1:{self.api_port}",
            "--set", f"admin.listen=127.0.0.1:{self.api_admin_port}"], self.folder)
        wait_until(lambda: get(self.api_admin_port, "/readyz")[0] == 200, 30, self.api, "ready")
        self.load = Load(self.broker, self.api_port, token)
        self.load.start()

    def close(self):
        """Ends whatever runs."""
        if self.load:
            self.load.stop()
        for process in [self.worker, self.api] + [simulator.process for simulator in self.simulators.values()]:
            if process:
                process.kill()
        if self.broker:
            self.broker.stop()
        if self._outbox:
            self._outbox.close()

    def configure(self, more=""):
        """Writes the configuration, with further lines at its end."""
        text = CONFIGURATION.format(
            url=self.broker.url, management_url=self.broker.management_url, folder=self.folder,
            delays=json.dumps(RETRY_DELAYS), admin_port=self.admin_port)
        for app, port, connections in zip(APPS, self._apns_ports, (4, 1)):
            text += APP.format(
                app=app, folder=self.folder, key_id=KEY_ID, team_id=TEAM_ID, port=port, connections=connections,
                outcomes=TOLD if app == "mail" else "")
            text += WEBHOOK if app == "mail" else ""
        with open(self.path("apus.toml"), "w", encoding="utf-8") as file:
            file.write(text + more)

    def start_worker(self):
        """Starts a worker, and waits until it is ready."""
        self._workers_started += 1
        self.worker = Process(
            f"worker-{self._workers_started}", [self._command, "run", "--config", self.path("apus.toml")], self.folder)
        wait_until(lambda: get(self.admin_port, "/readyz")[0] == 200, 30, self.worker, "ready")

    def start_webhooks(self, port):
        """Starts `apus webhooks`, whose metrics are at a port."""
        return Process("webhooks", [
            self._command, "webhooks", "--config", self.path("apus.toml"), "--listen", f"127.0.0.1:{port}"],
            self.folder)

    def start_relay(self, port, *settings):
        """Starts `apus relay`, whose metrics are at a port, after an outbox for it."""
        if not self._outbox:
            self._outbox = PostgreSQLStore()
            self.write_rows(run([self._command, "relay", "sql"], self.folder))
        options = [word for setting in (f"relay.url={self._outbox.url}", *settings) for word in ("--set", setting)]
        return Process("relay", [
            self._command, "relay", "--config", self.path("apus.toml"), "--listen", f"127.0.0.1:{port}", *options],
            self.folder)

    def write_rows(self, sql):
        """Runs SQL as a backend whose transaction has an event."""
        run([f"{find_programs()}/psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--command", sql, self._outbox.url],
            self.folder)

    def restart_worker(self):
        """Drains the worker, and starts another."""
        self.worker.stop(40)
        self.start_worker()

    def hang_up(self):
        """Tells the worker to reload."""
        os.kill(self.worker.pid, signal.SIGHUP)

    def apus(self, *arguments):
        """Runs a command, and returns what it printed."""
        return run([self._command, *arguments, "--config", self.path("apus.toml")], self.folder)

    def path(self, name):
        """The path of a file of this run."""
        return os.path.join(self.folder, name)

    @staticmethod
    def _device(app, number):
        return {
            "deviceId": f"{app}-{number}", "platform": "APNS", "token": random.Random(f"{app}{number}").randbytes(32).hex(),
            "app": app, "userId": f"{app}-{number % 1_000}", "topics": ["news"] if app == "chat" else []}


class Load(threading.Thread):
    """Publishes events of every kind and calls the API, at a steady rate, until it is stopped."""

    def __init__(self, broker, api_port, token):
        super().__init__(name="load", daemon=True)
        self._broker = broker
        self._api_port = api_port
        self._token = token
        self._ends = threading.Event()
        self._number = 0
        self._ticks = 0
        self.error = None
        # Events a second of the app "mail".
        self.mail_rate = 10

    def stop(self):
        """Ends it, and waits."""
        self._ends.set()
        self.join(10)

    def run(self):
        ended = None
        try:
            while not self._ends.is_set():
                try:
                    self._publish_until_closed()
                except pika.exceptions.AMQPError:
                    # RabbitMQ closes a channel that publishes while queues are deleted and made, once or twice.
                    if ended and time.monotonic() < ended + RECONNECT_SECONDS:
                        raise
                    ended = time.monotonic()
        except Exception as error:  # the main thread tells it
            self.error = error

    def _publish_until_closed(self):
        connection = self._broker.connect()
        try:
            channel = connection.channel()
            began = time.monotonic() - self._ticks * 0.1
            while not self._ends.wait(max(0, began + self._ticks * 0.1 - time.monotonic())):
                self._tick(channel, self._ticks)
                connection.process_data_events(0)
                self._ticks += 1
        finally:
            if connection.is_open:
                connection.close()

    def _tick(self, channel, ticks):
        for number in range(6):
            self._push(channel, "chat", {"userIds": [f"chat-{(self._number + number) % 1_000}"]})
        for number in range(self.mail_rate // 10):
            self._push(channel, "mail", {"userIds": [f"mail-{self._number % MAIL_DEVICES}"]})
        self._push(channel, "chat", {"userIds": ["nobody"]})
        self._publish(channel, "record.created", {
            "app": "chat", "recordType": "Song", "recordName": f"song-{self._number}",
            "fields": {"title": "Rain", "price": 12}})
        if ticks % 150 == 10:
            self._push(channel, "chat", {"topic": "news"})
        if ticks % 5 == 0:
            self._call_api()

    def _push(self, channel, app, target):
        self._publish(channel, "push.requested", {
            "app": app, **target, "notification": {"title": "Mei Chen", "body": "Are you there?"}})

    def _publish(self, channel, kind, data):
        self._number += 1
        event = {
            "specversion": "1.0", "id": f"check-{self._number}", "source": "/check", "type": f"com.example.{kind}",
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "data": data}
        publish(channel, json.dumps(event))

    def _call_api(self):
        device = {"app": "chat", "platform": "APNS", "token": random.randbytes(32).hex(), "userId": "someone"}
        for method, path, body, token in (
                ("PUT", "/v1/devices/of-the-api", device, self._token),
                ("GET", "/v1/devices?userId=someone", None, self._token), ("GET", "/v1/devices", None, "wrong")):
            request = urllib.request.Request(
                f"http://127.0.0.1:{self._api_port}{path}", method=method,
                data=json.dumps(body).encode() if body else None,
                headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
            try:
                urllib.request.urlopen(request, timeout=3).read()
            except OSError:
                # Refusals and failures are what the dashboards show.
                pass


def publish(channel, body):
    """Publishes an event persistently."""
    properties = pika.BasicProperties(content_type="application/cloudevents+json", delivery_mode=2)
    channel.basic_publish("apus.changes", "check", body, properties)


def get(port, path):
    """The status and the body of an answer; status 0 if there is none."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""
    except OSError:
        return 0, ""
