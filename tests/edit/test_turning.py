"""What a knob does that turns while strings ring: what is designed when, and who listens to it."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from edit.rooms import Room
from virtual_card import wait_for

from engine.edit import workshop
from engine.edit.workshop import Wish
from engine.preset.loader import load_preset, load_text
from engine.synth import attuned, intonation
from engine.synth.bank import Setup, design
from engine.synth.instrument import Instrument


def test_a_knob_is_heard_while_a_string_rings_and_then_all_keys_are_rehearsed(room: Room) -> None:
    room.ask("note", key=50, velocity=100)
    wait_for(lambda: room.sounding() == [50], "the note does not begin")
    room.ask("set", path="barrier.curvature", value="1.5 1/m")
    room.settle()
    assert room.heard() == ["sounding", "whole", "tuned", "rehearsed"]
    wait_for(lambda: room.sounding() == [50], "it does not go on in one place")
    assert room.studio.workshop.instrument is not None
    assert room.studio.workshop.instrument.preset == load_preset(room.path, {"barrier.curvature": 1.5})
    wait_for(lambda: len(room.player.instruments()) == 1, "designs that nobody hears do not go")
    loud = np.abs(np.concatenate(room.sound)).max()
    assert 0.0 < loud < 1.0


@pytest.mark.parametrize("kind", ["room", "hall"])
def test_nobody_listens_to_strings_while_a_knob_turns(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They keep how they are tuned; once it rests, they are what the saved preset is when it is opened, bit by bit."""
    room, listened, who = request.getfixturevalue(kind), list[bool](), {"room": intonation, "hall": attuned}[kind]
    real = who.bent

    def bent(*given: Any) -> Any:
        listened.append(True)
        return real(*given)

    room.ask("set", path="barrier.curvature", value="0.8 1/m")  # the shop is open
    room.settle()
    room.heard()
    monkeypatch.setattr(who, "bent", bent)
    monkeypatch.setattr(workshop, "REST", 60.0)
    room.ask("note", key=50, velocity=100)
    wait_for(lambda: room.sounding() == [50], "the note does not begin")
    for n in range(12):
        room.ask("set", path="barrier.curvature", value=f"{0.9 + 0.05 * n:.2f} 1/m", gesture=7)
        time.sleep(0.02)
    wait_for(lambda: "whole" in [told.get("what") for told in room.told], "the last turn is not heard", 60.0)
    assert set(room.heard()) == {"sounding", "whole"}
    assert listened == []
    monkeypatch.setattr(workshop, "REST", 0.0)
    room.ask("set", path="barrier.curvature", value="1.6 1/m")
    room.settle()
    assert room.heard() == ["sounding", "whole", "tuned", "rehearsed"]
    assert listened
    preset = load_text(room.ask("text")["text"], "small.yaml", room.path.parent)[0]
    setup = Setup(preset, 48_000.0, preset.oversample, preset.polyphony, 2, preset.tuning)
    found, wanted = room.studio.workshop.instrument.design, Instrument.of(setup, design(setup)).design
    assert wanted.retuned
    assert found.retuned == wanted.retuned
    for mine, fresh in zip((found.keys, *found.strings), (wanted.keys, *wanted.strings), strict=True):
        assert mine.tobytes() == fresh.tobytes()


def test_what_holds_for_a_wish_that_nobody_has_looked_at_holds_for_the_next(room: Room) -> None:
    """Another pickup, and at once another knob: gains are heard all the same."""
    room.settle()
    shop, text = room.studio.workshop, room.ask("text")["text"]
    preset = load_text(text, "small.yaml", room.path.parent)[0]
    with shop._wished:  # so that the shop looks at both at once
        shop.wish(Wish(text, preset, 0, other_ears=True, another=True))
        shop.wish(Wish(text, preset, 1))
        newest = shop._newest
    assert newest is not None
    assert (newest.since, newest.other_ears, newest.another) == (1, True, True)
    room.settle()


def test_of_many_wishes_the_newest_counts(room: Room) -> None:
    for n in range(40):
        room.ask("set", path="barrier.curvature", value=f"{0.5 + 0.01 * n:.2f} 1/m", gesture=5)
    room.settle()
    found = room.heard()
    assert found[-1] == "rehearsed"
    assert found.count("rehearsed") == 1
    state = room.studio.state()
    assert state["texts"]["barrier.curvature"] == "0.89 1/m"
    assert state["undo"] == "barrier.curvature"
    room.ask("undo")
    assert room.studio.state()["undo"] == ""  # one gesture, one entry
    room.settle()
    assert room.heard() == ["kept"]  # it was heard before: nothing is designed


def test_a_wish_does_not_wait_for_a_rehearsal(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on by itself, and nobody wants it any more."""
    real, hold, held = workshop.design, threading.Event(), threading.Event()

    def slow(setup: Any, only: Any = None, loud: Any = None, *more: Any, **others: Any) -> Any:
        if only is None and loud is None:
            held.set()
            assert hold.wait(60.0)
        return real(setup, only, loud, *more, **others)

    monkeypatch.setattr(workshop, "design", slow)
    room.ask("set", path="barrier.curvature", value="1.1 1/m")
    assert held.wait(60.0)
    room.told.clear()
    room.ask("set", path="barrier.curvature", value="1.2 1/m")
    wait_for(lambda: "whole" in [told.get("what") for told in room.told], "the wish waits", 60.0)
    hold.set()
    room.settle()
    assert room.heard()[-1] == "rehearsed"
    assert room.studio.workshop.instrument is not None
    assert room.studio.workshop.instrument.preset == load_preset(room.path, {"barrier.curvature": 1.2})


@pytest.mark.parametrize("where", ["design", "rehearsal"])
def test_a_design_that_fails_is_told_in_a_line_and_the_next_one_is_heard(
    where: str, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault in the program, of which no traceback reaches the terminal: what plays goes on, and nobody waits."""

    def failing(setup: Setup, keys: set[int] | None = None, gains: Any = None, *more: Any, **how: Any) -> Any:
        if where == "rehearsal" and gains is not None:
            return design(setup, keys, gains, *more, **how)
        raise ValueError("shapes differ\n  and so on")

    loose: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", loose.append)
    room.ask("set", path="barrier.curvature", value="0.8 1/m")
    room.settle()
    room.told.clear()
    monkeypatch.setattr(workshop, "design", failing)
    room.ask("set", path="barrier.curvature", value="0.9 1/m")
    room.settle()
    (why,) = [told["error"] for told in room.told if told["event"] == "refused"]
    assert why == "the design failed, which is a fault in the program (ValueError shapes differ and so on)"
    monkeypatch.setattr(workshop, "design", design)
    room.told.clear()
    room.ask("set", path="barrier.curvature", value="1.1 1/m")
    room.settle()
    assert room.heard()[-1] == "rehearsed"
    assert loose == []
