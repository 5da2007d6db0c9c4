"""`--format clap`: a host's ragged blocks give what the engine plays, each note may speak for itself, state is kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.exporting import (
    COMPILER,
    FRAMES,
    NEEDED,
    NETWORK,
    RATE,
    SECONDS,
    code,
    expected,
    image_of,
    library,
    music,
    rack,
    retuned,
)
from export.test_export_c import Opened
from export.test_export_designs import image_of as unfrozen
from export.test_export_designs import values as values_of
from live import guard

from engine.export import clap
from engine.export.designs import designed, named, number_of
from engine.export.header import header
from engine.export.job import ROOM, Export
from engine.export.knobs import dials
from engine.export.shape import DESIGNED, PROGRAM, shape
from engine.export.targets import target_of
from engine.messages import packed
from engine.preset.parameters import PARAMETERS
from engine.preset.rack import load_rack
from engine.synth.instrument import Instrument
from engine.synth.mts import tunings

pytestmark = NEEDED
SOURCES = ROOM / "clap"
HOST = Path(__file__).with_name("claphost.c")
WORDS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{SOURCES}", f"-I{ROOM}")
MIDI, ON, OFF, EXPRESSION, PARAMETER, RETUNED, PAUSE, MODULATION = range(8)
SIZES = (1, 64, 333, 0, 128, 1024, 5, 8192)  # of the host's blocks
PAN, TUNING, LOUDER, BRIGHTNESS, PRESSURE = 1, 2, 4, 5, 6  # kinds of expression
ROW = np.dtype([("frame", "i8"), ("what", "i4", 4), ("value", "f8")])
Row = tuple[int, tuple[int, int, int, int], float]
HEADERS = Path("/usr/share/dpf/distrho/src/clap")
CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


# Presets, and knobs of theirs that design anew: what is wanted from the start, and what while strings ring.
WANTED = [("prepared", "string.stiffness", 0.02), ("piano", "courses.detuned", 3.0)]
TURNED: list[tuple[str, dict[str, list[float]]]] = [
    ("prepared", {"string.stiffness": [0.005, 0.02], "contact.stiffness": [1e5]}),
    ("sitar", {"body.scale": [0.8, 1.3], "contact.stiffness": [3e7]}),
]


class Ready(Export):
    """An order whose image is made already."""

    @property
    def image(self) -> bytes:  # type: ignore[override]
        """What other tests have, too."""
        return image_of(*(NETWORK if part.preset.assembly else part.label for part in self.rack.parts))


class Unfrozen(Export):
    """One at any rate, likewise."""

    @property
    def image(self) -> bytes:  # type: ignore[override]
        """What other tests have, too."""
        return unfrozen(self.rack.parts[0].label)


def order(*names: str, any_rate: bool = False) -> Export:
    if any_rate:
        return Unfrozen(rack(*names), (), target_of(None), print)
    return Ready(rack(*names), (float(RATE),), target_of(None), print)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clap")


def plugin(folder: Path, *names: str, any_rate: bool = False) -> Path:
    there = folder / "-".join((*names, "any") if any_rate else names)
    if not there.exists():
        there.mkdir()
        clap.write(order(*names, any_rate=any_rate), there)
    return next(there.glob("*.clap"))


def host(folder: Path) -> Path:
    made = folder / "host"
    if not made.exists():
        subprocess.run([str(COMPILER), *WORDS, "-o", str(made), str(HOST), "-ldl"], check=True)
    return made


def heard(program: Path, library: Path, rows: list[Row], times: int, frames: int = FRAMES) -> tuple[Any, str]:
    """The sound, [frames, 2], and what the host said; guard.c watches blocks, where it can."""
    events = library.parent / "events"
    events.write_bytes(np.array(rows, ROW).tobytes())
    around = {} if guard.missing() or "checked" in program.name else {"LD_PRELOAD": str(guard.library())}
    command = [str(program), str(library), str(RATE), str(events), str(frames), str(times)]
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, **around})
    assert done.returncode == 0, done.stderr
    return np.frombuffer(done.stdout, np.float32).reshape(2, -1).T, done.stderr.decode()


def as_midi(programs: int = 1) -> list[Row]:
    """The music as messages, as many hosts send it."""
    return [(at, (MIDI, packed(*data), 0, 0), 0.0) for at, data in music(programs=programs) if at < FRAMES]


@pytest.mark.parametrize(
    "names", [("sitar-string",), ("slap-bass",), (NETWORK,), ("sitar-string", "slap-bass")], ids=str
)
def test_a_host_hears_what_the_engine_plays(names: tuple[str, ...], folder: Path) -> None:
    sound, said = heard(host(folder), plugin(folder, *names), as_midi(len(names)), 4)
    assert np.array_equal(sound, expected(*names))
    if names == ("sitar-string",):
        assert f"latency {Instrument('sitar-string', RATE).latency}" in said
        assert "0 Barrier height: 0 mm" in said


def test_keys_are_retuned_by_sysex(folder: Path) -> None:
    words = [(at, tunings(data)[0]) for at, data in retuned()]
    told = [(at, (RETUNED, word >> 16 & 0x1FFFFF, 0, word >> 8 & 127), 0.0) for at, word in words]
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), sorted(as_midi() + told, key=lambda row: row[0]), 2)
    assert np.array_equal(sound, expected("sitar-string", more=retuned()))


@pytest.mark.parametrize("any_rate", [False, True])
def test_under_the_sanitizers_nothing_is_wrong(any_rate: bool, folder: Path) -> None:
    work = folder / f"checked-{any_rate}"
    work.mkdir()
    made = order("prepared", any_rate=any_rate)
    (work / "jawari.h").write_text(header(made.rack, made.dials, made.rates))
    (work / "shape.h").write_text(shape(made))
    (work / "jawari.o").write_bytes(code())
    (work / "jawari.image").write_bytes(made.image)
    sources = [str(HOST), str(SOURCES / "plugin.c"), str(work / "jawari.o")]
    command = [str(COMPILER), *WORDS, *CHECKS, f"-I{work}", "-DINSIDE", "-o", str(work / "checked-host"), *sources]
    subprocess.run([*command, "-lm", "-ldl"], check=True)
    times, rows = 1000 if SECONDS >= 20 else 30, as_midi()
    if any_rate:  # it is designed anew before anything sounds: each time the same sound
        number = next(DESIGNED + number_of(d) for d in designed(made.rack) if d.key == "string.stiffness")
        more: list[Row] = [(0, (PARAMETER, number, -1, -1), 0.02), (1, (PAUSE, 1500, 0, 0), 0.0)]
        notes: list[Row] = [
            (60, (ON, 1, 0, 50), 0.5),
            (61, (MODULATION, 0, 0, 50), 1e-5),
            (62, (PARAMETER, 0, 0, -1), 1.0),
        ]
        more += [*notes, (63, (MODULATION, 0, -1, -1), -1e-5), (64, (MODULATION, 4711, 0, 50), 1.0)]
        times, rows = 3, [*more, *((at + 70, *rest) for at, *rest in rows)]
    sound, _ = heard(work / "checked-host", work / "none.clap", rows, times, 4800)
    assert any_rate or np.array_equal(sound, expected("prepared")[:4800])


# --- notes that speak for themselves ----------------------------------------------------------------------------------


def played(events: list[tuple[int, list[int]]], frames: int = FRAMES) -> Any:
    inst, out = Instrument("sitar-string", RATE), np.zeros((frames, 2), np.float32)
    for at, data in events:
        assert inst.schedule(at, data)
    inst.run(out)
    return out


def test_each_note_has_an_expression_of_its_own(folder: Path) -> None:
    """They are an MPE zone's: what is said of one note goes to its channel, and to no other."""
    rows: list[Row] = [
        (0, (ON, 7, 0, 50), 100 / 127),
        (100, (ON, 8, 0, 57), 90 / 127),
        (1000, (EXPRESSION, TUNING, 0, 57), 1.5),
        (1500, (EXPRESSION, PRESSURE, 0, 50), 0.5),
        (2000, (EXPRESSION, BRIGHTNESS, 0, 50), 1.0),
        (2500, (EXPRESSION, LOUDER, -1, -1), 0.75),  # of all that sound
        (3000, (OFF, 7, 0, 50), 0.5),
        (3001, (ON, 9, 0, 50), 1.0),  # on the third channel: the first was in use last but one
        (5000, (OFF, -1, 0, 50), 0.0),
        (6000, (EXPRESSION, TUNING, 0, 50), 12.0),  # of nobody by now
    ]
    bend = int(8192.5 + 8192 / 48 * 1.5)
    midi = [
        *[(0, [0xB0, number, value]) for number, value in ((101, 0), (100, 6), (6, 15))],
        (0, [0x91, 50, 100]),
        (100, [0x92, 57, 90]),
        (1000, [0xE2, bend & 127, bend >> 7]),
        (1500, [0xD1, 64]),
        (2000, [0xB1, 74, 127]),
        *[(2500, [0xB0 | member, 11, 95]) for member in (1, 2)],
        (3000, [0x81, 50, 64]),
        (3001, [0x93, 50, 127]),
        (5000, [0x83, 50, 0]),
    ]
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), rows, 3)
    assert np.array_equal(sound, played(midi))
    alone, _ = heard(host(folder), plugin(folder, "sitar-string"), [row for row in rows if row[1][0] != EXPRESSION], 1)
    assert not np.array_equal(alone, sound)


