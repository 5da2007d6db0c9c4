"""`--format vst3`: a host's ragged blocks give what the engine plays, MIDI as such hosts hand it on, state is kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
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
from export.test_export_clap import (
    EXPRESSION,
    MIDI,
    OFF,
    ON,
    PARAMETER,
    PAUSE,
    RETUNED,
    ROW,
    SIZES,
    TURNED,
    WANTED,
    Ready,
    Row,
    order,
    played,
)
from export.test_export_designs import image_of as unfrozen
from export.test_export_designs import values as values_of
from live import guard

from engine.export import vst3
from engine.export.designs import designed, number_of
from engine.export.header import header
from engine.export.job import ROOM, Export
from engine.export.knobs import dials
from engine.export.shape import DESIGNED, PROGRAM
from engine.export.targets import System, target_of
from engine.messages import packed
from engine.preset.parameters import PARAMETERS
from engine.synth.instrument import Instrument
from engine.synth.mts import tunings

pytestmark = NEEDED
SOURCES = ROOM / "vst3"
HERE = Path(__file__).parent
WORDS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{SOURCES}", f"-I{ROOM}")
CHECKS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-pthread")
HEADERS = Path("/usr/share/dpf/distrho/src/travesty")
VOLUME, PAN, TUNING, BRIGHTNESS, PRESSURE = 0, 1, 2, 5, -1  # kinds of expression; the last is said by keys
APART = PROGRAM + 1  # the switch


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vst3")


def plugin(folder: Path, *names: str, any_rate: bool = False) -> Path:
    there = folder / "-".join((*names, "any") if any_rate else names)
    if not there.exists():
        there.mkdir()
        vst3.write(order(*names, any_rate=any_rate), there)
    return next(there.glob("*.vst3/Contents/*/*.so"))


def host(folder: Path) -> Path:
    made = folder / "host"
    if not made.exists():
        command = [str(COMPILER), *WORDS, "-o", str(made), str(HERE / "vst3host.c"), "-ldl"]
        subprocess.run(command, check=True)
    return made


def inside(work: Path, program: str, made: Export) -> Path:
    """A program with the plugin in it, lying as a library would, under the sanitizers."""
    room, beside = work / "Contents" / "here", work / "Contents" / "Resources"
    room.mkdir(parents=True), beside.mkdir()
    (work / "jawari.h").write_text(header(made.rack, made.dials, made.rates))
    (work / "shape.h").write_text(vst3.shape(made))
    (work / "jawari.o").write_bytes(code())
    (beside / "jawari.image").write_bytes(made.image)
    sources = [str(HERE / program), str(SOURCES / "plugin.c"), str(work / "jawari.o")]
    command = [str(COMPILER), *WORDS, *CHECKS, f"-I{work}", "-DINSIDE", "-o", str(room / "checked"), *sources]
    subprocess.run([*command, "-lm", "-ldl"], check=True)
    return room / "checked"


def heard(program: Path, library: Path, rows: list[Row], times: int, frames: int = FRAMES) -> tuple[Any, str]:
    """The sound, [frames, 2], and what the host said; guard.c watches blocks, where it can."""
    events = program.parent / "events"
    events.write_bytes(np.array(rows, ROW).tobytes())
    around = {} if guard.missing() or program.name == "checked" else {"LD_PRELOAD": str(guard.library())}
    command = [str(program), str(library), str(RATE), str(events), str(frames), str(times)]
    done = subprocess.run(command, capture_output=True, check=False, env={**os.environ, **around})
    assert done.returncode == 0, (done.returncode, done.stderr)
    return np.frombuffer(done.stdout, np.float32).reshape(2, -1).T, done.stderr.decode(errors="replace")


def as_midi() -> list[Row]:
    return [(at, (MIDI, packed(*data), 0, 0), 0.0) for at, data in music() if at < FRAMES]


@pytest.mark.parametrize("name", ["sitar-string", "slap-bass", NETWORK])
def test_a_host_hears_what_the_engine_plays(name: str, folder: Path) -> None:
    sound, said = heard(host(folder), plugin(folder, name), as_midi(), 4)
    assert np.array_equal(sound, expected(name))
    if name == "sitar-string":
        assert f"latency {Instrument('sitar-string', RATE).latency}" in said
        assert "0 Barrier height: 0 mm" in said
        assert "is not made for 1 Hz, but for 48000 Hz" in said
        info = json.loads(next((folder / name).rglob("moduleinfo.json")).read_text())
        assert f"{info['Classes'][0]['CID']} {info['Classes'][0]['Name']}\n" in said


def test_keys_are_retuned_by_sysex(folder: Path) -> None:
    words = [(at, tunings(data)[0]) for at, data in retuned()]
    told = [(at, (RETUNED, word >> 16 & 0x1FFFFF, 0, word >> 8 & 127), 0.0) for at, word in words]
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), sorted(as_midi() + told, key=lambda row: row[0]), 2)
    assert np.array_equal(sound, expected("sitar-string", more=retuned()))


def test_a_registered_parameter_is_chosen_before_it_is_set(folder: Path) -> None:
    """All in one frame, where a host says for each controller by itself what it does."""
    range_of_bend = [(0, [0xB0, number, value]) for number, value in ((6, 12), (100, 0), (101, 0), (38, 50))]
    events = [(0, [0x90, 54, 100]), (700, [0xE0, 0, 96])]
    rows: list[Row] = [(at, (MIDI, packed(*data), 0, 0), 0.0) for at, data in [*range_of_bend, *events]]
    sound, _ = heard(host(folder), plugin(folder, "sitar-string"), rows, 1)
    chosen = [range_of_bend[n] for n in (2, 1, 0, 3)]
    assert np.array_equal(sound, played([*chosen, *events]))
    assert not np.array_equal(sound, played(events))


def test_each_note_has_an_expression_of_its_own_where_they_are_apart(folder: Path) -> None:
    """They are an MPE zone's: what is said of one note goes to its channel, and to no other."""
    rows: list[Row] = [
        (0, (PARAMETER, APART, 0, 0), 1.0),
        (0, (ON, 7, 0, 50), 100 / 127),
        (100, (ON, 8, 0, 57), 90 / 127),
        (1000, (EXPRESSION, TUNING, 0, 8), 0.5 + 1.5 / 240),
        (1500, (EXPRESSION, PRESSURE, 0, 50), 0.5),
        (2000, (EXPRESSION, BRIGHTNESS, 0, 7), 1.0),
        (2500, (EXPRESSION, VOLUME, 0, 8), 0.0625),  # -12 dB
        (2600, (EXPRESSION, PAN, 0, 8), 0.25),
        (3000, (OFF, 7, 0, 50), 0.5),
        (3001, (ON, 9, 3, 50), 1.0),  # on the third channel: the first was in use last but one
        (4000, (EXPRESSION, TUNING, 0, 7), 0.6),  # of nobody by now
        (5000, (OFF, -1, 3, 50), 0.0),
    ]
    bend = int(8192.5 + 8192 / 48 * 1.5)
    midi = [
        *[(0, [0xB0, number, value]) for number, value in ((101, 0), (100, 6), (6, 15))],
        (0, [0x91, 50, 100]),
        (100, [0x92, 57, 90]),
        (1000, [0xE2, bend & 127, bend >> 7]),
        (1500, [0xD1, 64]),
        (2000, [0xB1, 74, 127]),
        (2500, [0xB2, 11, 64]),
        (2600, [0xB2, 10, 32]),
        (3000, [0x81, 50, 64]),
        (3001, [0x93, 50, 127]),
        (5000, [0x83, 50, 0]),
    ]
    sound, said = heard(host(folder), plugin(folder, "sitar-string"), rows, 3)
    assert np.array_equal(sound, played(midi))
    assert f"{APART} Notes apart: On" in said
    together, _ = heard(host(folder), plugin(folder, "sitar-string"), rows[1:], 1)
    plain = [(0, [0x90, 50, 100]), (100, [0x90, 57, 90]), (1500, [0xA0, 50, 64]), (3000, [0x80, 50, 64])]
    assert np.array_equal(together, played([*plain, (3001, [0x93, 50, 127]), (5000, [0x83, 50, 0])]))


