"""Looks at the image of Apus, and runs a worker of it against a private RabbitMQ and the simulator.

usage: image.py --inspect FILE --root FOLDER

Started by deploy/bin/check-image as root. The root folder is that of a container, unpacked.
"""

import argparse
import json
import os
import stat
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../deploy/demo"))

from broker import Broker  # noqa: E402
from container import Container, UNPRIVILEGED  # noqa: E402
from processes import DemoFailure, free_ports, wait_until  # noqa: E402

# What a container must not have, because an intruder would look for it.
FORBIDDEN = {"sh", "bash", "dash", "busybox", "apt", "apt-get", "dpkg", "curl", "wget", "perl", "python3"}
BYTES_MAXIMUM = 80 * 1024 * 1024
CONFIGURATION = """\
[rabbitmq]
url = "{url}"
[registry]
url = "sqlite:/var/lib/apus/registry.db"
[admin]
listen = "0.0.0.0:{admin_port}"
[[app]]
name = "chat"
bundle_id = "com.example.chat"
[app.apns]
key_file = "/var/lib/apus/key.p8"
key_id = "ABC123DEFG"
team_id = "DEF123GHIJ"
endpoint = "127.0.0.1:{apns_port}"
ca_file = "/var/lib/apus/ca.pem"
"""


class Findings:
    """Prints each comparison, and remembers whether one was wrong."""

    def __init__(self):
        self.wrong = 0

    def expect(self, condition, what, found=""):
        print(f"  {'ok   ' if condition else 'WRONG'} {what}{f': {found}' if found != '' else ''}", flush=True)
        self.wrong += not condition


def check_properties(findings, inspected):
    """What the image says of itself."""
    config = inspected["Docker"]["config"]
    findings.expect(config["User"] == f"{UNPRIVILEGED}:{UNPRIVILEGED}", "its user is a number other than 0", config["User"])
    findings.expect(config["Entrypoint"] == ["/usr/bin/apus"] and config["Cmd"] == ["run"], "it starts the worker itself")
    findings.expect(config["StopSignal"] == "SIGTERM", "it stops by SIGTERM")
    findings.expect(config["Healthcheck"]["Test"] == ["CMD", "/usr/bin/apus", "healthcheck"], "it has a health check")
    findings.expect(set(config["ExposedPorts"]) == {"9464", "8080"} or
                    set(config["ExposedPorts"]) == {"9464/tcp", "8080/tcp"}, "it names its ports")
    labels = config["Labels"]
    for name in ("title", "description", "licenses", "version", "revision"):
        label = labels.get(f"org.opencontainers.image.{name}", "unknown")
        findings.expect(label not in ("", "unknown"), f"label {name}", label)
    findings.expect(not [line for line in config["Env"] or [] if "swift" in line], "nothing of the builder is in it")


def check_files(findings, root):
    """What is in it, and what is not."""
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    programs = sorted(path[len(root):] for path in files
                      if os.path.isfile(path) and os.access(path, os.X_OK) and "/bin/" in path[len(root):])
    findings.expect(programs == ["/usr/bin/apus"], "it has one program", ", ".join(programs))
    found = {os.path.basename(path) for path in files} & FORBIDDEN
    findings.expect(not found, "neither a shell nor a package manager", ", ".join(sorted(found)))
    modes = [path for path in files if not os.path.islink(path) and os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID)]
    findings.expect(not modes, "no file with setuid or setgid", ", ".join(modes))
    owned = sorted(folder[len(root):] for folder, _, _ in os.walk(root) if os.stat(folder).st_uid == UNPRIVILEGED)
    findings.expect(owned == ["/var/lib/apus"], "its user owns one folder", ", ".join(owned))
    licences = os.listdir(os.path.join(root, "usr/share/doc"))
    packages = os.listdir(os.path.join(root, "var/lib/dpkg/status.d"))
    findings.expect(sorted(licences) == sorted(packages) and len(packages) > 10, "packages with their licences", len(packages))
    size = sum(os.lstat(path).st_size for path in files)
    findings.expect(size < BYTES_MAXIMUM, "its size", f"{size / 1024 / 1024:.1f} MiB")