def test_more_notes_than_channels_share_them(folder: Path) -> None:
    rows: list[Row] = [(n * 10, (ON, n, 0, 40 + n), 0.5) for n in range(20)]
    rows += [(2000 + n, (OFF, n, 0, 40 + n), 0.0) for n in range(20)]
    zone = [(0, [0xB0, 101, 0]), (0, [0xB0, 100, 6]), (0, [0xB0, 6, 15])]
    midi = [(n * 10, [0x90 | n % 15 + 1, 40 + n, 64]) for n in range(20)]
    midi += [(2000 + n, [0x80 | n % 15 + 1, 40 + n, 0]) for n in range(20)]
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), rows, 2)
    assert np.array_equal(sound, played([*zone, *midi]))


# --- parameters of single notes ---------------------------------------------------------------------------------------

HEIGHT = PARAMETERS["barrier.height"].number


class ByHand:
    """The exported code, called as the plugin should."""

    def __init__(self, folder: Path) -> None:
        library(folder.parent)
        self.made, self.now = Opened(folder.parent, image_of("sitar-string")), 0
        self.number = {dial.key: dial.number for dial in dials(rack("sitar-string"))}["barrier.height"]
        self.pieces = list[Any]()

    def until(self, frame: int) -> None:
        self.pieces.append(self.made.run(frame - self.now))
        self.now = frame

    def turn(self, value: float) -> None:
        assert self.made.code.jawari_turn(self.made.at, self.number, value) == 1

    def turn_one(self, member: int, value: float) -> None:
        assert self.made.code.jawari_turn_channel(self.made.at, self.number, member, value) == 1

    def members(self) -> None:
        self.made.code.jawari_members(self.made.at)

    def sound(self) -> Any:
        self.until(FRAMES)
        return np.concatenate(self.pieces)