# --- parameters -------------------------------------------------------------------------------------------------------


def test_a_parameter_turns_on_its_frame(folder: Path) -> None:
    library(folder.parent)  # the same code, called by hand
    made = Opened(folder.parent, image_of("sitar-string"))
    dial = next(dial for dial in dials(rack("sitar-string")) if dial.key == "barrier.height")
    number = PARAMETERS[dial.key].number
    turns = [(777, -2e-5), (3000, -8e-5), (3001, 1e9)]  # the last one beyond the end
    rows: list[Row] = [(0, (MIDI, packed(0x90, 54, 100), 0, 0), 0.0)]
    rows += [(at, (PARAMETER, number, -1, -1), value) for at, value in turns]
    rows += [(4000, (PARAMETER, number, -1, -1), float("nan")), (4000, (PARAMETER, 4711, -1, -1), 1.0)]
    sound, said = heard(host(folder), plugin(folder, "sitar-string"), rows, 1)
    assert "state of 1 parameters" in said
    made.send(0, 0x90, 54, 100)
    pieces, now = [], 0
    for at, value in turns:
        pieces.append(made.run(at - now))
        now = at
        way = dial.high - dial.low
        share = min((value - dial.low) / way, 1.0)
        assert made.code.jawari_turn(made.at, dial.number, dial.low + share * way) == 1
    pieces.append(made.run(FRAMES - now))
    assert np.array_equal(sound, np.concatenate(pieces))


