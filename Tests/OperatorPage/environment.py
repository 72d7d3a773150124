"""What the page is tried on: a private broker, the APNs simulator, a registry with devices, and two workers."""

import contextlib
import datetime
import json
import os
import secrets
import sqlite3
import subprocess
import time
import urllib.request

import pika

from broker import Broker
from processes import DemoFailure, Process, free_ports, run, wait_until

KEY_ID = "PAGE123456"
TEAM_ID = "PAGETEAM01"
POOL = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
# A name from outside that would run a script if it became markup.
HOSTILE = '"><img src=x onerror=alert(1)>'
# The name by which a browser reaches a worker on plain http, as in an operator's network.
NAME = "apus.internal"
# The path before which nginx puts its own.
PREFIX = "/ops/push"
# Tokens that begin so are answered slowly, so that a fan-out to them can be seen and cancelled.
SLOW = "5107"
# How many pushes are throttled once, so that there are retries to see.
THROTTLED_SHARE = 0.03
AUDIENCE_COUNT, SLOW_MILLISECONDS = 8_000, 2_500
PEOPLE_COUNT = 200
# A campaign of some days, as it is in the registry: days and hours ago it was busy, on two platforms.
CAMPAIGN = "spring sale"
BUSY_HOURS_AGO = [72, 71, 70, 48, 26, 25, 24, 3, 2, 1, 0]
APNS_NUMBER, GCM_NUMBER = 0, 2