def test_a_parameter_moves_and_is_modulated_for_single_notes(folder: Path) -> None:
    rows: list[Row] = [
        (0, (ON, 7, 0, 50), 100 / 127),
        (100, (ON, 8, 0, 57), 90 / 127),
        (1000, (MODULATION, HEIGHT, 0, 57), -3e-5),
        (2000, (PARAMETER, HEIGHT, -1, -1), -2e-5),
        (3000, (PARAMETER, HEIGHT, 0, 50), -5e-5),
        (3500, (MODULATION, HEIGHT, -1, -1), -1e-5),  # but of the one that has its own
        (4000, (OFF, 7, 0, 50), 0.5),
        (4001, (MODULATION, HEIGHT, 0, 50), -9e-5),  # of nobody by now
        (4001, (ON, 9, 0, 50), 1.0),  # of which nothing was said
        (4500, (MODULATION, HEIGHT, 0, 57), 0.0),
        (5000, (MODULATION, HEIGHT, -1, -1), 0.0),
        (5500, (MODULATION, HEIGHT, 0, 57), float("nan")),
        (5500, (MODULATION, PROGRAM, 0, 57), 1.0),
    ]
    sound, said = heard(host(folder), plugin(folder, "sitar-string"), rows, 1)
    assert "0 Barrier height: 0 mm (of each note)" in said
    assert "ended 1" in said
    hand = ByHand(folder)
    hand.members()
    hand.made.send(0, 0x91, 50, 100)
    hand.made.send(100, 0x92, 57, 90)
    hand.until(1000)
    hand.turn_one(2, -3e-5)
    hand.until(2000)
    hand.turn(-2e-5)
    hand.turn_one(2, -2e-5 - 3e-5)
    hand.until(3000)
    hand.turn_one(1, -5e-5)
    hand.until(3500)
    hand.turn(-2e-5 - 1e-5)
    hand.turn_one(1, -5e-5 - 1e-5)
    hand.turn_one(2, -2e-5 - 3e-5)
    hand.until(4000)
    hand.made.send(0, 0x81, 50, 64)
    hand.made.send(1, 0x93, 50, 127)
    hand.until(4500)
    hand.turn_one(2, -2e-5)
    hand.until(5000)
    hand.turn(-2e-5)
    hand.turn_one(1, -5e-5)
    assert np.array_equal(sound, hand.sound())


