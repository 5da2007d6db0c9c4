"""What is edited and played, and how requests are granted."""

from __future__ import annotations

import base64
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from edit.rooms import PRESET, Room
from virtual_card import wait_for

from engine import cli
from engine.edit import shelf
from engine.edit.errors import AskedError
from engine.edit.phrases import Phrases
from engine.edit.studio import facts
from engine.errors import EngineError, Exit, PresetError
from engine.files.errors import FileError
from engine.layout import seen
from engine.live.thread.tape import Tape
from engine.offline.render import render
from engine.preset.files import shipped
from engine.preset.loader import load_preset, load_text
from engine.synth.memory import HELD, Machine


def test_what_a_page_holds_is_let_go_with_it(room: Room) -> None:
    """And nothing that the other one holds, which is open still."""

    def held() -> list[int]:
        return sorted(int(v.key) for i in room.player.instruments() for v in i.machine.voices if v.state == HELD)

    channels = seen(Machine, int(room.player.seats.desk.listener)).channels
    for page in (0, 1):
        room.studio.come(page)
        room.ask("note", page, key=50 + page, velocity=100, channel=page)
        room.ask("midi", page, data=f"9{page}{60 + page:02x}40")
        room.ask("controller", page, number=64, value=127, channel=page)
        room.ask("bend", page, value=4000, channel=page)
    wait_for(lambda: held() == [50, 51, 60, 61] and channels[1].bend == 4000, "the notes do not begin")
    room.studio.gone(0)
    wait_for(lambda: held() == [51, 61] and channels[0].bend == 0, "it stays as it was")
    assert [int(channel.position[64]) for channel in channels[:2]] == [0, 127]
    assert channels[1].bend == 4000
    assert room.studio.watcher.memory.watching
    room.studio.gone(1)
    wait_for(lambda: held() == [] and channels[1].bend == channels[1].position[64] == 0, "it stays as it was")
    assert not room.studio.watcher.memory.watching


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
    hello = json.loads(json.dumps(room.studio.hello(), allow_nan=False))
    names = {row["name"] for row in hello["rows"]}
    assert set(hello["state"]["values"]) <= names | {"pickups.0.at", "pickups.0.kind", "pickups.0.pan"}
    assert json.dumps(room.ask("presets"), allow_nan=False)


def test_a_drone_is_written_as_any_other_list(room: Room) -> None:
    room.ask("set", path="drone.order", value="[C3, C3+G3 2 90, -]")
    assert room.studio.state()["texts"]["drone.order"] == "[C3, C3+G3 2 90, '-']"
    with pytest.raises(PresetError, match=r"drone.order"):
        room.ask("set", path="drone.order", value="[X9]")


@pytest.mark.parametrize("name", shipped())
def test_every_preset_can_be_said_to_a_page(name: str) -> None:
    preset, values = load_text(shelf.text_of(shelf.find(name)), name, shelf.find(name).parent)
    told = json.loads(json.dumps(facts(preset, values), allow_nan=False))
    assert set(told["texts"]) <= set(told["values"])


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


def test_a_take_waits_for_the_design_and_nobody_waits_for_the_take(room: Room) -> None:
    room.ask("set", path="polyphony", value="5")
    asked = threading.Thread(target=room.ask, args=("record",), kwargs={"on": True})
    asked.start()
    texts = 0
    while asked.is_alive() and not room.studio.takes.running:
        assert "polyphony: 5" in room.ask("text")["text"]
        texts += 1
    asked.join()
    assert texts > 1
    assert room.studio.takes.running
    room.ask("record", on=False)


def test_a_take_that_is_ended_while_it_is_written_down_has_every_frame_once(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session's turns and the request that ends it come from two threads."""
    drop = Tape.drop

    def slowly(tape: Tape, frames: int) -> None:
        time.sleep(0.02)
        drop(tape, frames)

    def take_turns() -> None:
        while not over.wait(0.001):
            room.studio.takes.tick()

    monkeypatch.setattr(Tape, "drop", slowly)
    over = threading.Event()
    turns = threading.Thread(target=take_turns)
    turns.start()
    room.ask("record", on=True)
    room.ask("note", key=50, velocity=100)
    time.sleep(0.2)
    ended = room.ask("record", on=False)
    over.set()
    turns.join()
    sound, _ = soundfile.read(Path(ended["folder"], ended["files"][1]), dtype="float32", always_2d=True)
    whole = np.concatenate(room.sound)
    first = np.flatnonzero(whole[:, 0])[0] - np.flatnonzero(sound[:, 0])[0]
    np.testing.assert_array_equal(sound, whole[first : first + len(sound)])


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
