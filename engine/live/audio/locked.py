"""Memory that stays where it is: what the audio thread uses must not be paged out while the machine is short of it."""

from __future__ import annotations

import ctypes
import os
import sys

CURRENT, FUTURE, ON_FAULT = 1, 2, 4  # of sys/mman.h on Linux: what is there, what will be, each once it is touched
REMEDY = "ulimit -l unlimited, or membership in the group of audio users, would allow it"


def lock_memory() -> str:
    """Keep all that this program touches in memory; "" or, where the system does not allow it, why not."""
    if sys.platform != "linux":
        return "memory is not locked: this system has no way to do so"
    import resource

    # Below a limit, memory that is asked for later would be refused: locking would do harm.
    if os.geteuid() != 0 and resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY:
        return f"memory is not locked: the system sets a limit; {REMEDY}"
    if ctypes.CDLL(None).mlockall(CURRENT | FUTURE | ON_FAULT):
        return f"memory is not locked: the system does not permit it; {REMEDY}"
    return ""
