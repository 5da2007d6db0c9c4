"""Notices that the JACK server is gone.

RtMidi does not: it goes on listing the ports of a dead server. And libjack frees all clients of a dead server as soon
as somebody in the process opens a new one, so that whoever closes an old one after that crashes: the old ones must be
closed first, and for that one has to know.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from threading import Thread

from engine.live.errors import PortError

DO_NOT_START = 1  # JackNoStartServer
PATIENCE, LONG = 1.0, 15.0  # s for which a client of a dead server, and of a living one, may take to close


class JackWatch:
    """A client that does nothing but outlive the server. `library` is one that uses libjack, or libjack itself."""

    stuck = False  # libjack hangs, in one of our threads: it must not be called again

    def __init__(self, library: ctypes.CDLL, name: str) -> None:
        if JackWatch.stuck:
            raise PortError("JACK's library hangs since the server went away; start jawari again")
        self._died, self._library, self._client = ctypes.c_int64(0), library, None
        if not hasattr(library, "jack_client_open"):
            return  # hidden somewhere: then nobody notices
        address, text = ctypes.c_void_p, ctypes.c_char_p
        library.jack_client_open.argtypes, library.jack_client_open.restype = [text, ctypes.c_int, address], address
        library.jack_client_close.argtypes = [address]
        library.jack_on_shutdown.argtypes = [address, address, address]
        library.jack_set_error_function.argtypes = library.jack_set_info_function.argtypes = [address]
        libc = ctypes.CDLL(None)
        # What libjack has to say it says at any time, from its own threads: let it talk to one who does not listen.
        for speak in (library.jack_set_error_function, library.jack_set_info_function):
            speak(ctypes.cast(libc.getpid, ctypes.c_void_p))
        self._client = library.jack_client_open(name.encode(), DO_NOT_START, None)
        if not self._client:
            raise PortError("JACK's server is not running")
        # And let time(address) write there when the server dies: no interpreter is needed in libjack's thread.
        time = ctypes.cast(libc.time, ctypes.c_void_p)
        library.jack_on_shutdown(self._client, time, ctypes.addressof(self._died))

    @property
    def alive(self) -> bool:
        return self._died.value == 0

    def close(self) -> None:
        client, self._client = self._client, None
        if client:
            self.see_off(lambda: self._library.jack_client_close(client))

    def see_off(self, close: Callable[[], None]) -> None:
        """Close a client. It may hang in it for ever, but not the program.

        That of a dead server does (jack2, issue 395); once in a while, one that is told something at that very moment.
        """
        thread = Thread(target=close, daemon=True)
        thread.start()
        thread.join(LONG if self.alive else PATIENCE)
        JackWatch.stuck |= thread.is_alive()