@pytest.mark.parametrize(("name", "key", "value"), WANTED)
def test_it_begins_with_the_design_that_was_wanted_last(name: str, key: str, value: float, folder: Path) -> None:
    """The second time with the first note, the first time after a pause, offline without one: always the same sound."""
    library(folder.parent)
    dial = next(dial for dial in designed(rack(name)) if dial.key == key)
    share = (value - dial.low) / (dial.high - dial.low)
    value = dial.low + share * (dial.high - dial.low)
    rows: list[Row] = [(0, (PARAMETER, DESIGNED + number_of(dial), -1, -1), value), (1, (PAUSE, 1500, 0, 0), 0.0)]
    rows.append((70, (MIDI, packed(0x90, 54, 100), 0, 0), 0.0))
    sound, said = heard(host(folder), plugin(folder, name, any_rate=True), rows, 3)
    assert f"{DESIGNED + number_of(dial)} {dial.name}: " in said
    made = Opened(folder.parent, unfrozen(name), RATE, values_of(name, {key: value}))
    made.send(70, 0x90, 54, 100)
    assert np.array_equal(sound, made.run(FRAMES))


@pytest.mark.parametrize(("name", "turned"), TURNED, ids=str)
def test_a_design_is_followed_while_strings_ring(name: str, turned: dict[str, list[float]], folder: Path) -> None:
    """The block after the pause begins with it; of values that came meanwhile the newest counts."""
    library(folder.parent)
    found = {dial.key: dial for dial in designed(rack(name))}
    paused = next(start for start in np.cumsum(SIZES * 3).tolist() if start > 3000)
    rows: list[Row] = [(0, (MIDI, packed(0x90, 54, 100), 0, 0), 0.0), (700, (MIDI, packed(0x90, 60, 90), 0, 0), 0.0)]
    wanted = dict[str, float]()
    turns = [(key, value) for key, values in turned.items() for value in values]
    for n, (key, value) in enumerate(turns):
        dial = found[key]
        # As hosts have it, by shares of its way.
        wanted[key] = dial.low + (value - dial.low) / (dial.high - dial.low) * (dial.high - dial.low)
        rows.append((paused - 40 + n, (PARAMETER, DESIGNED + number_of(dial), -1, -1), value))
    rows += [(paused, (PAUSE, 1500, 0, 0), 0.0), (paused + 10, (MIDI, packed(0x90, 66, 90), 0, 0), 0.0)]
    sound, _ = heard(host(folder), plugin(folder, name, any_rate=True), rows, 1)
    old = Opened(folder.parent, unfrozen(name))
    new = Opened(folder.parent, unfrozen(name), RATE, values_of(name, wanted))
    old.send(0, 0x90, 54, 100)
    old.send(700, 0x90, 60, 90)
    before = old.run(paused)
    assert new.code.jawari_follow(new.at, old.at) == 1
    new.send(10, 0x90, 66, 90)
    assert np.array_equal(sound, np.concatenate([before, new.run(FRAMES - paused)]))


