"""Starts programs of an image as far as that goes without an engine: in a read-only root folder and a mount namespace of
their own, without privileges, with volumes. The processes and the network are those of this machine.
"""

import os
import shlex
import subprocess

from processes import Process, run

# The user of the image, and where it starts.
UNPRIVILEGED = 65532
WORKING_FOLDER = "/etc/apus"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


class Container:
    """A root folder with volumes, in which the command of the image can be started."""

    def __init__(self, root, folder, volumes, prefix=(), environment=None):
        """The volumes are `{path in the container: (path here, "ro" or "rw")}`; logs go to `folder`.

        The prefix is words before each command, for example to enter another network.
        """
        self._folder = folder
        self._environment = ENVIRONMENT | (environment or {})
        self._processes = []
        self._prefix = list(prefix)
        self._script = " && ".join(self._mounts(root, volumes) + [
            "exec setpriv --no-new-privs --clear-groups unshare "
            f"--root={shlex.quote(root)} --wd={WORKING_FOLDER} --setgid={UNPRIVILEGED} --setuid={UNPRIVILEGED} \"$@\""])

    def run(self, *arguments, text=None):
        """Runs a command to its end and returns what it printed; fails if it fails."""
        if text is None:
            return run(self._command(arguments), self._folder, self._environment)
        path = os.path.join(self._folder, "input")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return run(["sh", "-c", 'exec "$@" < input', "sh", *self._command(arguments)], self._folder, self._environment)

    def status(self, *arguments):
        """Runs a command to its end and returns its exit status."""
        return subprocess.run(
            self._command(arguments), cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False).returncode

    def start(self, name, *arguments):
        """Starts a command, which ends with `close` at the latest."""
        process = Process(name, self._command(arguments), self._folder, self._environment)
        self._processes.append(process)
        return process

    def close(self):
        """Ends whatever still runs."""
        for process in self._processes:
            process.kill()

    def _command(self, arguments):
        # The shell becomes the program, so that signals reach it.
        return [*self._prefix, "unshare", "--mount", "--propagation=private", "sh", "-c", self._script, "sh",
                "/usr/bin/apus", *arguments]

    @staticmethod
    def _mounts(root, volumes):
        """The commands that make the view of the container; what they need in the root is made first."""
        for folder in ("proc", "dev", "tmp"):
            os.makedirs(f"{root}/{folder}", exist_ok=True)
        mounts = [f"mount --bind {shlex.quote(root)} {shlex.quote(root)}"]
        for target, (source, _) in volumes.items():
            if os.path.isdir(source):
                os.makedirs(root + target, exist_ok=True)
            elif not os.path.exists(root + target):
                os.makedirs(os.path.dirname(root + target), exist_ok=True)
                os.close(os.open(root + target, os.O_CREAT))
        mounts += [f"mount -o remount,bind,ro {shlex.quote(root)}",
                   f"mount -t proc proc {shlex.quote(root)}/proc",
                   f"mount --rbind /dev {shlex.quote(root)}/dev",
                   f"mount -t tmpfs -o mode=1777 tmpfs {shlex.quote(root)}/tmp"]
        for target, (source, mode) in volumes.items():
            path = shlex.quote(root + target)
            mounts += [f"mount --bind {shlex.quote(source)} {path}", f"mount -o remount,bind,{mode} {path}"]
        return mounts
