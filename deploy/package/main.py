"""Installs the Debian package in a fresh Debian, boots it, and meets everything that an operator meets with it."""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import pika

from container import Container
from broker import Broker
from processes import DemoFailure, Process, free_ports, run
from thread_stop import StoppedThread

UNITS = ["apus-registry.service", "apus@1.service", "apus@2.service"]
ADMIN_PORTS = {"apus-registry.service": 9460, "apus@1.service": 9461, "apus@2.service": 9462}
EVENTS = 3_000
# A loop counts as hanging after a minute, and then two signs of life have to be missed.
WATCHDOG_SECONDS = 60 + 30 + 60
# The worst exposure that systemd-analyze may find, in tenths.
EXPOSURE_MAXIMUM = 15

APP = """
[log]
format = "json"

[[app]]
name = "chat"
bundle_id = "com.example.chat"
[app.apns]
key_id = "ABC123DEFG"
team_id = "DEF123GHIJ"
endpoint = "127.0.0.1:{port}"
ca_file = "/etc/apus/simulator.pem"
"""

# What the guide tells an operator to run before the first start: as the services run, with their credentials.
AS_SERVICE = "apus-as-service "


def say(text):
    print(f"check-package: {text}", flush=True)


def check(condition, text):
    if not condition:
        raise DemoFailure(text)


def equal(what, found, wanted):
    check(found == wanted, f"{what}: found {found!r}, wanted {wanted!r}")


