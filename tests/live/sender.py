"""A MIDI client of JACK as a program: sender.py CLIENT PORT, a port of its own or "to " and part of another's name.

Reads lines of [seconds between messages, [bytes, ...]] and answers when it sent each (ns of the monotonic clock, as
`now`). It plays through python-rtmidi, or through RtMidi's C library where the interpreter is too new for its wheels.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

JACK = 3  # RTMIDI_API_UNIX_JACK of the C library


class LibraryOut:
    """What of python-rtmidi's MidiOut is needed here, by the C library."""

    def __init__(self, client: str) -> None:
        self._library = library = ctypes.CDLL(ctypes.util.find_library("rtmidi") or "librtmidi.so.6")
        library.rtmidi_out_create.restype = ctypes.c_void_p
        self._device = ctypes.c_void_p(library.rtmidi_out_create(JACK, client.encode()))

    def get_ports(self) -> list[str]:
        library, found = self._library, []
        for port in range(library.rtmidi_get_port_count(self._device)):
            text, size = ctypes.create_string_buffer(512), ctypes.c_int(512)
            library.rtmidi_get_port_name(self._device, port, text, ctypes.byref(size))
            found.append(text.value.decode())
        return found

    def open_port(self, port: int) -> None:
        self._library.rtmidi_open_port(self._device, port, b"out")

    def open_virtual_port(self, name: str) -> None:
        self._library.rtmidi_open_virtual_port(self._device, name.encode())

    def send_message(self, message: Sequence[int]) -> None:
        self._library.rtmidi_out_send_message(self._device, bytes(message), len(message))


def output(client: str) -> Any:
    try:
        import rtmidi
    except ImportError:
        return LibraryOut(client)
    return rtmidi.MidiOut(rtmidi.API_UNIX_JACK, name=client)


def main(client: str, name: str) -> None:
    out = output(client)
    if name.startswith("to "):
        out.open_port([name[3:] in port for port in out.get_ports()].index(True))
    else:
        out.open_virtual_port(name)
    print("ready", flush=True)
    for line in sys.stdin:
        gap, messages = json.loads(line)
        sent = []
        for message in messages:
            sent.append(time.monotonic_ns())
            out.send_message(message)
            time.sleep(gap)
        print(json.dumps(sent), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
