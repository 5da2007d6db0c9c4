"""A backend of mido's, for the tests: like pygame's it has a queue and no callback, and it plays through JACK."""

from __future__ import annotations

from typing import Any

import rtmidi
from mido.ports import BaseInput


def get_devices(**options: Any) -> list[dict[str, Any]]:
    device = rtmidi.MidiIn(rtmidi.API_UNIX_JACK, "lister")
    names = device.get_ports()
    device.delete()
    return [{"name": name, "is_input": True, "is_output": False} for name in names]


class Input(BaseInput):
    def _open(self, virtual: bool = False, callback: Any = None, **options: Any) -> None:
        place = None if virtual else [device["name"] for device in get_devices()].index(self.name)
        self._midi = rtmidi.MidiIn(rtmidi.API_UNIX_JACK, "backend", 4096)
        if place is None:
            self._midi.open_virtual_port(self.name)
        else:
            self._midi.open_port(place)

    def _receive(self, block: bool = True) -> None:
        while got := self._midi.get_message():
            self._parser.feed(got[0])

    def _close(self) -> None:
        self._midi.close_port()
        self._midi.delete()