CONFIGURATION = """\
[rabbitmq]
url = "{url}"
[registry]
url = "sqlite:{folder}/registry.db"
[retry]
delays = ["1s", "5s", "30s"]
server_error_delay = "1s"
[fanout]
threshold_devices = 250
chunk_devices = 250
[log]
format = "json"
"""
APP = """\
[[app]]
name = "{name}"
bundle_id = "com.example.{name}"
identity_pools = {pools}
[app.apns]
key_file = "{folder}/{key}.p8"
key_id = "{key}"
team_id = "{team}"
endpoint = "127.0.0.1:{port}"
ca_file = "{folder}/simulator.pem"
"""
NGINX = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    server {{
        listen 127.0.0.1:{port};
        location {prefix}/ {{
            proxy_pass http://127.0.0.1:{worker}/;
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Remote-User $cookie_as;
        }}
    }}
}}
"""


class Environment:
    """One run's processes; `close` ends them."""

    def __init__(self, command, folder):
        self._command = os.path.abspath(command)
        self.folder = folder
        self.processes = []
        self._broker = Broker(folder)
        (self.apns_port, self.open_port, self.guarded_port, self.api_port, self.proxy_port) = free_ports(5)
        self.viewer, self.operator = (("vera", secrets.token_hex(8)), ("otto", secrets.token_hex(8)))

    # Addresses

    @property
    def page(self):
        """The page of the worker that has no login, on this machine."""
        return f"http://127.0.0.1:{self.open_port}/ui/"

    @property
    def named_page(self):
        """The same by a name, which for a browser is no secure context."""
        return f"http://{NAME}:{self.open_port}/ui/"

    @property
    def guarded_page(self):
        """The page of the worker that asks for a password."""
        return f"http://127.0.0.1:{self.guarded_port}/ui/"

    @property
    def proxied_page(self):
        """The page of the second worker behind nginx, without its last slash."""
        return f"http://127.0.0.1:{self.proxy_port}{PREFIX}/ui"

    # Beginning

    def start(self):
        self._make_key(KEY_ID)
        # APNs does not know this one, so the app with it is refused.
        self._make_key("WRONG12345")
        apps = [("chat", KEY_ID, [POOL]), ("mail", KEY_ID, []), ("music", "WRONG12345", [])]
        self._write("apus.toml", CONFIGURATION.format(url=self._broker.url, folder=self.folder) + "".join(
            APP.format(
                name=name, folder=self.folder, key=key, team=TEAM_ID, port=self.apns_port, pools=json.dumps(pools))
            for name, key, pools in apps))
        self._register()
        self._start_simulator()
        self._broker.wait()
        self.apus("topology", "apply")
        self._add_users()
        self._start_worker("open", self.open_port, f"registry.listen=127.0.0.1:{self.api_port}")
        self._start_worker(
            "guarded", self.guarded_port, f"admin.users_file={self.folder}/users", "admin.user_header=X-Remote-User",
            "admin.trusted_proxies=127.0.0.1", "admin.operators=otto")
        self._start_proxy()
        self._register_hostile()
        self._count_campaigns()

    def close(self):
        for process in reversed(self.processes):
            process.kill()
        self._broker.stop()

    def _make_key(self, name):
        path = self.path(f"{name}.p8")
        run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path],
            self.folder)
        os.chmod(path, 0o600)

    def _register(self):
        people = [self._device(f"phone-{n}", "chat", secrets.token_hex(32), n) for n in range(PEOPLE_COUNT)]
        people += [self._device(f"mail-{n}", "mail", secrets.token_hex(32), n) for n in range(20)]
        people += [self._device("music-0", "music", secrets.token_hex(32), 0)]
        audience = [self._device(f"listener-{n}", "chat", SLOW + secrets.token_hex(30), n, topics=["news"])
                    for n in range(AUDIENCE_COUNT)]
        self._write("devices.ndjson", "".join(json.dumps(device) + "\n" for device in people + audience))
        self.apus("device", "import", "devices.ndjson")
        self.apus("subscription", "save", "cheap-songs", "--app", "chat", "--user", "user-1", "--type", "Song",
                  "--predicate", "price <= 20", "--alert", "New: {title}")

    def _device(self, identifier, app, token, number, topics=()):
        device = {"deviceId": identifier, "app": app, "platform": "APNS", "token": token, "userId": f"user-{number}",
                  "topics": list(topics)}
        identity = {"identityPoolId": POOL, "identityId": f"us-east-1:{number}", "datasets": ["notes"]}
        return device | identity if app == "chat" else device

    def _start_simulator(self):
        self._write("script.ndjson", json.dumps({"token": SLOW, "answer": "delay", "delay": SLOW_MILLISECONDS}) + "\n")
        self._write("faults.ndjson", json.dumps({
            "fault": "answer", "status": 429, "reason": "TooManyRequests", "probability": THROTTLED_SHARE}) + "\n")
        simulator = self._start("simulator", [
            self._command, "simulate", "--listen", f"127.0.0.1:{self.apns_port}", "--latency", "5-40",
            "--key-file", self.path(f"{KEY_ID}.p8"), "--key-id", KEY_ID, "--team-id", TEAM_ID,
            "--ca-out", self.path("simulator.pem"), "--script", self.path("script.ndjson"),
            "--faults", self.path("faults.ndjson"), "--record", self.path("record.ndjson")])
        wait_until(lambda: os.path.exists(self.path("simulator.pem")), 30, simulator, "listening")

    def _add_users(self):
        for (name, password), role in ((self.viewer, "viewer"), (self.operator, "operator")):
            subprocess.run(
                [self._command, "page", "user", "add", name, "--role", role, "--config", self.path("apus.toml"),
                 "--set", f"admin.users_file={self.path('users')}"], input=password.encode(), check=True, timeout=30,
                stdout=subprocess.DEVNULL)

    def _start_worker(self, name, port, *settings):
        arguments = [self._command, "run", "--config", self.path("apus.toml")]
        for setting in (f"admin.listen=127.0.0.1:{port}", f"admin.hosts={NAME}", *settings):
            arguments += ["--set", setting]
        worker = self._start(f"worker-{name}", arguments)
        wait_until(lambda: self._is_ready(port), 60, worker, "ready")

    def _start_proxy(self):
        self._write("nginx.conf", NGINX.format(
            folder=self.folder, port=self.proxy_port, prefix=PREFIX, worker=self.guarded_port))
        self._start("nginx", ["/usr/sbin/nginx", "-c", self.path("nginx.conf"), "-e", self.path("nginx-error.log")])

    def _register_hostile(self):
        """Names that look like markup come in the way of any other: by the registry's API."""
        token = self.apus("registry", "token", "add", "page-check", "--permission", "write").strip()
        device = {"app": "chat", "userId": HOSTILE, "platform": "APNS", "token": secrets.token_hex(32),
                  "topics": [HOSTILE]}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.api_port}/v1/devices/{urllib.request.quote(HOSTILE, safe='')}",
            json.dumps(device).encode(),
            {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}, method="PUT")
        with urllib.request.urlopen(request, timeout=10) as answer:
            if answer.status not in (200, 201):
                raise DemoFailure(f"registering {HOSTILE} answered {answer.status}")

    def _count_campaigns(self):
        """Counts of days that are over, which no event of today can make."""
        hour = int(time.time()) // 3_600
        rows = [(CAMPAIGN, hour - ago, platform, number * (100 - ago) * 40)
                for ago in BUSY_HOURS_AGO for platform, number in ((APNS_NUMBER, 3), (GCM_NUMBER, 2))]
        rows.append((HOSTILE, hour, APNS_NUMBER, 1))
        # `with` of a connection only ends its transaction.
        with contextlib.closing(sqlite3.connect(self.path("registry.db"), timeout=20)) as registry, registry:
            for name in (CAMPAIGN, HOSTILE):
                hours = [row[1] for row in rows if row[0] == name]
                registry.execute("INSERT INTO campaign (app, name, first_hour, last_hour) VALUES ('chat', ?, ?, ?)",
                                 (name, min(hours), max(hours)))
            registry.executemany("""
                INSERT INTO campaign_count (campaign, hour, platform, matched, accepted, token_dead, expired, coalesced,
                    dead_lettered, opened)
                SELECT number, ?2, ?3, ?4, ?4 * 95 / 100, ?4 * 2 / 100, ?4 / 100, 0, ?4 / 100, ?4 * 11 / 100
                FROM campaign WHERE name = ?1""", rows)

    # Use

    def publisher(self):
        """A channel on a connection of its own, with confirms; ends with its `with` block."""
        return Publishing(self._broker)

    def apus(self, *arguments):
        return run([self._command, *arguments, "--config", self.path("apus.toml")], self.folder)

    def letters(self, **options):
        """The dead letters, as the command counts them: {(reason, app): count}."""
        flags = [text for name, value in options.items() for text in (f"--{name}", value)]
        answer = json.loads(self.apus("dead-letters", "count", "--json", *flags))
        return {(group["reason"], group.get("app")): group["count"] for group in answer["counts"]}

    def accepted(self):
        """What the simulator has accepted: the record's entries."""
        with open(self.path("record.ndjson"), encoding="utf-8") as file:
            entries = [json.loads(line) for line in file if line.endswith("\n")]
        return [entry for entry in entries if entry["status"] == 200]

    def path(self, name):
        return os.path.join(self.folder, name)

    def check_processes(self):
        for process in self.processes:
            if not process.is_running:
                raise DemoFailure(f"{process.name} ended with status {process.status}\n{process.log_tail()}")

    def _start(self, name, arguments):
        process = Process(name, arguments, self.folder)
        self.processes.append(process)
        return process

    def _is_ready(self, port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
                return answer.status == 200
        except OSError:
            return False

    def _write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)


class Publishing:
    """Publishes events, each confirmed by the broker."""

    def __init__(self, broker):
        self._connection = broker.connect()
        self._channel = self._connection.channel()
        self._channel.confirm_delivery()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.close()

    def event(self, identifier, data, kind="push.requested"):
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        self.body(json.dumps({
            "specversion": "1.0", "id": identifier, "source": "/page", "type": f"com.example.{kind}", "time": now,
            "data": data}))

    def body(self, text):
        self._channel.basic_publish(
            "apus.changes", "page", text,
            pika.BasicProperties(content_type="application/cloudevents+json", delivery_mode=2), mandatory=True)


def until(condition, seconds, what):
    """Polls until something is true, and gives it; fails when the time is over."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise DemoFailure(f"not within {seconds} s: {what}")
        time.sleep(0.1)
    return value