def test_a_channel_of_a_note_that_was_modulated_is_the_next_ones(folder: Path) -> None:
    """The first member again, after all others: as if nothing had ever been said of it."""
    rows: list[Row] = [(0, (ON, 0, 0, 40), 0.5), (10, (MODULATION, HEIGHT, 0, 40), -9e-5), (20, (OFF, 0, 0, 40), 0.0)]
    rows += [(30 + n, (kind, n, 0, 40 + n), 0.5) for n in range(1, 15) for kind in (ON, OFF)]
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), [*rows, (3000, (ON, 20, 0, 60), 1.0)], 2)
    hand = ByHand(folder)
    hand.members()
    hand.made.send(0, 0x91, 40, 64)
    hand.until(10)
    hand.turn_one(1, -9e-5)
    hand.until(20)
    hand.made.send(0, 0x81, 40, 0)
    for n in range(1, 15):
        hand.made.send(10 + n, 0x91 + n, 40 + n, 64)
        hand.made.send(10 + n, 0x81 + n, 40 + n, 64)
    hand.until(3000)
    hand.turn_one(1, float("nan"))
    hand.made.send(0, 0x91, 60, 127)
    assert np.array_equal(sound, hand.sound())


def test_the_first_single_note_leaves_parameters_where_they_are(folder: Path) -> None:
    rows: list[Row] = [(0, (PARAMETER, HEIGHT, -1, -1), -8e-5), (0, (MIDI, packed(0xB0, 7, 80), 0, 0), 0.0)]
    rows.append((500, (ON, 1, 0, 50), 100 / 127))
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), rows, 2)
    hand = ByHand(folder)
    hand.turn(-8e-5)
    hand.made.send(0, 0xB0, 7, 80)
    hand.until(500)
    hand.members()
    hand.made.send(0, 0x91, 50, 100)
    assert np.array_equal(sound, hand.sound())
    other = ByHand(folder)
    other.members()
    other.made.send(500, 0x91, 50, 100)
    assert not np.array_equal(sound, other.sound())


def test_where_channels_play_different_parts_all_notes_are_modulated(folder: Path) -> None:
    parts = [{"preset": "sitar-string", "channels": 1}, {"preset": "prepared", "channels": 2}]
    there = folder / "duo"
    there.mkdir()
    clap.write(Export(load_rack({"rack": "Duo", "parts": parts}), (float(RATE),), target_of(None), print), there)
    notes: list[Row] = [(0, (ON, 1, 0, 50), 0.5), (0, (ON, 2, 0, 57), 0.5)]
    sounds = []
    for address in ((0, 57), (-1, -1)):
        told: list[Row] = [*notes, (500, (MODULATION, HEIGHT, *address), -9e-5)]
        sound, said = heard(host(folder), there / "duo.clap", told, 1)
        assert "0 Barrier height: 0.1 mm (of all)" in said
        sounds.append(sound)
    assert np.array_equal(*sounds)
    assert not np.array_equal(sounds[0], heard(host(folder), there / "duo.clap", notes, 1)[0])


