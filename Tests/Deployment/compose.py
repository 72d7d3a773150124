"""Runs the services of deploy/compose.yaml as an engine would, as far as that goes without one.

usage: compose.py --root FOLDER

Started by deploy/bin/check-compose as root, in a network namespace of its own. Each service gets a network namespace with
the address and the name that the others know; the order follows `depends_on`, and the health checks are the file's.
Services of Apus run in the unpacked image with their command, configuration, volumes and read-only root. RabbitMQ,
PostgreSQL and Prometheus are Debian's programs, set up by what the file gives to the images of these.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../deploy/demo"))

from container import UNPRIVILEGED, Container  # noqa: E402
from processes import DemoFailure, Process, run  # noqa: E402

FILE = os.path.abspath("deploy/compose.yaml")
NETWORK = "10.77.0"
# The other containers' addresses are free for clients.
FIRST_ADDRESS = 10
# Of the newest version that is installed.
POSTGRESQL = max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda folder: int(folder.split("/")[4]), default="")
RABBITMQ_PROGRAMS = os.environ.get("APUS_RABBITMQ_PROGRAMS", "/usr/lib/rabbitmq/bin")


def seconds(text):
    return float(text.rstrip("s"))


class Network:
    """A bridge, and a namespace with an address for each service."""

    def __init__(self, names, folder):
        self.addresses = {name: f"{NETWORK}.{FIRST_ADDRESS + index}" for index, name in enumerate(names)}
        hosts = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self.addresses.items())
        self.hosts = os.path.join(folder, "hosts")
        with open(self.hosts, "w", encoding="ascii") as file:
            file.write(hosts)
        run(["ip", "link", "set", "lo", "up"], folder)
        run(["ip", "link", "add", "services", "type", "bridge"], folder)
        run(["ip", "address", "add", f"{NETWORK}.1/24", "dev", "services"], folder)
        run(["ip", "link", "set", "services", "up"], folder)
        for index, (name, address) in enumerate(self.addresses.items()):
            inner = ["ip", "-netns", name]
            run(["ip", "netns", "add", name], folder)
            run(["ip", "link", "add", f"outside{index}", "type", "veth", "peer", "name", f"inside{index}"], folder)
            run(["ip", "link", "set", f"inside{index}", "netns", name], folder)
            run(["ip", "link", "set", f"outside{index}", "master", "services", "up"], folder)
            run([*inner, "address", "add", f"{address}/24", "dev", f"inside{index}"], folder)
            run([*inner, "link", "set", f"inside{index}", "up"], folder)
            run([*inner, "link", "set", "lo", "up"], folder)

    def enter(self, name):
        """The words before a command of a service: its network, its names of hosts, its own host name."""
        return ["ip", "netns", "exec", name, "unshare", "--uts", "--mount", "sh", "-c",
                f'hostname {name} && mount --bind {self.hosts} /etc/hosts && exec "$@"', "sh"]


class Service:
    """A service of the file."""

    def __init__(self, name, entry, network, folder):
        self.name = name
        self.entry = entry
        self.process = None
        # The conditions that others have waited for.
        self.reached = set()
        self._network = network
        self._folder = os.path.join(folder, name)
        os.makedirs(self._folder, mode=0o755)

    @property
    def command(self):
        return self.entry.get("command", [])

    def start(self):
        raise NotImplementedError

    def probe(self, test):
        """Runs a health check, without the word CMD."""
        return subprocess.run(
            [*self._network.enter(self.name), *test], cwd=self._folder, env=self._environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False).returncode

    def _environment(self):
        return {"PATH": f"{RABBITMQ_PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}

    def _launch(self, *arguments):
        return Process(self.name, [*self._network.enter(self.name), *arguments], self._folder, self._environment())


class Apus(Service):
    """A service in the image."""

    def __init__(self, name, entry, network, folder, root, state):
        super().__init__(name, entry, network, folder)
        volumes = {}
        for volume in entry["volumes"]:
            source, target, *mode = volume.split(":")
            path = state if source == "state" else os.path.join(os.path.dirname(FILE), source)
            volumes[target] = (path, mode[0] if mode else "rw")
        volumes["/etc/hosts"] = (network.hosts, "ro")
        self.container = Container(root, self._folder, volumes, prefix=network.enter(name))

    def start(self):
        self.process = self.container.start(self.name, *self.command)

    def probe(self, test):
        if test[0] != "/usr/bin/apus":
            raise DemoFailure(f"{self.name}: the image has no {test[0]}")
        return self.container.status(*test[1:])


class RabbitMQ(Service):
    def start(self):
        for name in ("data", "log", "conf.d", "home"):
            os.makedirs(os.path.join(self._folder, name), exist_ok=True)
        for config in self.entry["configs"]:
            source = os.path.join(os.path.dirname(FILE), "compose", config["source"])
            shutil.copy(source, os.path.join(self._folder, config["target"].removeprefix("/etc/rabbitmq/")))
        with open(os.path.join(self._folder, "rabbitmq.conf"), "w", encoding="ascii") as file:
            file.write("disk_free_limit.absolute = 10MB\n")
        self.process = self._launch(os.path.join(RABBITMQ_PROGRAMS, "rabbitmq-server"))

    def _environment(self):
        folder = self._folder
        return super()._environment() | {
            "HOME": f"{folder}/home", "RABBITMQ_NODENAME": f"rabbit@{self.name}", "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log", "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_CONFIG_FILES": f"{folder}/conf.d", "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/enabled_plugins",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/rabbitmq-env.conf", "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{folder}/advanced.config", "RABBITMQ_GENERATED_CONFIG_DIR": f"{folder}/generated",
            "detached": "true"}


class PostgreSQL(Service):
    def start(self):
        environment = self.entry["environment"]
        shutil.chown(self._folder, "postgres", "postgres")
        data, password = os.path.join(self._folder, "data"), os.path.join(self._folder, "password")
        with open(password, "w", encoding="ascii") as file:
            file.write(environment["POSTGRES_PASSWORD"])
        as_server = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        run([*as_server, f"{POSTGRESQL}/initdb", f"--pgdata={data}", f"--username={environment['POSTGRES_USER']}",
             f"--pwfile={password}", "--auth-host=scram-sha-256", "--auth-local=trust", "--encoding=UTF8", "--locale=C",
             "--no-sync"], self._folder)
        with open(os.path.join(data, "pg_hba.conf"), "a", encoding="ascii") as file:
            file.write("host all all all scram-sha-256\n")
        run([*as_server, "sh", "-c", f'echo "CREATE DATABASE {environment["POSTGRES_DB"]}" | '
             f"{POSTGRESQL}/postgres --single -D {data} postgres"], self._folder)
        self.process = self._launch(
            *as_server, f"{POSTGRESQL}/postgres", "-D", data, "-c", "listen_addresses=*", "-c", f"unix_socket_directories={self._folder}")

    def probe(self, test):
        return super().probe([*test, "--host", self._folder])

    def sql(self, text):
        """Runs statements, as the README does."""
        environment = self.entry["environment"]
        run([f"{POSTGRESQL}/psql", "--host", self._folder, "--username", environment["POSTGRES_USER"], "--dbname",
             environment["POSTGRES_DB"], "--quiet", "--set", "ON_ERROR_STOP=1", "--command", text], self._folder)


class Prometheus(Service):
    def start(self):
        target = {}
        for volume in self.entry["volumes"]:
            source, path, *_ = volume.split(":")
            target[path] = os.path.join(os.path.dirname(FILE), source)
        data = os.path.join(self._folder, "data")
        with open(target["/etc/prometheus/prometheus.yml"], encoding="utf-8") as file:
            configuration = file.read().replace("/etc/prometheus/alerts", target["/etc/prometheus/alerts"])
        with open(os.path.join(self._folder, "prometheus.yml"), "w", encoding="utf-8") as file:
            file.write(configuration)
        arguments = [word.replace("/etc/prometheus", self._folder).replace("=/prometheus", f"={data}")
                     for word in self.command]
        self.process = self._launch("/usr/bin/prometheus", *arguments)

    def probe(self, test):
        # Debian has no wget here; the address is the file's.
        return super().probe(["curl", "--silent", "--fail", "--output", "/dev/null", test[-1]])


KINDS = {"rabbitmq": RabbitMQ, "postgres": PostgreSQL, "prometheus": Prometheus}


class Composition:
    """All services of the file, started in order."""

    def __init__(self, root, folder):
        with open(FILE, encoding="utf-8") as file:
            self._entries = yaml.safe_load(file)["services"]
        self._network = Network(self._entries, folder)
        self.state = os.path.join(folder, "state")
        os.makedirs(self.state)
        os.chown(self.state, UNPRIVILEGED, UNPRIVILEGED)
        os.chmod(folder, 0o755)
        self.services = {}
        for name, entry in self._entries.items():
            common = (name, entry, self._network, folder)
            self.services[name] = KINDS[name](*common) if name in KINDS else Apus(*common, root, self.state)

    def address(self, name):
        return self._network.addresses[name]

    def up(self, profile=None):
        """Starts each service of a profile, or of none, when those that it depends on are as it says."""
        services = {name: service for name, service in self.services.items()
                    if service.entry.get("profiles") == ([profile] if profile else None)}
        while any(service.process is None for service in services.values()):
            name = next(name for name, service in services.items() if service.process is None
                        and all(self.services[other].process for other in self._needs(name)))
            for other, need in self._needs(name).items():
                self._wait(other, need["condition"])
            print(f"check-compose: starting {name}", flush=True)
            services[name].start()
        for name, service in services.items():
            if "test" in service.entry.get("healthcheck", {}):
                self._wait(name, "service_healthy")

    def _needs(self, name):
        return self._entries[name].get("depends_on", {})

    def _wait(self, name, condition):
        service = self.services[name]
        if condition == "service_started":
            return
        check = service.entry["healthcheck"]
        # An image of Apus may start before the simulator has its key; an engine would start it again.
        deadline = time.monotonic() + (120 if condition == "service_completed_successfully" else 5 + seconds(
            check.get("start_period", "0s")) + int(check["retries"]) * (seconds(check["interval"]) + seconds(check["timeout"])))
        while not self._is(service, condition):
            if time.monotonic() > deadline or (service.process.status is not None and service.process.status != 0):
                raise DemoFailure(f"{name} is not {condition}\n{service.process.log_tail()}")
            time.sleep(0.5)
        if condition not in service.reached:
            service.reached.add(condition)
            print(f"check-compose: {name} is {condition.removeprefix('service_')}", flush=True)

    @staticmethod
    def _is(service, condition):
        if condition == "service_completed_successfully":
            return service.process.status == 0
        words = service.entry["healthcheck"]["test"]
        return service.process.is_running and service.probe(words[1:]) == 0

    def down(self):
        for service in reversed(self.services.values()):
            if service.process:
                service.process.kill()


class Trial:
    """What a newcomer would try, and what has to come of it."""

    def __init__(self, composition):
        self._composition = composition
        self.wrong = 0

    def run(self):
        apus = self._composition.services["registry"].container
        token = apus.run("registry", "token", "add", "backend", "--permission", "write").strip()
        device = {"app": "chat", "userId": "mei", "platform": "APNS", "token": "00fc13adff785122b4ad28809a342098"}
        status = self._request("registry", 8080, "/v1/devices/phone-1", "PUT", device, token)[0]
        self._expect(status in (200, 201), "the registry's API takes a device", status)
        event = {"specversion": "1.0", "source": "/compose", "type": "com.example.push.requested",
                 "data": {"app": "chat", "campaign": "first", "userIds": ["mei"], "notification": {"body": "hello"}}}
        apus.run("publish", "--file", "-", text="".join(json.dumps({**event, "id": str(number)}) + "\n" for number in range(500)))
        record = os.path.join(self._composition.state, "pushes.ndjson")
        self._wait(lambda: self._lines(record) >= 500, "500 events became pushes at the simulator")
        counts = [self._accepted(name) for name in ("worker-1", "worker-2")]
        self._expect(sum(counts) == 500 and min(counts) > 0, "both workers pushed", counts)
        self._wait(lambda: self._counted(apus) == 500, "the campaign counts 500 accepted pushes")
        self._wait(lambda: self._targets() == ["up"] * 4, "Prometheus scrapes all four that serve metrics")
        postgres = self._composition.services["postgres"]
        postgres.sql(apus.run("relay", "sql"))
        self._composition.up("relay")
        postgres.sql("""SELECT apus_outbox.push('chat', ARRAY['mei'], '{"body": "From a commit"}')""")
        self._wait(lambda: self._lines(record) >= 501, "a commit became a push")
        groups = json.loads(self._request("prometheus", 9090, "/api/v1/rules")[1])["data"]["groups"]
        self._expect(len(groups) > 0, "Prometheus has the alerts", f"{sum(len(group['rules']) for group in groups)} rules")
        for name in ("relay", "worker-1", "worker-2", "analytics", "registry"):
            service = self._composition.services[name]
            status = service.process.stop(seconds(service.entry["stop_grace_period"]))
            self._expect(status == 0, f"{name} ends in order at SIGTERM", status)

    def _accepted(self, name):
        body = self._request(name, 9464, "/metrics")[1].decode()
        return sum(int(float(line.split()[-1])) for line in body.splitlines()
                   if line.startswith("apus_pushes_total{") and 'outcome="accepted"' in line)

    @staticmethod
    def _counted(apus):
        """What all campaigns have accepted; there is none before the first count."""
        campaigns = apus.run("campaign", "list", "--json").splitlines()
        return sum(json.loads(campaign)["accepted"] for campaign in campaigns)

    def _targets(self):
        data = json.loads(self._request("prometheus", 9090, "/api/v1/targets")[1])["data"]
        return [target["health"] for target in data["activeTargets"]]

    @staticmethod
    def _lines(path):
        if not os.path.exists(path):
            return 0
        with open(path, "rb") as file:
            return file.read().count(b'"status":200')

    def _request(self, name, port, path, method="GET", body=None, token=None):
        request = urllib.request.Request(f"http://{self._composition.address(name)}:{port}{path}", method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
            request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()

    def _wait(self, condition, what):
        deadline = time.monotonic() + 60
        while not condition():
            if time.monotonic() > deadline:
                return self._expect(False, what)
            time.sleep(0.5)
        return self._expect(True, what)

    def _expect(self, condition, what, found=""):
        print(f"  {'ok   ' if condition else 'WRONG'} {what}{f': {found}' if found != '' else ''}", flush=True)
        self.wrong += not condition


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="apus-compose-") as folder:
        composition = Composition(options.root.rstrip("/"), folder)
        trial = Trial(composition)
        try:
            composition.up()
            trial.run()
        except (DemoFailure, OSError) as failure:
            print(f"check-compose: {failure}")
            trial.wrong += 1
        finally:
            composition.down()
    print("check-compose: " + (f"{trial.wrong} WRONG" if trial.wrong else "the services work together"))
    return 1 if trial.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
