"""What is edited and played, without a browser and without a card: blocks are asked for by hand."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from virtual_card import wait_for

from engine import cli
from engine.compiled import now
from engine.edit import workshop
from engine.edit.errors import AskedError
from engine.edit.phrases import Phrases
from engine.edit.requests import TABLE, Request
from engine.edit.studio import Studio
from engine.edit.workshop import Wish
from engine.errors import EngineError, Exit, PresetError
from engine.files.errors import FileError
from engine.layout import seen
from engine.live.player import Player
from engine.live.thread.block import run_block
from engine.offline.render import render
from engine.preset.files import OWN_FOLDER
from engine.preset.loader import load_preset, load_text
from engine.synth import intonation
from engine.synth.bank import Setup, design
from engine.synth.ensemble import Seats
from engine.synth.instrument import Instrument
from engine.synth.memory import FREE, HELD, Machine

PRESET = """\
name: Small
about: A wire over a bridge.   # to be changed
string: {length: 1 m, density: 1.17 g/m, tension: 180.5 N, loss: {s0: 0.3, s1: 0.02, s3: 1e-5}}
barrier:
  profile: parabola
  to: 60 mm
  curvature: 0.75   # of the bridge
  points: 6
excitation: {position: 0.3, force: 1 N, duration: 4 ms}
pickups: [{at: 0.1}]
polyphony: 4
"""
SEVERAL = """\
name: Several
string: {length: 880 mm, diameter: 0.3 mm, material: steel, tuned: F#3, band: 6 kHz, keys: length}
barrier: {profile: parabola, to: 30 mm, curvature: 0.75 1/m, points: 5}
excitation: {position: 0.15, force: -1 N}
strings:
  - {played: C3-C4, mono: yes}
  - {played: C2-B2}
  - sympathetic: [D3, F#3]
    string: {length: 700 mm, tension: 60 N, band: 4 kHz}
    barrier: {profile: parabola, to: 12 mm, curvature: 1 1/m, points: 2}
body: {name: sitar}
polyphony: 4
release: 5 s
"""
BLOCK = 128


class Room:
    """A studio, and a thread in the place of the card's."""

    def __init__(self, folder: Path, preset: str = PRESET) -> None:
        self.path = folder / "small.yaml"
        self.path.write_text(preset, encoding="utf-8")
        self.player = Player(48_000.0, BLOCK, 2, None, Seats(2, 14))
        self.told: list[dict[str, Any]] = []
        self.studio = Studio(self.path, self.player, self.told.append)
        self.sound: list[Any] = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def play(self) -> None:
        out = np.zeros((BLOCK, 2), np.float32)
        while not self.ended.wait(0.002):
            run_block(self.player.address, BLOCK, out.ctypes.data, 0, now())
            self.sound.append(out.copy())

    def ask(self, word: str, **fields: Any) -> dict[str, Any]:
        whole = {name: field.default for name, field in TABLE[word].items()}
        return self.studio.answer(Request(word, {**whole, **fields}, 0))

    def settle(self) -> None:
        wait_for(self.studio.workshop.settled.is_set, "the workshop does not settle", 60.0)

    def heard(self) -> list[str]:
        found = [told["what"] for told in self.told if told["event"] == "heard"]
        self.told.clear()
        return found

    def sounding(self) -> list[int]:
        return sorted(
            int(voice.key) for i in self.player.instruments() for voice in i.machine.voices if voice.state != FREE
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("edit")


@pytest.fixture
def room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    monkeypatch.setenv(OWN_FOLDER, str(folder / "own" / "presets"))
    made = Room(folder)
    yield made
    made.studio.close()
    made.ended.set()
    made.thread.join()


@pytest.fixture
def hall(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """A room with an instrument of several strings."""
    monkeypatch.setenv(OWN_FOLDER, str(folder / "own" / "presets"))
    made = Room(folder, SEVERAL)
    yield made
    made.studio.close()
    made.ended.set()
    made.thread.join()


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
    room, listened, real = request.getfixturevalue(kind), list[float](), intonation.bent

    def bent(design: Any, pitch: float) -> float:
        listened.append(pitch)
        return real(design, pitch)

    room.ask("set", path="barrier.curvature", value="0.8 1/m")  # the shop is open
    room.settle()
    room.heard()
    monkeypatch.setattr(intonation, "bent", bent)
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


def test_what_a_page_holds_is_let_go_with_the_last_one(room: Room) -> None:
    room.studio.watch(True)
    room.ask("note", key=50, velocity=100)
    room.ask("controller", number=64, value=127)
    room.ask("bend", value=4000)

    def held() -> list[int]:
        return [int(v.key) for i in room.player.instruments() for v in i.machine.voices if v.state == HELD]

    channel = seen(Machine, int(room.player.seats.desk.listener)).channels[0]
    wait_for(lambda: held() == [50] and channel.bend == 4000, "the note does not begin")
    room.studio.watch(False)
    wait_for(lambda: held() == [] and channel.bend == channel.position[64] == 0, "it stays as it was")


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


def test_a_wrong_value_is_the_loaders_sentence_and_changes_nothing(room: Room) -> None:
    before = room.studio.state()
    with pytest.raises(PresetError, match=r"^small.yaml:7: barrier.curvature = lots: must be .* 1/m"):
        room.ask("set", path="barrier.curvature", value="lots")
    for path in ("barrier.nothing", "__class__", "string.__class__", "", ".", "pickups.99999999999.at"):
        with pytest.raises((AskedError, PresetError)):
            room.ask("set", path=path, value="1")
    with pytest.raises(EngineError):
        room.ask("set", path="string.length", value="1 mm")
    assert room.studio.state() == before


def test_what_a_value_makes_moot_goes(room: Room) -> None:
    room.ask("set", path="string.tuned", value="A2")
    state = room.studio.state()
    assert "string.tension" not in state["texts"]
    assert state["texts"]["string.tuned"] == "A2"
    assert room.ask("text")["text"].count("\n") == PRESET.count("\n")
    room.ask("set", path="barrier.profile", value="flat")
    assert "barrier.curvature" not in room.studio.state()["texts"]


def test_what_is_saved_keeps_the_file_as_it_was(room: Room, folder: Path) -> None:
    room.ask("set", path="barrier.curvature", value="1.5 1/m")
    assert room.ask("save", name="my wire")["saved"] == "my wire"
    saved = folder / "own" / "presets" / "my wire.yaml"
    assert saved.read_text(encoding="utf-8") == PRESET.replace("0.75 ", "1.5 1/m ")
    assert not room.studio.state()["changed"]
    assert load_preset("my wire").name == "Small"
    room.ask("set", path="polyphony", value="8")
    assert room.ask("save", name="my wire")["saved"] == "my wire"  # its own file needs no asking
    assert "ask" in room.ask("open", name="sitar-string") or not room.studio.state()["changed"]
    assert room.path.read_text(encoding="utf-8") == PRESET


def test_a_name_that_exists_asks_and_others_are_refused(room: Room, folder: Path) -> None:
    (folder / "own" / "presets").mkdir(parents=True, exist_ok=True)
    (folder / "own" / "presets" / "taken.yaml").write_text(PRESET, encoding="utf-8")
    assert room.ask("save", name="taken") == {"ask": "taken exists already; replace it?"}
    assert room.ask("save", name="taken", replace=True)["saved"] == "taken"
    for name in ("sitar-string", "../up", "a/b", "", "nul"):
        with pytest.raises((PresetError, FileError, AskedError)):
            room.ask("save", name=name)
    for name in ("../../etc/passwd", "/etc/passwd", "nothing", "a\0b"):
        with pytest.raises(AskedError, match="there is no preset"):
            room.ask("open", name=name)


def test_another_preset_asks_before_changes_are_lost(room: Room) -> None:
    room.ask("set", path="polyphony", value="3")
    assert "changes that are not saved" in room.ask("open", name="plain")["ask"]
    assert room.studio.state()["title"] == "Small"
    assert room.ask("open", name="plain", lose=True) == {}
    assert room.studio.state()["title"] == "Plain string"
    room.settle()


def test_a_controller_is_learnt_by_moving_it(room: Room) -> None:
    with pytest.raises(AskedError, match="cannot move while it sounds"):
        room.ask("learn", path="string.length")
    room.ask("learn", path="barrier.height")
    assert room.studio.state()["learning"] == "barrier.height"
    room.studio.moved(74)
    (found,) = room.studio.state()["map"]
    assert (found["source"], found["to"], found["low"], found["high"]) == ("cc74", "barrier.height", 0.0, 2e-4)
    room.ask("learn", path="gain")
    room.studio.moved(20)
    room.ask("learn", path="barrier.height")
    room.studio.moved(21)
    assert [(entry["source"], entry["to"]) for entry in room.studio.state()["map"]] == [
        ("cc21", "barrier.height"),
        ("cc20", "gain"),
    ]
    room.studio.moved(22)  # nobody learns any more
    assert len(room.studio.state()["map"]) == 2


@pytest.mark.parametrize("profile", ["flat", "parabola", "polynomial", "table", "points"])
def test_any_profile_can_be_chosen(room: Room, profile: str) -> None:
    room.ask("set", path="contact.stiffness", value="1e7 N/m²")
    for chosen in (profile, "points", profile, "parabola"):
        room.ask("set", path="barrier.profile", value=chosen)
        assert room.studio.state()["values"]["barrier.profile"] == chosen
    room.ask("remove", path="barrier")
    assert room.studio.state()["scene"]["barrier"] is None
    room.ask("set", path="barrier.profile", value=profile)


def test_a_drawn_barrier_is_a_list_in_the_file(room: Room) -> None:
    room.ask("set", path="barrier.profile", value="points")
    room.ask("set", path="barrier.at", value="[[5 mm, -0.1 mm], [9 mm, 0 mm]]")
    assert "at: [[5 mm, -0.1 mm], [9 mm, 0 mm]]" in room.ask("text")["text"]
    scene = room.studio.state()["scene"]["barrier"]
    assert scene["x"] == [0.005, 0.009]
    assert scene["h"] == pytest.approx([-1e-4, 0.0])


def test_every_key_of_the_schema_has_a_row_that_json_can_say(room: Room) -> None:
    import json

    hello = json.loads(json.dumps(room.studio.hello(), allow_nan=False))
    names = {row["name"] for row in hello["rows"]}
    assert set(hello["state"]["values"]) <= names | {"pickups.0.at", "pickups.0.kind", "pickups.0.pan"}
    assert json.dumps(room.ask("presets"), allow_nan=False)


def test_a_take_of_a_preset_that_is_shaped_meanwhile_renders_to_the_same_bits(room: Room, folder: Path) -> None:
    """Whatever is asked for while it is played: other designs of all kinds, a model that cannot go on, undo."""
    room.player.send([0xF0, 0x7F, 0x7F, 0x08, 0x02, 0x00, 0x01, 50, 50, 0x40, 0x00, 0xF7])  # half a semitone up
    room.ask("controller", number=7, value=90)
    room.ask("record", on=True)
    room.ask("note", key=50, velocity=100)
    wait_for(lambda: room.sounding() == [50], "the note does not begin")
    for n in range(6):
        room.ask("set", path="barrier.curvature", value=f"{0.8 + 0.2 * n:.1f} 1/m", gesture=3)
        room.ask("note", key=52 + n, velocity=70)
        time.sleep(0.05)
    room.settle()
    room.ask("set", path="quality", value="best")
    room.ask("note", key=45, velocity=90)
    room.settle()
    room.ask("set", path="pickups.0.kind", value="velocity")  # which is rehearsed at once: no old gain fits
    room.ask("note", key=50, velocity=0)
    time.sleep(0.1)
    room.ask("remove", path="quality")
    room.ask("set", path="model", value="fd")
    room.ask("note", key=57, velocity=100)
    room.settle()
    assert any("rings out" in told.get("text", "") for told in room.told)
    for word in ("undo", "undo", "undo"):
        room.ask(word)
    room.ask("set", path="oversample", value="2")
    room.ask("note", key=62, velocity=100)
    room.settle()
    ended = room.ask("record", on=False)
    assert "the preset was changed meanwhile: that is in both" in ended["said"]
    take, out = Path(ended["folder"], ended["files"][0]), folder / "again.wav"
    render = ["render", "--midi", str(take), "--limit", "--bit-depth", "32f", "--force"]
    assert cli.main([*render, "-o", str(out)]) == 0
    live, _ = soundfile.read(take.with_suffix(".wav"), dtype="float32", always_2d=True)
    again, _ = soundfile.read(out, dtype="float32", always_2d=True)
    size = min(len(live), len(again))
    assert np.abs(live).max() > 0.01
    assert size > 0.9 * len(live)
    np.testing.assert_array_equal(live[:size], again[:size])
    assert cli.main([*render, "--set", "gain=3", "-o", str(out)]) == Exit.USAGE
    assert cli.main([*render, "--start", "0.5 s", "-o", str(out)]) == 0  # from what it was then
    plain = ["render", "plain", "--midi", str(take), "--force", "--tail", "0", "-o", str(out)]
    assert cli.main(plain) == 0  # on another preset: the notes alone


def test_what_rings_of_several_strings_goes_on_and_a_take_of_it_renders_to_the_same_bits(
    hall: Room, folder: Path
) -> None:
    hall.ask("record", on=True)
    for key in (54, 40):
        hall.ask("note", key=key, velocity=100)
    wait_for(lambda: hall.sounding() == [40, 54], "the notes do not begin")
    for n in range(4):
        hall.ask("set", path="barrier.curvature", value=f"{0.8 + 0.1 * n:.1f} 1/m", gesture=3)
        hall.ask("note", key=55 + n, velocity=70)
        time.sleep(0.05)
    hall.settle()
    assert {"sounding", "whole", "rehearsed"} <= set(hall.heard())
    wait_for(lambda: len(hall.player.instruments()) == 1, "older designs do not go")
    hall.ask("set", path="body.scale", value="1.2")  # another body is rehearsed at once
    for key in (58, 57, 56):
        hall.ask("note", key=key, velocity=0)
    hall.ask("set", path="strings.2.sympathetic", value="[D3, E3, F#3]")
    hall.settle()
    hall.ask("switch")
    hall.ask("undo")
    hall.settle()
    assert not any("rings out" in told.get("text", "") for told in hall.told)
    ended = hall.ask("record", on=False)
    take, out = Path(ended["folder"], ended["files"][0]), folder / "again.wav"
    render = ["render", "--midi", str(take), "--limit", "--bit-depth", "32f", "--force", "-o", str(out)]
    assert cli.main(render) == 0
    live, _ = soundfile.read(take.with_suffix(".wav"), dtype="float32", always_2d=True)
    again, _ = soundfile.read(out, dtype="float32", always_2d=True)
    size = min(len(live), len(again))
    assert 0.01 < np.abs(live).max() < 1.0
    assert size > 0.9 * len(live)
    np.testing.assert_array_equal(live[:size], again[:size])


@pytest.mark.parametrize("path", ["strings", "ports", "planes", "courses", "pickups", "map", "strings.1.ports"])
def test_lists_grow_and_shrink(hall: Room, path: str) -> None:
    before = hall.studio.state()
    count = before["counts"].get(path, 0)
    like = 1 if path == "strings" else -1
    assert hall.ask("add", path=path, like=like) == {"path": f"{path}.{count}"}
    assert hall.studio.state()["counts"][path] == count + 1
    hall.ask("remove", path=f"{path}.{count}")
    after = hall.studio.state()
    assert after["counts"] == before["counts"]
    assert after["values"] == before["values"]
    for wrong in ({"path": "string"}, {"path": f"{path}.99"}, {"path": path, "like": 99}, {"path": path, "value": "["}):
        with pytest.raises((AskedError, PresetError)):
            hall.ask("add", **wrong)


def test_any_preset_gets_strings_of_its_own(room: Room) -> None:
    room.ask("add", path="strings")
    answering = "{sympathetic: [C4], string: {length: 70 cm, diameter: 0.25 mm, material: steel, tuned: C4}, "
    room.ask("add", path="strings", value=answering + "barrier: {profile: parabola, curvature: 1 1/m, points: 2}}")
    scene = room.studio.state()["scene"]
    assert [bool(part.get("answers")) for part in scene["strings"]] == [False, True]
    assert scene["strings"][0]["keys"] == [12, 127]
    assert scene["strings"][1]["where"]["barrier.curvature"] == "strings.1.barrier.curvature"
    assert scene["strings"][0]["where"]["barrier.curvature"] == "barrier.curvature"


def test_phrases_come_in_pieces(room: Room) -> None:
    whole, at, last = b"", 0, False
    phrases = Phrases()
    while not last:
        piece = phrases.piece("plain", at)
        whole, at, last = whole + base64.b64decode(piece["sound"]), at + 1, piece["last"]
    assert at > 2
    sound = np.frombuffer(whole, np.int16).reshape(-1, 2)
    wanted = render(load_preset("plain"), sample_rate=44_100, tail=1.0)
    np.testing.assert_array_equal(sound, (np.clip(wanted, -1.0, 1.0) * 32767.0).astype(np.int16)[: len(sound)])
    assert len(sound) == len(wanted)
    assert phrases.piece("plain", 0)["sound"] == phrases.piece("plain", 0)["sound"]
    with pytest.raises(AskedError, match="there is no preset"):
        phrases.piece("../plain", 0)


def test_a_take_without_a_card_says_why(room: Room) -> None:
    room.ended.set()
    room.thread.join()
    with pytest.raises(AskedError, match=r"no block comes|do not fall silent"):
        room.ask("record", on=True)
    assert not room.studio.takes.running
