"""python-rtmidi without its callback: messages wait in RtMidi's own queue until a thread of ours comes for them.

A callback of Python's would make the driver's thread wait for the interpreter, and on JACK lose notes by it.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import now
from engine.live.errors import MissingPart, PortError
from engine.live.midi.poller import Poller, hand_on, warm
from engine.live.midi.through_rtmidi import ThroughRtMidi
from engine.synth.ring import NEVER

INTERVAL = 0.001  # seconds
QUEUE = 16384  # messages: a MIDI cable's for ten seconds


def polled() -> ThroughRtMidi:
    """This way in; MissingPart or PortError if it is not there."""
    try:
        import rtmidi
    except ImportError as error:
        raise MissingPart("python-rtmidi is not installed (pip install python-rtmidi)") from error
    poller = Poller(INTERVAL)

    def make(api: str, client: str) -> QueueHandle:
        return QueueHandle(rtmidi, api, client, poller)

    return ThroughRtMidi("python-rtmidi, asked every millisecond", make, rtmidi._rtmidi.__file__)


class QueueHandle:
    """One of python-rtmidi's inputs (through_rtmidi.Handle, poller.Source)."""

    def __init__(self, rtmidi: Any, api: str, client: str, poller: Poller) -> None:
        self.alive = True
        self._failure, self._poller = rtmidi.RtMidiError, poller
        number = getattr(rtmidi, f"API_{api}")
        if number not in rtmidi.get_compiled_api():
            raise PortError(f"python-rtmidi was built without {api}")
        try:
            self._midi = rtmidi.MidiIn(number, client, QUEUE)
        except self._failure as error:
            raise PortError(f"{api} does not work here") from error
        self._inlet, self._last, self._empty = 0, NEVER, 0

    def ports(self) -> list[str]:
        try:
            return [str(name) for name in self._midi.get_ports()]
        except self._failure as error:
            raise PortError(f"MIDI: {error}") from error

    def open(self, port: int, inlet: int) -> None:
        self._fill(inlet, lambda: self._midi.open_port(port, "in"))

    def open_virtual(self, name: str, inlet: int) -> None:
        self._fill(inlet, lambda: self._midi.open_virtual_port(name))

    def _fill(self, inlet: int, opening: Any) -> None:
        # Clock and active sensing are taken, to be dropped by us: the time since the last message is that since
        # whatever RtMidi saw last.
        self._midi.ignore_types(sysex=False, timing=False, active_sense=False)
        try:
            opening()
        except self._failure as error:
            raise PortError(f"MIDI: {error}") from error
        self._inlet, self._empty = inlet, now()
        warm(inlet)
        self._poller.add(self)

    def drain(self) -> None:
        """Hand on what waits, stamped with when it came.

        RtMidi knows how long after the last message each came, and it did not come before the queue was last seen
        empty: the interpreter may be late, but not the stamps.
        """
        while True:
            asked = now()
            got = self._midi.get_message()
            if got is None:
                self._empty = asked
                return
            message, since = got
            self._last = min(max(self._last + int(1e9 * since), self._empty), now())
            hand_on(self._inlet, self._last, message)

    def close(self) -> None:
        self._poller.remove(self)
        self._midi.close_port()
        self._midi.delete()
