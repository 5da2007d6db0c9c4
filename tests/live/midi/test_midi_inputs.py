"""Which inputs are open, whatever is plugged in and out: against a way in that a test decides about."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live.midi_playing import forget, held_after, packed, waiting

from engine.live.errors import MissingPart, PortError
from engine.live.midi import inputs as module
from engine.live.midi.inputs import FIRST, LONG_REST, REST, TRIES, Inputs
from engine.live.player import Player
from engine.live.thread.inlet import send
from engine.live.thread.memory import INLETS

PLAYER = Player(48_000, 128)


class Port:
    def __init__(self, name: str, number: int, inlet: int, way: World) -> None:
        self.name, self.number, self.inlet, self.way, self.alive = name, number, inlet, way, True
        way.open_ports.append(self)

    def play(self, *message: int) -> None:
        send(self.inlet, 0, packed(message))

    def close(self) -> None:
        self.way.open_ports.remove(self)


class World:
    """What is plugged in, as a way in."""

    title = "the test's"

    def __init__(self, *plugged: str) -> None:
        self.plugged, self.alive, self.closed = list(plugged), True, False
        self.open_ports: list[Port] = []
        self.broken: set[str] = set()
        self.attempts: Counter[str] = Counter()
        self.listing_fails = False

    def names(self) -> list[str]:
        if self.listing_fails:
            raise PortError("MIDI: listing the inputs failed")
        return list(self.plugged)

    def open(self, name: str, inlet: int, number: int = 0) -> Port:
        self.attempts[name] += 1
        if name in self.broken or self.plugged.count(name) <= number:
            raise PortError(f"MIDI input {name} is busy")
        return Port(name, number, inlet, self)

    def open_virtual(self, name: str, inlet: int) -> Port:
        if "virtual" in self.broken:
            raise PortError("no virtual MIDI ports here")
        return Port(name, -1, inlet, self)

    def close(self) -> None:
        assert not self.open_ports
        self.closed = True

    def port(self, name: str) -> Port:
        return next(port for port in self.open_ports if port.name == name)


def session(world: World, wanted: list[str] | None = None, virtual: bool = False) -> tuple[Inputs, list[str]]:
    said: list[str] = []
    for inlet in range(INLETS):
        forget(PLAYER, inlet)
    return Inputs(PLAYER, wanted, virtual, said.append, lambda: world), said


# --- which ------------------------------------------------------------------------------------------------------------


def test_all_are_opened_but_loops() -> None:
    world = World("Keystation:in 20:0", "Midi Through:Midi Through Port-0 14:0", "jawari-midi:x", "Launchpad 24:0")
    inputs, said = session(world)
    assert inputs.names == ["Keystation:in 20:0", "Launchpad 24:0"]
    assert said == ["MIDI: Keystation:in 20:0", "MIDI: Launchpad 24:0"]
    inputs.close()
    assert world.closed
    assert said[2:] == []


def test_each_has_an_inlet_of_its_own() -> None:
    world = World(*"abc")
    session(world, list("abc"), virtual=True)
    assert [port.inlet for port in world.open_ports] == [PLAYER.inlet(FIRST + i) for i in range(4)]


def test_beside_a_virtual_one_only_what_is_named_is_opened() -> None:
    assert session(World("Keystation"), virtual=True)[0].names == ["jawari"]


@pytest.mark.parametrize("wanted", [["KEYS"], ["tation"], ["keys", "station"]])
def test_a_fragment_is_enough(wanted: list[str]) -> None:
    inputs, _ = session(World("Keystation", "Launchpad"), wanted)
    assert inputs.names == ["Keystation"]


def test_even_a_loop_may_be_asked_for() -> None:
    inputs, _ = session(World("Midi Through", "Launchpad"), ["through"])
    assert inputs.names == ["Midi Through"]


def test_what_is_not_plugged_in_yet_is_waited_for() -> None:
    """In one line, with what there is: a slip should be noticed."""
    world = World("Keystation", "Nord")
    inputs, said = session(world, ["key", "nanoKey"])
    waiting_for = "MIDI: waiting for an input with nanoKey in its name; there are: Keystation, Nord"
    assert (inputs.names, said) == (["Keystation"], [waiting_for, "MIDI: Keystation"])
    for _ in range(3):
        inputs.tick()
    world.plugged.append("nanoKEY2 24:0")
    inputs.tick()
    assert inputs.names == ["Keystation", "nanoKEY2 24:0"]
    assert said[2:] == ["MIDI: nanoKEY2 24:0"]


def test_even_the_first_may_come_later() -> None:
    world = World("jawari-midi:x")
    inputs, said = session(world, ["nano\x1bKey"])
    assert said == ["MIDI: waiting for an input with nano\\x1bKey in its name; there is none at all"]
    world.plugged.append("nano\x1bKey")
    inputs.tick()
    assert inputs.names == ["nano\x1bKey"]


def test_several_fragments_find_several() -> None:
    inputs, _ = session(World("Keystation", "Launchpad", "Nord"), ["key", "pad"])
    assert inputs.names == ["Keystation", "Launchpad"]


def test_what_is_asked_for_must_open_and_nothing_stays_open_otherwise() -> None:
    world = World("Keystation", "Launchpad")
    world.broken = {"Launchpad"}
    with pytest.raises(PortError, match="Launchpad is busy"):
        session(world, ["key", "pad"])
    assert world.closed


def test_what_is_only_there_need_not_open() -> None:
    world = World("Keystation", "Launchpad")
    world.broken = {"Keystation"}
    inputs, said = session(world)
    assert inputs.names == ["Launchpad"]
    assert said == ["MIDI: Launchpad", "MIDI input Keystation is busy"]


def test_a_virtual_port_is_no_input_of_others() -> None:
    inputs, said = session(World("Keystation"), ["key"], virtual=True)
    assert inputs.names == ["jawari", "Keystation"]
    assert said[0] == "MIDI: jawari"


def test_no_virtual_ports_is_an_error() -> None:
    world = World()
    world.broken = {"virtual"}
    with pytest.raises(PortError, match="no virtual"):
        session(world, virtual=True)


def test_without_any_library_one_can_still_play() -> None:
    said: list[str] = []

    def none() -> World:
        raise MissingPart("no MIDI: install something")

    inputs = Inputs(PLAYER, None, False, said.append, none)
    for _ in range(3 * LONG_REST):
        inputs.tick()
    assert (inputs.names, inputs.title, said) == ([], "no MIDI", ["no MIDI: install something"])
    inputs.close()
    for wanted, virtual in ((["key"], False), (None, True)):
        with pytest.raises(MissingPart):
            Inputs(PLAYER, wanted, virtual, said.append, none)


def test_more_ports_than_inlets() -> None:
    world = World(*(f"port {i}" for i in range(INLETS)))
    inputs, said = session(world)
    assert len(inputs.names) == INLETS - FIRST
    assert f"port {INLETS - FIRST} is one too many: {INLETS - FIRST} are open" in said[-3]
    assert "port 31" in said[-1]
    inputs.tick()
    assert len(said) == INLETS
    world.plugged.remove("port 3")
    inputs.tick()
    assert f"port {INLETS - FIRST}" in inputs.names
    assert len(inputs.names) == INLETS - FIRST


# --- in and out -------------------------------------------------------------------------------------------------------


def test_what_leaves_is_let_go_and_its_inlet_used_again() -> None:
    world = World("Keystation")
    inputs, said = session(world)
    port = world.port("Keystation")
    port.play(0x93, 60, 100)
    port.play(0xB3, 64, 127)
    world.plugged.clear()
    inputs.tick()
    messages = [message for _, message in waiting(PLAYER, FIRST)]
    assert not held_after(messages)
    assert packed((0xB3, 64, 0)) in messages
    world.plugged.append("Launchpad")
    inputs.tick()
    assert world.port("Launchpad").inlet == PLAYER.inlet(FIRST)
    assert said == ["MIDI: Keystation", "MIDI: Keystation is gone", "MIDI: Launchpad"]


def test_nothing_is_let_go_while_the_port_may_still_send(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World("Keystation")
    inputs, _ = session(world)
    monkeypatch.setattr(PLAYER, "let_go", lambda inlet: world.open_ports and pytest.fail("it is still open"))
    world.plugged.clear()
    inputs.tick()


def test_twins_are_opened_anew_when_one_leaves() -> None:
    """Nobody can tell which of two equal names it was."""
    world = World("Keystation", "Keystation")
    inputs, _ = session(world)
    assert [(port.name, port.number) for port in world.open_ports] == [("Keystation", 0), ("Keystation", 1)]
    world.plugged.pop()
    inputs.tick()
    assert [(port.name, port.number) for port in world.open_ports] == [("Keystation", 0)]
    assert world.attempts["Keystation"] == 3


def test_a_port_that_failed_by_itself_is_opened_again() -> None:
    world = World("Keystation")
    inputs, _ = session(world)
    world.port("Keystation").play(0x90, 60, 100)
    world.port("Keystation").alive = False
    inputs.tick()
    assert world.port("Keystation").alive
    assert not held_after([message for _, message in waiting(PLAYER, FIRST)])


def test_a_port_may_take_a_moment_but_not_for_ever() -> None:
    world = World("Keystation")
    world.broken = {"Keystation"}
    inputs, said = session(world)
    inputs.tick()
    world.broken.clear()
    inputs.tick()
    assert said == ["MIDI input Keystation is busy", "MIDI: Keystation"]
    world.plugged.append("Launchpad")
    world.broken = {"Launchpad"}
    for _ in range(20):
        inputs.tick()
    assert world.attempts["Launchpad"] == TRIES
    world.plugged.remove("Launchpad")
    inputs.tick()
    world.plugged.append("Launchpad")  # again
    world.broken.clear()
    inputs.tick()
    assert inputs.names == ["Keystation", "Launchpad"]


def test_a_listing_that_fails_is_told_once() -> None:
    world = World("Keystation")
    inputs, said = session(world)
    world.listing_fails = True
    for _ in range(5):
        inputs.tick()
    assert inputs.names == ["Keystation"]
    assert said[1:] == ["MIDI: listing the inputs failed"]


@given(st.lists(st.lists(st.sampled_from(["a", "b", "b", "c", "jawari-in:x"]), max_size=6), max_size=12))
def test_what_is_open_is_what_is_plugged_in(times: list[list[str]]) -> None:
    world = World()
    inputs, _ = session(world)
    for plugged in times:
        world.plugged = plugged
        inputs.tick()
        there = Counter(name for name in plugged if name != "jawari-in:x")
        assert Counter(inputs.names) == there
        numbers = {(port.name, port.number) for port in world.open_ports}
        assert numbers == {(name, i) for name, count in there.items() for i in range(count)}
        inlets = [port.inlet for port in world.open_ports]
        assert len(set(inlets)) == len(inlets)
        assert set(inlets) <= {PLAYER.inlet(i) for i in range(FIRST, INLETS)}
    inputs.close()
    assert not world.open_ports


# --- a server that goes away ------------------------------------------------------------------------------------------


def test_when_the_server_is_gone_everything_is_closed_and_later_found_again() -> None:
    first, second = World("Keystation"), World("Keystation")
    worlds = [first, second]
    said: list[str] = []
    inputs = Inputs(PLAYER, ["key"], True, said.append, lambda: worlds.pop(0))
    first.port("Keystation").play(0x90, 60, 100)
    first.alive = False
    inputs.tick()
    assert first.closed
    assert not held_after([message for _, message in waiting(PLAYER, FIRST + 1)])
    for _ in range(5):
        inputs.tick(may_begin=False)  # the sound has not been closed yet
    assert worlds == [second]
    for _ in range(REST):
        assert inputs.names == []
        inputs.tick()
    assert inputs.names == ["jawari", "Keystation"]
    assert said[2:] == ["MIDI: JACK's server is gone; waiting for it", "MIDI: jawari", "MIDI: Keystation"]


def test_by_default_the_best_way_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World("Keystation")
    assert Inputs.__init__.__defaults__ == (module.best, FIRST)
    inputs, _ = session(world)
    assert inputs.title == "the test's"
