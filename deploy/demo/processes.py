"""Processes that end with the demo, however it ends, each with a log file of its own."""

import ctypes
import os
import random
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class DemoFailure(Exception):
    """Something that the demo needs did not work; the text says what, and what to look at."""


# Below the ports that the system gives to clients' connections, which could take one before its server has started.
SERVER_PORTS = range(10_000, 32_768)


def free_ports(count):
    """Different TCP ports of 127.0.0.1 that nobody listens on."""
    sockets = []
    try:
        for port in random.sample(SERVER_PORTS, len(SERVER_PORTS)):
            if len(sockets) == count:
                break
            entry = socket.socket()
            try:
                entry.bind(("127.0.0.1", port))
                sockets.append(entry)
            except OSError:
                entry.close()
        return [entry.getsockname()[1] for entry in sockets]
    finally:
        for entry in sockets:
            entry.close()


def wait_until(condition, seconds, process, what):
    """Polls a condition; fails when the process has ended or the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if not process.is_running:
            raise DemoFailure(f"{process.name} ended with status {process.status} before {what}\n{process.log_tail()}")
        if time.monotonic() > deadline:
            raise DemoFailure(f"{process.name}: not {what} within {seconds} s\n{process.log_tail()}")
        time.sleep(0.05)


class Process:
    """One child, whose output goes to a file and which the kernel kills when the demo dies."""

    def __init__(self, name, arguments, folder, environment=None):
        self.name = name
        self.log_path = os.path.join(folder, f"{name}.log")
        self._log = open(self.log_path, "ab")
        self._child = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
        )

    @property
    def pid(self):
        return self._child.pid

    @property
    def status(self):
        return self._child.poll()

    @property
    def is_running(self):
        return self._child.poll() is None

    def log(self):
        """All that it has printed so far."""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def log_tail(self, count=15):
        """The last lines, with the place of the file."""
        lines = self.log().splitlines()[-count:]
        return f"--- the last lines of {self.log_path}:\n" + "\n".join(lines)

    def stop(self, seconds, first=signal.SIGTERM):
        """Asks it to end, waits, and kills it if it does not; returns its exit status."""
        if self.is_running:
            self._child.send_signal(first)
            try:
                self._child.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
        self._log.close()
        return self._child.returncode

    def kill(self):
        """SIGKILL, and waits until it is gone."""
        if self.is_running:
            self._child.kill()
        self._child.wait()


def run(arguments, folder, environment=None, seconds=120):
    """Runs a command to its end and returns what it printed; fails with its output if it fails."""
    result = subprocess.run(
        arguments,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=seconds,
        text=True,
        errors="replace",
    )
    if result.returncode != 0:
        tail = "\n".join((result.stdout + result.stderr).splitlines()[-15:])
        raise DemoFailure(f"'{' '.join(arguments)}' ended with status {result.returncode}:\n{tail}")
    return result.stdout