def until(what, seconds, condition):
    """Polls a condition; fails when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < deadline, f"not {what} within {seconds} s")
        time.sleep(0.1)


class PackageCheck:
    """One life of the package: installed, configured, run, upgraded, removed, purged."""

    def __init__(self, options, folder):
        self._package = os.path.abspath(options.package)
        self._next_package, self._next_archives = options.next_package, options.next_archives
        self._folder = folder
        self._container = Container(options.root, folder)
        self._apus = os.path.join(folder, "unpacked/usr/bin/apus")
        self._processes = []
        self._edited = None

    def run(self):
        run(["dpkg-deb", "--extract", self._package, os.path.join(self._folder, "unpacked")], self._folder)
        say("starting RabbitMQ and the simulator of APNs outside of the container")
        self._broker = Broker(self._folder)
        self._processes.append(self._broker.node)
        self._start_simulator()
        say("booting a fresh Debian")
        self._container.boot()
        self._broker.wait()
        steps = [self._install, self._units, self._refuses_bad_configuration, self._configure, self._start,
                 self._load_with_a_kill, self._reload, self._watchdog, self._stop, self._upgrade]
        if self._next_package:
            steps.append(self._upgrade_debian)
        for step in steps + [self._remove, self._purge]:
            say(step.__doc__)
            step()

    def end(self):
        """Ends everything."""
        self._container.stop()
        for process in self._processes:
            process.kill()
        if hasattr(self, "_broker"):
            self._broker.stop()

    def _start_simulator(self):
        self._apns_port, = free_ports(1)
        self._record, self._record_offset = os.path.join(self._folder, "pushes.ndjson"), 0
        self._rounds = 0
        # The program may be of another Debian than this system: it needs the loader and the libraries of that one.
        libraries, = glob.glob(self._container.path("/usr/lib/*-linux-gnu"))
        loader, = glob.glob(f"{libraries}/ld-linux-*.so.*")
        self._processes.append(Process(
            "simulator",
            [loader, "--library-path", libraries, self._apus, "simulate", "--listen", f"127.0.0.1:{self._apns_port}",
             "--make-key", "key.p8", "--ca-out", "simulator.pem", "--record", self._record], self._folder))

    # The steps

    def _install(self):
        """install: user, folders, modes; nothing is enabled or started"""
        c = self._container
        c.copy(self._package, "/apus.deb")
        c.run("dpkg --install /apus.deb")
        equal("the state", c.output("dpkg-query --show --showformat='${db:Status-Abbrev}' apus").strip(), "ii")
        for path, wanted in {
                "/etc/apus/apus.toml": "640 root apus", "/etc/apus/credentials": "700 root root",
                "/var/lib/apus": "750 apus apus", "/usr/bin/apus": "755 root root"}.items():
            equal(f"mode and owner of {path}", c.output(f"stat --format='%a %U %G' {path}"), wanted)
        equal("the user", c.output("getent passwd apus | cut -d: -f6-"), "/var/lib/apus:/usr/sbin/nologin")
        equal("the version", c.output("apus --version"), "apus " + self._version().rsplit("-", 1)[0].replace("~", "-"))
        for unit in UNITS + ["apus.target"]:
            equal(f"{unit} is enabled", c.run(f"systemctl is-enabled {unit}", check=False).stdout.strip(), "disabled")
            equal(f"{unit} is active", c.unit(unit)["ActiveState"], "inactive")
        missing = c.run("ldd /usr/bin/apus | grep 'not found'", check=False).stdout
        equal("libraries that are missing", missing, "")

    def _units(self):
        """units: systemd verifies them, and their exposure is small"""
        c = self._container
        equal("complaints of systemd-analyze", c.output(f"systemd-analyze verify --man=no {' '.join(UNITS)} 2>&1"), "")
        for unit in UNITS[:2]:
            c.run(f"systemd-analyze security --threshold={EXPOSURE_MAXIMUM} {unit}")
        # A call that the units do not allow ends the process here, so that none is refused unseen.
        for unit in ("apus@.service.d", "apus-registry.service.d"):
            os.makedirs(c.path(f"/etc/systemd/system/{unit}"))
            c.write(f"/etc/systemd/system/{unit}/kill.conf", "[Service]\nSystemCallErrorNumber=kill\n")
        c.run("systemctl daemon-reload")

    def _refuses_bad_configuration(self):
        """a worker without an app ends with 78 and is not started again"""
        c = self._container
        check(c.run("systemctl start apus@1", check=False).returncode != 0, "a worker without an app has started")
        unit = c.unit("apus@1.service")
        equal("status and restarts", (unit["ExecMainStatus"], unit["NRestarts"], unit["ActiveState"]),
              ("78", "0", "failed"))
        check("[[app]]" in c.journal("apus@1.service"), "the journal does not say what to do")
        c.run("systemctl reset-failed")

    def _configure(self):
        """configure: credentials that root alone can read, the topology, three thousand devices"""
        c = self._container
        c.write("/etc/apus/credentials/RABBITMQ_URL", self._broker.url + "\n", 0o600)
        c.copy(os.path.join(self._folder, "key.p8"), "/etc/apus/credentials/APP_0_APNS_KEY")
        c.run("chmod 600 /etc/apus/credentials/APP_0_APNS_KEY")
        c.copy(os.path.join(self._folder, "simulator.pem"), "/etc/apus/simulator.pem")
        with open(c.path("/etc/apus/apus.toml"), "a", encoding="utf-8") as file:
            file.write(APP.format(port=self._apns_port))
        with open(c.path("/etc/apus/apus.toml"), encoding="utf-8") as file:
            self._edited = file.read()
        devices = "".join(
            json.dumps({"deviceId": f"d{n}", "platform": "APNS", "token": self._token(n), "app": "chat",
                        "userId": f"u{n}"}) + "\n" for n in range(EVENTS))
        c.write("/var/lib/apus/devices.ndjson", devices)
        c.run(AS_SERVICE + "device import devices.ndjson")
        c.run(AS_SERVICE + "topology apply")
        c.run(AS_SERVICE + "check --connect")

    def _start(self):
        """start: two workers and the registry's API are ready, by systemd and by /readyz"""
        c = self._container
        c.run("systemctl enable --now apus-registry apus@1 apus@2")
        for unit in UNITS:
            self._await_ready(unit)
            equal(f"/readyz of {unit}", self._get(ADMIN_PORTS[unit], "/readyz")[0], 200)
            check("apus.target" in c.unit(unit)["WantedBy"], f"{unit} is no part of apus.target")
        equal("the API without a token", self._get(8080, "/v1/devices")[0], 401)
        check(c.unit("apus@1.service")["WatchdogTimestampMonotonic"] != "0", "apus@1 gives no signs of life")
        c.run(AS_SERVICE + "healthcheck --ready")
        c.run("APUS_ADMIN_LISTEN=127.0.0.1:9462 " + AS_SERVICE + "healthcheck --ready")
        c.run(AS_SERVICE + "pause chat --reason 'trying it'")
        until("the pause is known", 30, lambda: "trying it" in self._get(ADMIN_PORTS["apus@2.service"], "/readyz")[1])
        c.run(AS_SERVICE + "resume chat")
        c.run(AS_SERVICE + "doctor --output /var/lib/apus/bundle && test -s /var/lib/apus/bundle/metrics.txt")

    def _load_with_a_kill(self):
        """load: a killed worker comes back, and each of 3000 events reaches its device"""
        c = self._container
        killed = c.unit("apus@1.service")["MainPID"]
        self._publish(lambda: c.run(f"kill -KILL {killed}"))
        until("all devices reached", 60, lambda: len(self._reached()) == EVENTS)
        self._await_ready("apus@1.service")
        unit = c.unit("apus@1.service")
        check(unit["MainPID"] != killed and unit["NRestarts"] == "1", f"not started again: {unit['NRestarts']}")

    def _publish(self, in_the_middle=lambda: None):
        """Publishes an event for each device."""
        self._rounds += 1
        connection = pika.BlockingConnection(pika.URLParameters(self._broker.url))
        channel = connection.channel()
        channel.confirm_delivery()
        properties = pika.BasicProperties(content_type="application/cloudevents+json", delivery_mode=2)
        for number in range(EVENTS):
            event = {"specversion": "1.0", "id": f"e{self._rounds}-{number}", "source": "/check",
                     "type": "com.example.push.requested",
                     "data": {"app": "chat", "userIds": [f"u{number}"], "notification": {"title": f"Event {number}"}}}
            channel.basic_publish("apus.changes", f"push.requested.u{number}", json.dumps(event), properties,
                                  mandatory=True)
            if number == EVENTS // 2:
                in_the_middle()
        connection.close()

    def _reload(self):
        """reload: systemctl reload is done when the worker has read its configuration"""
        c = self._container
        before = c.unit("apus@1.service")["MainPID"]
        for unit in UNITS:
            c.run(f"systemctl reload {unit}")
            self._await_ready(unit)
        equal("the process", c.unit("apus@1.service")["MainPID"], before)

    def _watchdog(self):
        """watchdog: systemd ends a worker one of whose loops hangs, and starts another (a minute and a half)"""
        c = self._container
        before = c.unit("apus@2.service")["MainPID"]
        with StoppedThread(c.outside_pid(before), "dispatch") as thread:
            until("a status that names the loop", WATCHDOG_SECONDS,
                  lambda: "loop dispatch hangs" in c.unit("apus@2.service")["StatusText"])
            until("ended by the watchdog", WATCHDOG_SECONDS, thread.has_ended)
        self._await_ready("apus@2.service")
        check("Watchdog timeout" in c.output("journalctl --no-pager --grep='apus@2.*[Ww]atchdog'"),
              "the journal does not name the watchdog")
        check(c.unit("apus@2.service")["MainPID"] != before, "the worker has not been started again")

    def _stop(self):
        """stop: the target stops all, and each drains and ends with 0"""
        c = self._container
        c.run("systemctl stop apus.target")
        for unit in UNITS:
            # The command waits for the target only.
            until(f"stopped: {unit}", 60, lambda unit=unit: c.unit(unit)["ActiveState"] in ("inactive", "failed"))
            found = c.unit(unit)
            equal(f"the end of {unit}", (found["ActiveState"], found["Result"], found["ExecMainStatus"]),
                  ("inactive", "success", "0"))
        c.run("systemctl start apus.target")
        for unit in UNITS:
            self._await_ready(unit)

    def _upgrade(self):
        """upgrade: workers run on, the edited configuration stays, and a restart brings the new program"""
        c = self._container
        before = {unit: c.unit(unit)["MainPID"] for unit in UNITS}
        self._pack_next_revision()
        c.run("dpkg --force-confdef --force-confold --install /next.deb")
        equal("the version", self._version(), self._next_revision)
        equal("apus.toml", self._read("/etc/apus/apus.toml"), self._edited)
        equal("mode of apus.toml", c.output("stat --format='%a %U %G' /etc/apus/apus.toml"), "640 root apus")
        check("# of the next revision" in self._read("/etc/apus/apus.toml.dpkg-dist"), "no apus.toml.dpkg-dist")
        equal("processes", {unit: c.unit(unit)["MainPID"] for unit in UNITS}, before)
        for unit in UNITS:
            c.run(f"systemctl restart {unit}")
            self._await_ready(unit)
            check(c.unit(unit)["MainPID"] != before[unit], f"{unit} was not restarted")

    def _upgrade_debian(self):
        """upgrade of Debian: what runs goes on, and after a boot all is there, with the next package"""
        c = self._container
        before = {unit: c.unit(unit)["MainPID"] for unit in UNITS}
        registry, debian = self._registry(), self._debian()
        run(["tar", "--extract", "--file", os.path.abspath(self._next_archives), "--directory", c.root], self._folder)
        apt = "apt-get --quiet --quiet --yes --no-install-recommends -o Dpkg::Options::=--force-confold "
        c.run(apt + "dist-upgrade", seconds=1200)
        equal("processes", {unit: c.unit(unit)["MainPID"] for unit in UNITS}, before)
        self._await_reached_again()
        c.copy(self._next_package, "/next-debian.deb")
        c.run(apt + "install /next-debian.deb", seconds=600)
        equal("processes", {unit: c.unit(unit)["MainPID"] for unit in UNITS}, before)
        say("    booting it")
        c.stop()
        c.boot()
        check(self._debian() != debian, f"still {debian}")
        say(f"    {debian} became {self._debian()}, with apus {self._version()}")
        for unit in UNITS:
            self._await_ready(unit)
        equal("apus.toml", self._read("/etc/apus/apus.toml"), self._edited)
        equal("the registry", self._registry(), registry)
        missing = c.run("ldd /usr/bin/apus | grep 'not found'", check=False).stdout
        equal("libraries that are missing", missing, "")
        c.run(AS_SERVICE + "check --connect")
        self._await_reached_again()

    def _remove(self):
        """remove: services stop, configuration, credentials and registry stay"""
        c = self._container
        c.run("dpkg --remove apus")
        for unit in UNITS:
            check(c.unit(unit)["ActiveState"] != "active", f"{unit} runs on")
        equal("processes of apus", c.run("pgrep --exact apus", check=False).stdout, "")
        for path in ("/usr/bin/apus", "/lib/systemd/system/apus@.service"):
            check(not os.path.lexists(c.path(path)), f"{path} has stayed")
        equal("apus.toml", self._read("/etc/apus/apus.toml"), self._edited)
        self._check_kept()

    def _purge(self):
        """purge: configuration and enabled units go, credentials and registry stay"""
        c = self._container
        c.run("dpkg --purge apus")
        equal("files in /etc", c.output("find /etc -name '*apus*' -not -name '*.d' -not -name '*-' | sort").split(),
              ["/etc/apus"])
        equal("files in /etc/apus", sorted(os.listdir(c.path("/etc/apus"))), ["credentials", "simulator.pem"])
        self._check_kept()

    # Parts of the steps

    def _check_kept(self):
        for path in ("/etc/apus/credentials/APP_0_APNS_KEY", "/var/lib/apus/registry.db"):
            check(os.path.exists(self._container.path(path)), f"{path} is gone")

    def _await_ready(self, unit):
        def is_ready():
            found = self._container.unit(unit)
            return found["ActiveState"] == "active" and found["StatusText"] == "ready"
        try:
            until(f"ready: {unit}", 60, is_ready)
        except DemoFailure as failure:
            raise DemoFailure(f"{failure}\n{self._container.output(f'systemctl status {unit} || true')}\n"
                              f"{self._container.journal(unit)[-3000:]}") from failure

    @staticmethod
    def _token(number):
        return f"{number:064x}"

    def _version(self):
        return self._container.output("dpkg-query --show --showformat='${Version}' apus")

    def _debian(self):
        return self._container.output(". /etc/os-release; echo $PRETTY_NAME, $(systemctl --version | head -n 1)")

    def _registry(self):
        """The devices that the registry holds."""
        return self._container.output(AS_SERVICE + "device list --json --show-token")

    def _await_reached_again(self):
        """An event for each device, and its push."""
        until("the record has come to its end", 60, lambda: len(self._reached()) == EVENTS)
        self._record_offset = os.path.getsize(self._record)
        self._publish()
        until("all devices reached again", 60, lambda: len(self._reached()) == EVENTS)

    def _reached(self):
        tokens = set()
        with open(self._record, encoding="utf-8") as file:
            file.seek(self._record_offset)
            for line in file:
                # The last line may not be whole yet.
                if line.endswith("\n"):
                    push = json.loads(line)
                    if push["status"] == 200:
                        tokens.add(push["token"])
        return tokens

    @staticmethod
    def _get(port, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def _read(self, name):
        with open(self._container.path(name), encoding="utf-8") as file:
            return file.read()

    def _pack_next_revision(self):
        """The same package with a higher version, and with another default configuration."""
        tree = os.path.join(self._folder, "next")
        run(["dpkg-deb", "--raw-extract", self._package, tree], self._folder)
        with open(f"{tree}/DEBIAN/control", encoding="utf-8") as file:
            control = file.read()
        self._next_revision = self._version()[:-1] + "2"
        lines = [f"Version: {self._next_revision}" if line.startswith("Version: ") else line
                 for line in control.splitlines()]
        with open(f"{tree}/DEBIAN/control", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        with open(f"{tree}/etc/apus/apus.toml", "a", encoding="utf-8") as file:
            file.write("# of the next revision\n")
        run(["dpkg-deb", "--root-owner-group", "--build", tree, os.path.join(self._folder, "next.deb")], self._folder)
        self._container.copy(os.path.join(self._folder, "next.deb"), "/next.deb")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", required=True, help="the package")
    parser.add_argument("--root", required=True, help="a fresh Debian with systemd, as a tar file")
    parser.add_argument("--next-package", help="the package of the next Debian, to which this one is upgraded")
    parser.add_argument("--next-archives", help="a tar file with what apt needs for that")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="apus-package-")
    started = time.monotonic()
    life = PackageCheck(options, folder)
    try:
        life.run()
    except (DemoFailure, subprocess.SubprocessError) as failure:
        say(f"FAILED: {failure}")
        return 1
    finally:
        life.end()
        if options.keep:
            say(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    say(f"installed, run, upgraded, removed and purged in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
