"""What a way in is: something that lists the system's MIDI inputs and lets one of them fill an inlet of the player.

There are three, the better first: RtMidi's C library calls compiled code from its own thread (native); python-rtmidi
keeps messages in a queue that a thread of ours empties (polled); any other backend of mido's is polled, too.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Protocol

CLIENT = "jawari"  # as other programs see us, followed by what for
RTMIDI = "mido.backends.rtmidi"

# What RtMidi can be built for, by the names that mido gives them; the numbers are RtMidi's.
API_NUMBERS = {"MACOSX_CORE": 1, "LINUX_ALSA": 2, "UNIX_JACK": 3, "WINDOWS_MM": 4}
JACK, WINDOWS = "UNIX_JACK", "WINDOWS_MM"
APIS_HERE = {"darwin": ("MACOSX_CORE", JACK), "win32": (WINDOWS,)}.get(sys.platform, ("LINUX_ALSA", JACK))


class Port(Protocol):
    """An open input."""

    @property
    def name(self) -> str: ...

    @property
    def alive(self) -> bool:
        """False if the port failed by itself; it is to be closed then."""

    def close(self) -> None:
        """After this nothing comes into the inlet any more."""


class Way(Protocol):
    """A way in. Names may repeat: `number` tells the ports of one name apart. What fails is a PortError."""

    title: str

    @property
    def alive(self) -> bool:
        """False if what lies behind is gone: close the ports and this, and look for a way anew."""

    def names(self) -> list[str]: ...

    def open(self, name: str, inlet: int, number: int = 0) -> Port:
        """Let the port fill the inlet at this address."""

    def open_virtual(self, name: str, inlet: int) -> Port:
        """Make a port that other programs can play into."""

    def close(self) -> None: ...


def backend_asked_for() -> tuple[str, str | None]:
    """MIDO_BACKEND, as mido reads it: a module, and behind a slash which of the system's APIs it is to use."""
    module, _, api = os.environ.get("MIDO_BACKEND", "").partition("/")
    return module or RTMIDI, api or None


def is_ours(name: str) -> bool:
    """Whether a port is one of our own: to listen to oneself is a loop."""
    return re.match(rf"{CLIENT}(-\w+)*:", name) is not None
