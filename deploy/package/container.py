"""A fresh Debian in a folder, booted with a systemd of its own."""

import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "demo"))
from processes import DemoFailure, Process, wait_until  # noqa: E402

BOOT_SECONDS = 60


class Container:
    """The Debian; its services share the network of this process, which is a loopback of its own."""

    def __init__(self, archive, folder):
        self.root = os.path.join(folder, "root")
        self._folder = folder
        self._nspawn = None
        self._leader = None
        os.makedirs(self.root)
        subprocess.run(["tar", "--extract", "--file", archive, "--directory", self.root], check=True)

    def boot(self):
        """Starts systemd as process 1 of the container, and waits until it has started its units."""
        self._nspawn = Process(
            "systemd-nspawn",
            ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--console=pipe",
             f"--machine=apus-check-{os.getpid()}", f"--directory={self.root}"],
            self._folder)
        wait_until(self._is_running, BOOT_SECONDS, self._nspawn, "booted")

    def _is_running(self):
        children = subprocess.run(
            ["ps", "--ppid", str(self._nspawn.pid), "-o", "pid="], stdout=subprocess.PIPE, text=True).stdout.split()
        if not children:
            return False
        self._leader = int(children[0])
        return self.run("systemctl is-system-running", check=False).stdout.strip() in ("running", "degraded")

    def run(self, script, check=True, seconds=300):
        """Runs a script of sh in the container; fails with its output if it fails."""
        result = subprocess.run(
            ["nsenter", "--target", str(self._leader), "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--root",
             "--wd", "/bin/sh", "-c", script],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8",
                 "TERM": "dumb", "SYSTEMD_PAGER": ""},
            timeout=seconds)
        if check and result.returncode != 0:
            raise DemoFailure(f"in the container: '{script}' ended with status {result.returncode}:\n{result.stdout}")
        return result

    def output(self, script):
        """What a script prints, without the last line end."""
        return self.run(script).stdout.strip()

    def unit(self, name):
        """The properties of a unit of systemd."""
        lines = self.output(f"systemctl show '{name}'").splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def journal(self, name):
        """The messages of a unit."""
        lines = self.output(f"journalctl --unit='{name}' --output=json --no-pager").splitlines()
        return "\n".join(str(json.loads(line).get("MESSAGE")) for line in lines if line.startswith("{"))

    def path(self, name):
        """Where a path of the container is outside of it."""
        return os.path.join(self.root, name.lstrip("/"))

    def write(self, name, text, mode=0o644):
        """Writes a file."""
        with open(self.path(name), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)

    def copy(self, source, name):
        """Copies a file into the container."""
        shutil.copyfile(source, self.path(name))

    def outside_pid(self, pid):
        """The number that a process of the container has outside of it."""
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/status", encoding="ascii", errors="replace") as file:
                    numbers = next((line.split()[1:] for line in file if line.startswith("NSpid:")), [])
                    same = os.readlink(f"/proc/{entry}/ns/pid") == os.readlink(f"/proc/{self._leader}/ns/pid")
            except OSError:
                continue
            if same and len(numbers) > 1 and numbers[-1] == str(pid):
                return int(entry)
        raise DemoFailure(f"no process {pid} in the container")

    def stop(self):
        """Ends the container with everything in it: SIGTERM asks its systemd to halt."""
        if self._nspawn is not None:
            self._nspawn.stop(30)
