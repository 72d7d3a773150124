"""The server under attack: `apus registry` with a temporary configuration, watched while it runs."""

import json
import os
import secrets
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass

from processes import Process, free_ports, run, wait_until

POOL = "us-east-1:177a950c-2c08-43f0-9983-28727e0a1b2c"
# What the hostile tenant has a token for, and what the clients use.
TENANT_APP, APP = "market", "chat"
ACCESS_KEY = "AKIDSOAK"

CONFIGURATION = """\
[registry]
url = "{registry}"
listen = "127.0.0.1:{port}"
public_url = "http://127.0.0.1:{port}"
events = true
events_per_second = 60
access_keys = ["{access_key} {access_secret}"]
[rabbitmq]
url = "{broker}"
[log]
format = "json"
[admin]
listen = "127.0.0.1:{admin_port}"
"""
APP_CONFIGURATION = """\
[[app]]
name = "{name}"
bundle_id = "com.example.{name}"
identity_pools = {pools}
[app.apns]
key_file = "{folder}/AuthKey_SOAK123456.p8"
key_id = "SOAK123456"
team_id = "SOAKTEAM01"
"""


@dataclass(frozen=True)
class Target:
    """What clients have to know of the server, good ones and others."""

    port: int
    admin_port: int
    access_secret: str
    # By name: those of the clients may use one app, or read; those called `tenant…` are in hostile hands.
    tokens: dict[str, str]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def admin_host(self) -> str:
        return f"127.0.0.1:{self.admin_port}"

    @property
    def secrets(self) -> list[str]:
        return [self.access_secret, *self.tokens.values()]


class Service:
    """The process, its memory and its log."""

    def __init__(self, apus: str, folder: str, registry_url: str, broker_url: str):
        self._apus = os.path.abspath(apus)
        self._folder = folder
        self._configuration = os.path.join(folder, "apus.toml")
        port, admin_port = free_ports(2)
        access_secret = secrets.token_hex(20)
        self._write_configuration(registry_url, broker_url, port, admin_port, access_secret)
        run([self._apus, "topology", "apply", "--config", self._configuration], folder)
        tokens = {
            "native": self._token("native", APP, "write"),
            "cloudkit": self._token("cloudkit", APP, "write"),
            "courier": self._token("courier", APP, "write"),
            "shop": self._token("shop", APP, "publish"),
            "auditor": self._token("auditor", None, "read"),
            "tenant": self._token("tenant", TENANT_APP, "write"),
            "tenant-courier": self._token("tenant-courier", TENANT_APP, "write"),
            "tenant-reader": self._token("tenant-reader", TENANT_APP, "read"),
            "tenant-shop": self._token("tenant-shop", TENANT_APP, "publish"),
            "tenant-batches": self._token("tenant-batches", TENANT_APP, "publish"),
        }
        self.target = Target(port, admin_port, access_secret, tokens)
        self.process = Process("registry", [self._apus, "registry", "--config", self._configuration], folder)
        wait_until(lambda: self.ready() == 200, 30, self.process, "ready")
        self.memory = Memory(self.process.pid)

    def ready(self) -> int:
        """The status of /readyz, 0 if nobody answers."""
        try:
            with urllib.request.urlopen(f"http://{self.target.admin_host}/readyz", timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def processor_seconds(self) -> float:
        """How long it has been at work."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.memory.stop()
        return self.process.stop(60)

    def _write_configuration(
            self, registry: str, broker: str, port: int, admin_port: int, access_secret: str) -> None:
        key = os.path.join(self._folder, "AuthKey_SOAK123456.p8")
        run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
            self._folder)
        os.chmod(key, 0o600)
        text = CONFIGURATION.format(
            registry=registry, broker=broker, port=port, admin_port=admin_port, access_key=ACCESS_KEY,
            access_secret=access_secret)
        for name, pools in ((APP, [POOL]), (TENANT_APP, [])):
            text += APP_CONFIGURATION.format(name=name, pools=json.dumps(pools), folder=self._folder)
        with open(self._configuration, "w", encoding="utf-8", opener=private) as file:
            file.write(text)

    def _token(self, name: str, app: str | None, permission: str) -> str:
        return run(
            [self._apus, "registry", "token", "add", name, "--permission", permission, "--config",
             self._configuration, *(["--app", app] if app else [])], self._folder).strip()


def private(path: str, flags: int) -> int:
    """Opens a file that is its owner's alone."""
    return os.open(path, flags, 0o600)


class Memory(threading.Thread):
    """Looks at the resident memory of a process twice a second."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self._path = f"/proc/{pid}/status"
        self._is_over = threading.Event()
        self.current_bytes = 0
        self.greatest_bytes = 0
        self.greatest_after_seconds = 0.0
        self._began = time.monotonic()
        self.start()

    def run(self) -> None:
        while not self._is_over.wait(0.5):
            self._look()

    def stop(self) -> None:
        self._is_over.set()

    def _look(self) -> None:
        try:
            with open(self._path, encoding="ascii", errors="replace") as file:
                found = [line for line in file if line.startswith("VmRSS:")]
        except OSError:
            return
        if found:
            self.current_bytes = int(found[0].split()[1]) * 1_024
        if self.current_bytes > self.greatest_bytes:
            self.greatest_bytes = self.current_bytes
            self.greatest_after_seconds = time.monotonic() - self._began
