"""Stops one thread of a process, as a hang would, while the others run on."""

import ctypes
import os

from processes import DemoFailure

PTRACE_SEIZE = 0x4206
PTRACE_INTERRUPT = 0x4207
PTRACE_DETACH = 17
WALL = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


class StoppedThread:
    """A thread that stands still from the beginning of the block to its end, or to the end of its process."""

    def __init__(self, pid, name):
        self._thread = self._find(pid, name)

    @staticmethod
    def _find(pid, name):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8") as file:
                if file.read().strip() == name:
                    return int(thread)
        raise DemoFailure(f"process {pid} has no thread '{name}'")

    def __enter__(self):
        for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
            if LIBC.ptrace(request, self._thread, None, None) != 0:
                raise DemoFailure(f"ptrace({request:#x}) of thread {self._thread}: {os.strerror(ctypes.get_errno())}")
        os.waitpid(self._thread, WALL)
        return self

    def has_ended(self):
        """Whether the process was ended meanwhile, which is over only when this thread has been collected here."""
        thread, status = os.waitpid(self._thread, WALL | os.WNOHANG)
        return thread != 0 and (os.WIFSIGNALED(status) or os.WIFEXITED(status))

    def __exit__(self, *_):
        # Refused if the process has ended, which is what the block waits for.
        LIBC.ptrace(PTRACE_DETACH, self._thread, None, None)