def test_a_program_is_a_parameter(folder: Path) -> None:
    names = ("sitar-string", "slap-bass")
    rows: list[Row] = [(0, (PARAMETER, PROGRAM, -1, -1), 1.0), (1, (ON, 1, 0, 50), 90 / 127)]
    sound, said = heard(host(folder), plugin(folder, *names), rows, 1)
    assert f"{PROGRAM} Program: Slap bass" in said
    made = Opened(folder.parent, image_of(*names))
    assert made.code.jawari_take(made.at, 1) == 1
    made.send(1, 0x90, 50, 90)
    assert np.array_equal(sound, made.run(FRAMES))
    assert sound.any()


# --- the bundle -------------------------------------------------------------------------------------------------------


def test_the_bundle_is_laid_out_as_hosts_want_it(folder: Path) -> None:
    there = plugin(folder, "sitar-string")
    whole = folder / "sitar-string"
    assert {str(file.relative_to(whole)) for file in whole.rglob("*") if file.is_file()} == {
        *("LICENSE", "README.md"),
        *(f"sitar-string.vst3/Contents/Resources/{name}" for name in ("jawari.image", "moduleinfo.json")),
        "sitar-string.vst3/Contents/x86_64-linux/sitar-string.so",
    }
    assert vst3.TRADEMARK in (whole / "README.md").read_text()
    if shutil.which("nm"):
        said = subprocess.run(["nm", "-D", "--defined-only", there], capture_output=True, text=True, check=True).stdout
        assert sorted(line.split()[-1] for line in said.splitlines()) == [
            *("GetPluginFactory", "ModuleEntry", "ModuleExit")
        ]


@pytest.mark.parametrize(
    ("system", "library"),
    [
        ("linux-aarch64", "aarch64-linux/prepared-string.so"),
        ("windows-x86_64", "x86_64-win/prepared-string.vst3"),
        ("macos-arm64", "MacOS/prepared-string"),
    ],
)
def test_every_system_has_its_room(system: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linked by nobody here; what is written, and which words are seen from outside."""
    seen = list[str]()

    def link(target: System, folder: Path, sources: Sequence[Path], made: Path, symbols: str) -> None:
        assert {source.name for source in sources} == {"plugin.c", "jawari.o"}
        seen.append(symbols)
        made.write_text("code")

    monkeypatch.setattr(vst3.linking, "library", link)
    monkeypatch.setattr(vst3.linking, "compiler", lambda target: [])
    monkeypatch.setattr(Export, "code", b"")
    vst3.write(Ready(rack("prepared"), (float(RATE),), target_of(system), print), tmp_path)
    contents = tmp_path / "prepared-string.vst3" / "Contents"
    assert (contents / library).read_text() == "code"
    assert (contents / "Resources" / "jawari.image").read_bytes() == image_of("prepared")
    assert seen[0].endswith("; GetPluginFactory")
    assert not (tmp_path / "work").exists()
    if system.startswith("macos"):
        assert "<string>prepared-string</string>" in (contents / "Info.plist").read_text()


def test_our_declarations_are_those_of_another(tmp_path: Path) -> None:
    if not (HEADERS / "audio_processor.h").is_file():
        pytest.skip("no other declaration of VST 3 is here: apt install dpf-source")
    source, made = HERE / "same_vst3.c", tmp_path / "same"
    words = [*WORDS, "-isystem", str(HEADERS), "-fms-extensions"]
    subprocess.run([str(COMPILER), *words, "-o", str(made), str(source)], check=True)
    assert subprocess.run([str(made)], check=False).returncode == 0


# --- the sanitizers ---------------------------------------------------------------------------------------------------


def test_under_the_sanitizers_nothing_is_wrong(tmp_path: Path) -> None:
    program = inside(tmp_path, "vst3host.c", order("prepared"))
    times = 1000 if SECONDS >= 20 else 30
    sound, _ = heard(program, Path("none"), as_midi(), times, 4800)
    assert np.array_equal(sound, expected("prepared")[:4800])


def test_many_plugins_on_many_threads_mind_nothing(tmp_path: Path) -> None:
    made = Export(rack("prepared", "slap-bass"), (44100.0, float(RATE)), target_of(None), print)
    program = inside(tmp_path, "vst3storm.c", made)
    blocks, times = (200, 20) if SECONDS >= 20 else (60, 6)
    told = [str(program), str(blocks), str(times), "4", "1", *map(str, made.rates)]
    done = subprocess.run(told, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