class Trial:
    """A worker of the image between a private node and a simulator of the same image."""

    def __init__(self, findings, root, folder):
        self._findings = findings
        self._folder = folder
        self._broker = Broker(folder)
        self._admin_port, self._apns_port = free_ports(2)
        os.makedirs(os.path.join(folder, "state"))
        os.chown(os.path.join(folder, "state"), UNPRIVILEGED, UNPRIVILEGED)
        with open(os.path.join(folder, "apus.toml"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(
                url=self._broker.url, admin_port=self._admin_port, apns_port=self._apns_port))
        os.chmod(folder, 0o755)
        self._container = Container(root, folder, {
            "/etc/apus": (folder, "ro"), "/var/lib/apus": (os.path.join(folder, "state"), "rw")})

    def run(self):
        container, findings = self._container, self._findings
        findings.expect(container.run("--version").startswith("apus "), "apus --version", container.run("--version").strip())
        simulator = container.start(
            "simulator", "simulate", "--listen", f"127.0.0.1:{self._apns_port}", "--make-key", "/var/lib/apus/key.p8",
            "--ca-out", "/var/lib/apus/ca.pem", "--record", "/var/lib/apus/pushes.ndjson")
        wait_until(lambda: os.path.exists(os.path.join(self._folder, "state/ca.pem")), 30, simulator, "listening")
        self._broker.wait()
        container.run("topology", "apply")
        container.run("device", "add", "--app", "chat", "--user", "mei", "--token", "00fc13ad" * 8)
        findings.expect(container.status("healthcheck") == 69, "without a worker, healthcheck ends with 69")
        worker = container.start("worker", "run")
        wait_until(lambda: container.status("healthcheck", "--ready") == 0, 60, worker, "ready")
        findings.expect(container.status("healthcheck") == 0, "with a worker, healthcheck ends with 0")
        with open(f"/proc/{worker.pid}/status", encoding="ascii") as file:
            state = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        findings.expect(set(state["Uid"].split()) == {str(UNPRIVILEGED)}, "the worker's user", state["Uid"].split()[0])
        findings.expect(int(state["CapEff"], 16) == 0 and state["NoNewPrivs"] == "1", "the worker has no capability")
        findings.expect(container.status("simulate", "--make-key", "/usr/key.p8") == 73, "the root cannot be written")
        event = {"specversion": "1.0", "id": "1", "source": "/image", "type": "com.example.push.requested",
                 "data": {"app": "chat", "userIds": ["mei"], "notification": {"body": "hello"}}}
        container.run("publish", "--file", "-", text=json.dumps(event) + "\n")
        record = os.path.join(self._folder, "state/pushes.ndjson")
        wait_until(lambda: os.path.exists(record) and '"status":200' in open(record, encoding="utf-8").read(), 30, worker,
                   "pushing")
        findings.expect(True, "an event became a push, as the user of the image on a read-only root")
        status = worker.stop(45)
        findings.expect(status == 0, "at SIGTERM it drains and ends with 0", status)
        simulator.stop(20)

    def close(self):
        self._container.close()
        self._broker.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inspect", required=True)
    parser.add_argument("--root", required=True)
    options = parser.parse_args()
    findings = Findings()
    print("The image")
    with open(options.inspect, encoding="utf-8") as file:
        check_properties(findings, json.load(file))
    check_files(findings, options.root.rstrip("/"))
    print("A worker of it")
    with tempfile.TemporaryDirectory(prefix="apus-image-") as folder:
        trial = Trial(findings, options.root, folder)
        try:
            trial.run()
        except DemoFailure as failure:
            findings.expect(False, str(failure))
        finally:
            trial.close()
    print("check-image: " + (f"{findings.wrong} comparisons are WRONG" if findings.wrong else "the image is as it should be"))
    return 1 if findings.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
