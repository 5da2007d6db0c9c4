"""The MIDI inputs of a session: which are open, and what happens when one is plugged in or out."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Callable, Sequence

from engine.errors import EngineError
from engine.live.errors import MissingPart, PortError
from engine.live.midi.choice import best
from engine.live.midi.way import CLIENT, Port, Way, is_ours
from engine.live.player import Player
from engine.live.thread.memory import INLETS
from engine.preset.complaints import shown

FIRST = 3  # the inlets before are the session's own
THROUGH = "midi through"  # ALSA's loop, in which every other program may be heard
TRIES = 20  # ticks in which a port may be refused: one just plugged in needs a moment
REST = 8  # ticks between the end of JACK's server and the first look for another, and
LONG_REST = 40  # between further ones

PortKey = tuple[str, int]  # a port's name and its number among those of that name
VIRTUAL: PortKey = (CLIENT, -1)


class Inputs:
    """Every input, or those whose names contain one of the fragments `wanted`; or one of our own, if `virtual`.

    All of them may come later; what is waited for is said, with what there is instead, since it may be a slip.
    Who plays into the virtual one is often seen as an input too: only what is also wanted by name is opened beside it.
    """

    def __init__(
        self,
        player: Player,
        wanted: Sequence[str] | None,
        virtual: bool,
        say: Callable[[str], None],
        find: Callable[[], Way] = best,
        first: int = FIRST,
    ) -> None:
        self._player, self._wanted, self._virtual, self._say, self._find = player, wanted, virtual, say, find
        self._free = set(range(first, INLETS))
        self._open: dict[PortKey, tuple[Port, int]] = {}  # with their inlets
        self._listed: Counter[str] = Counter()  # when last looked
        self._refused: Counter[PortKey] = Counter()
        self._complaint = ""
        self._rest = LONG_REST
        self._way: Way | None = None
        atexit.register(self.close)  # drivers write into the player's memory: it must not go first
        player.let_go(first)  # holds nothing yet: so that it is compiled when it matters
        try:
            self._way = find()
            self._begin(self._way)
        except EngineError as error:
            self.close()
            if wanted or virtual or not isinstance(error, MissingPart):
                raise
            say(str(error))

    def _begin(self, way: Way) -> None:
        names = [name for name in way.names() if not is_ours(name)]
        for fragment in self._wanted or ():
            if not any(fragment.lower() in name.lower() for name in names):
                there = f"there are: {', '.join(names)}" if names else "there is none at all"
                self._say(f"MIDI: waiting for an input with {shown(fragment)} in its name; {there}")
        for error in self._follow(way):
            if self._wanted or self._virtual:
                raise error
            self._say(str(error))

    @property
    def names(self) -> list[str]:
        """The open inputs."""
        return [port.name for port, _ in self._open.values()]

    @property
    def title(self) -> str:
        """How they come in."""
        return self._way.title if self._way else "no MIDI"

    def tick(self, may_begin: bool = True) -> None:
        """Look for what has changed: some four times a second, from the main thread, at once if the sound has stopped.

        JACK's library allows no new client beside one of a server that is gone. So nobody may open the sound again
        before a tick has closed the inputs, and `may_begin` is False while the sound is neither well nor closed.
        """
        try:
            if self._way and not self._way.alive:
                self._say("MIDI: JACK's server is gone; waiting for it")
                self._end()
                self._rest = REST
            elif self._way:
                for error in self._follow(self._way):
                    self._say(str(error))
            elif may_begin:
                self._find_again()
        except EngineError as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                self._say(self._complaint)

    def _find_again(self) -> None:
        self._rest -= 1
        if self._rest == 0:
            self._rest = LONG_REST
            try:
                self._way = self._find()
            except EngineError:
                return  # that has been said
            self.tick()

    def _follow(self, way: Way) -> list[PortError]:
        """Close what has gone, open what has come, and return what could not be opened and was not known yet."""
        listed = Counter(name for name in way.names() if self._is_wanted(name))
        for key, (port, _) in list(self._open.items()):
            # Ports of one name cannot be told apart: if their number changes, any of them may have gone.
            if not port.alive or (key != VIRTUAL and listed[key[0]] != self._listed[key[0]]):
                self._drop(key)
                self._say(f"MIDI: {port.name} is gone")
        self._listed = listed
        there = [(name, number) for name, count in listed.items() for number in range(count)]
        if self._virtual:
            there.insert(0, VIRTUAL)
        for key in [key for key in self._refused if key not in there]:
            del self._refused[key]
        return [error for key in there if key not in self._open and (error := self._add(way, key))]

    def _is_wanted(self, name: str) -> bool:
        if is_ours(name):
            return False
        if self._wanted:
            return any(fragment.lower() in name.lower() for fragment in self._wanted)
        return THROUGH not in name.lower() and not self._virtual

    def _add(self, way: Way, key: PortKey) -> PortError | None:
        if self._refused[key] == TRIES:
            return None
        name, number = key
        try:
            if not self._free:
                raise PortError(f"MIDI input {name} is one too many: {len(self._open)} are open; choose some by --midi")
            inlet = min(self._free)
            address = self._player.inlet(inlet)
            port = way.open_virtual(name, address) if key == VIRTUAL else way.open(name, address, number)
        except PortError as error:
            self._refused[key] += 1
            return error if self._refused[key] == 1 else None
        del self._refused[key]
        self._free.remove(inlet)
        self._open[key] = port, inlet
        self._say(f"MIDI: {name}")
        return None

    def _drop(self, key: PortKey) -> None:
        port, inlet = self._open.pop(key)
        port.close()
        self._player.let_go(inlet)
        self._free.add(inlet)
        self._refused.clear()  # there is room again

    def pause(self) -> None:
        """Close everything for now; a later tick looks again."""
        self.close()
        self._rest = REST

    def close(self) -> None:
        """End all notes that the inputs hold, and close them."""
        atexit.unregister(self.close)
        self._end()

    def _end(self) -> None:
        for key in list(self._open):
            self._drop(key)
        if self._way:
            self._way.close()
        self._way = None
        self._listed.clear()