# --- parameters -------------------------------------------------------------------------------------------------------


def test_a_parameter_turns_on_its_frame(folder: Path) -> None:
    library(folder.parent)  # the same code, called by hand
    made, keys = (
        Opened(folder.parent, image_of("sitar-string")),
        {dial.key: dial.number for dial in dials(rack("sitar-string"))},
    )
    number = PARAMETERS["barrier.height"].number
    turns = [(777, -2e-5), (3000, -8e-5), (3001, 1e9)]  # the last one beyond the end
    rows: list[Row] = [(0, (MIDI, packed(0x90, 54, 100), 0, 0), 0.0)]
    rows += [(at, (PARAMETER, number, -1, -1), value) for at, value in turns]
    rows += [(4000, (PARAMETER, number, -1, -1), float("nan")), (4000, (PARAMETER, 4711, -1, -1), 1.0)]
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), rows, 1)
    made.send(0, 0x90, 54, 100)
    pieces, now = [], 0
    for at, value in turns:
        pieces.append(made.run(at - now))
        now = at
        assert made.code.jawari_turn(made.at, keys["barrier.height"], min(value, 0.0)) == 1
    pieces.append(made.run(FRAMES - now))
    assert np.array_equal(sound, np.concatenate(pieces))


@pytest.mark.parametrize(("name", "turns"), TURNED, ids=str)
def test_a_design_is_made_by_a_thread_of_its_own_and_followed_between_blocks(
    name: str, turns: dict[str, list[float]], folder: Path
) -> None:
    """The block after the pause begins with it; of values that came meanwhile the newest counts."""
    library(folder.parent)
    ids, first = {dial.key: DESIGNED + number_of(dial) for dial in designed(rack(name))}, next(iter(turns))
    paused = next(start for start in np.cumsum(SIZES * 3).tolist() if start > 3000)
    rows: list[Row] = [(0, (MIDI, packed(0x90, 54, 100), 0, 0), 0.0), (700, (MIDI, packed(0x90, 60, 90), 0, 0), 0.0)]
    for key, values in turns.items():
        rows += [(paused - 40 + n, (PARAMETER, ids[key], -1, -1), value) for n, value in enumerate(values)]
    rows = sorted(rows, key=lambda row: row[0])
    rows += [(paused, (PAUSE, 1500, 0, 0), 0.0), (paused + 10, (MIDI, packed(0x90, 66, 90), 0, 0), 0.0)]
    sound, said = heard(host(folder), plugin(folder, name, any_rate=True), rows, 1)
    assert f"{ids[first]} {named(first)}: " in said
    old = Opened(folder.parent, unfrozen(name))
    new = Opened(folder.parent, unfrozen(name), RATE, values_of(name, {k: v[-1] for k, v in turns.items()}))
    old.send(0, 0x90, 54, 100)
    old.send(700, 0x90, 60, 90)
    pieces = [old.run(paused)]
    assert new.code.jawari_follow(new.at, old.at) == 1
    new.send(10, 0x90, 66, 90)
    pieces.append(new.run(FRAMES - paused))
    assert np.array_equal(sound, np.concatenate(pieces))


