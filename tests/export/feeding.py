"""A client of JACK in a process of its own: plays events to another client on their frames, keeps what comes back.

    python feeding.py OWN_NAME OTHER_NAME EVENTS FRAMES RESULT

EVENTS is JSON: [[frame, [bytes]], ...]. The result is sound, [frames and some periods, 2], and how long a period is.
JACK's library is called by its own functions, as jack.h declares them; the server is not bound to time meanwhile.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import sys
import threading
import time
from typing import Any

import numpy as np

MIDI, AUDIO = b"8 bit raw midi", b"32 bit float mono audio"
INPUT, OUTPUT = 1, 2
NO_START, EXACT_NAME = 1, 2
Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p)


def jack() -> Any:
    found = ctypes.CDLL(ctypes.util.find_library("jack"))
    place, number = ctypes.c_void_p, ctypes.c_uint32
    for name, result, *given in (
        ("client_open", place, ctypes.c_char_p, ctypes.c_int, place),
        ("port_register", place, place, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong),
        ("port_get_buffer", place, place, number),
        ("port_name", ctypes.c_char_p, place),
        ("midi_clear_buffer", None, place),
        ("midi_event_write", ctypes.c_int, place, number, ctypes.c_char_p, ctypes.c_size_t),
        ("set_process_callback", ctypes.c_int, place, Callback, place),
        ("activate", ctypes.c_int, place),
        ("deactivate", ctypes.c_int, place),
        ("client_close", ctypes.c_int, place),
        ("connect", ctypes.c_int, place, ctypes.c_char_p, ctypes.c_char_p),
        ("set_freewheel", ctypes.c_int, place, ctypes.c_int),
        ("get_buffer_size", number, place),
    ):
        function = getattr(found, f"jack_{name}")
        function.restype, function.argtypes = result, given
    return found


def main(own: str, other: str, events: str, frames: str, result: str) -> None:
    with open(events, encoding="utf-8") as file:
        left = [(at, bytes(data)) for at, data in json.load(file)]
    j, last, heard, now = jack(), int(frames), [], 0
    client = j.jack_client_open(own.encode(), NO_START | EXACT_NAME, None)
    assert client, "there is no server"
    period = j.jack_get_buffer_size(client)
    midi = j.jack_port_register(client, b"midi", MIDI, OUTPUT, 0)
    ears = [j.jack_port_register(client, side, AUDIO, INPUT, 0) for side in (b"left", b"right")]
    begun, done = threading.Event(), threading.Event()

    @Callback
    def process(count: int, _: object) -> int:
        nonlocal now
        there = j.jack_port_get_buffer(midi, count)
        j.jack_midi_clear_buffer(there)
        if not begun.is_set() or done.is_set():
            return 0
        both = [ctypes.cast(j.jack_port_get_buffer(ear, count), ctypes.POINTER(ctypes.c_float)) for ear in ears]
        heard.append(np.stack([np.ctypeslib.as_array(side, (count,)).copy() for side in both], 1))
        while left and left[0][0] < now + count:
            at, data = left.pop(0)
            assert j.jack_midi_event_write(there, at - now, data, len(data)) == 0
        now += count
        if now >= last + 4 * count:
            done.set()
        return 0

    j.jack_set_process_callback(client, process, None)
    assert j.jack_activate(client) == 0
    ports = [j.jack_port_name(port) for port in (midi, *ears)]
    assert j.jack_connect(client, ports[0], f"{other}:events".encode()) == 0
    for side, port in zip((b"left", b"right"), ports[1:]):
        assert j.jack_connect(client, other.encode() + b":" + side, port) == 0
    assert j.jack_set_freewheel(client, 1) == 0
    time.sleep(0.2)  # until all of it is in its place
    begun.set()
    assert done.wait(120.0), "nothing is played"
    j.jack_set_freewheel(client, 0)
    j.jack_deactivate(client)
    j.jack_client_close(client)
    np.savez(result, sound=np.concatenate(heard), period=period)


if __name__ == "__main__":
    main(*sys.argv[1:])