def test_all_parts_of_a_rack_are_designed_anew_while_they_sound(folder: Path) -> None:
    """A knob that both have; each over its own range. Programs stay as they were chosen."""
    names = ("prepared", "tanpura-string")
    made = Export(rack(*names), (), target_of(None), print)
    there = folder / "both"
    there.mkdir()
    clap.write(made, there)
    dial = next(dial for dial in made.designs if dial.key == "string.stiffness")
    paused = next(start for start in np.cumsum(SIZES * 3).tolist() if start > 3000)
    rows: list[Row] = [(0, (MIDI, packed(0x90, 60, 100), 0, 0), 0.0), (500, (MIDI, packed(0xC0, 1), 0, 0), 0.0)]
    rows += [
        (510, (MIDI, packed(0x90, 45, 100), 0, 0), 0.0),
        (paused - 1, (PARAMETER, DESIGNED + number_of(dial), -1, -1), dial.low),
        (paused, (PAUSE, 1500, 0, 0), 0.0),
        (paused + 10, (MIDI, packed(0x90, 48, 90), 0, 0), 0.0),
    ]
    sound, _ = heard(host(folder), next(there.glob("*.clap")), rows, 1)
    told = [dial.low if own is dial else float("nan") for own in made.designs]
    library(folder.parent)
    old, new = Opened(folder.parent, made.image), Opened(folder.parent, made.image, RATE, told)
    old.send(0, 0x90, 60, 100)
    pieces = [old.run(500)]
    old.send(0, 0xC0, 1)
    old.send(10, 0x90, 45, 100)
    pieces.append(old.run(paused - 500))
    still = np.concatenate(pieces)
    assert new.code.jawari_follow(new.at, old.at) == 1
    new.send(10, 0x90, 48, 90)
    pieces.append(new.run(FRAMES - paused))
    assert np.array_equal(sound, np.concatenate(pieces))
    assert not np.array_equal(heard(host(folder), next(there.glob("*.clap")), rows[:3], 1)[0][paused:], sound[paused:])
    assert np.array_equal(sound[:paused], still)


@pytest.mark.parametrize(("name", "key", "value"), WANTED)
def test_it_begins_with_the_design_that_was_wanted_last(name: str, key: str, value: float, folder: Path) -> None:
    """The second time with the first note, the first time after a pause: the same sound, four times."""
    number = next(DESIGNED + number_of(d) for d in designed(rack(name)) if d.key == key)
    rows: list[Row] = [(0, (PARAMETER, number, -1, -1), value), (1, (PAUSE, 1500, 0, 0), 0.0)]
    rows.append((70, (MIDI, packed(0x90, 54, 100), 0, 0), 0.0))
    sound, _ = heard(host(folder), plugin(folder, name, any_rate=True), rows, 4)
    made = Opened(folder.parent, unfrozen(name), RATE, values_of(name, {key: value}))
    made.send(70, 0x90, 54, 100)
    assert np.array_equal(sound, made.run(FRAMES))


def test_a_program_is_a_parameter(folder: Path) -> None:
    rows: list[Row] = [(0, (PARAMETER, PROGRAM, -1, -1), 1.0), (1, (ON, 1, 0, 50), 90 / 127)]
    sound, said = heard(host(folder), plugin(folder, "sitar-string", "slap-bass"), rows, 1)
    assert f"{PROGRAM} Program: Slap bass" in said
    rows[0] = (0, (PARAMETER, PROGRAM, -1, -1), 0.0)
    other, _ = heard(host(folder), plugin(folder, "sitar-string", "slap-bass"), rows, 1)
    assert sound.any()
    assert not np.array_equal(sound, other)


def test_the_plugin_has_one_symbol_and_no_more_files_than_it_says(folder: Path) -> None:
    there = plugin(folder, "sitar-string")
    assert {file.name for file in there.parent.iterdir()} - {"events"} == {
        *("LICENSE", "README.md", "jawari.image", "sitar-string.clap")
    }
    if shutil.which("nm"):
        said = subprocess.run(["nm", "-D", "--defined-only", there], capture_output=True, text=True, check=True).stdout
        assert [line.split()[-1] for line in said.splitlines()] == ["clap_entry"]


def test_our_declarations_are_claps(tmp_path: Path) -> None:
    if not (HEADERS / "entry.h").is_file():
        pytest.skip("CLAP's own headers are not here: apt install dpf-source")
    source, made = Path(__file__).with_name("same_clap.c"), tmp_path / "same"
    words = [*WORDS, f"-I{HEADERS}"]
    subprocess.run([str(COMPILER), *words, "-o", str(made), str(source)], check=True)
    assert subprocess.run([str(made)], check=False).returncode == 0
