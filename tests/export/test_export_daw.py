"""Ardour, without a screen: a track of strings is made, saved, opened again and bounced, to the last bit.

Both of what Ardour can load: LV2 and VST 3.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import mido
import numpy as np
import pytest
import soundfile
from export.bundling import bundle, order
from export.exporting import NEEDED, RATE, Event, image_of, library

from engine import aligned
from engine.export import lv2, vst3
from engine.export.knobs import Dial
from engine.synth.instrument import Instrument

ARDOUR = next(filter(None, map(shutil.which, ("ardour7-lua", "ardour8-lua"))), None)
NO_DAW = pytest.mark.skipif(ARDOUR is None, reason="there is no digital audio workstation: apt install ardour")
pytestmark = [*NEEDED, NO_DAW]
TICK = 25  # frames of two ticks: 1920 a beat, two beats a second
SECONDS = 4
NAMES = ("sitar-string", "prepared")
SCRIPT = Path(__file__).with_name("daw.lua")
SUPERCLOCK = 282_240_000  # in which Ardour counts a second


def piece() -> list[Event]:
    """Two strings a quarter apart, and none struck again, since Ardour has a way of its own with notes that overlap; no
    controllers either, between whose values it draws lines."""
    chance, found = random.Random(5), list[Event]()
    for n, key in enumerate(chance.sample(range(40, 84), 2 * (SECONDS - 2) * 4)):
        start, length = n * RATE // 8 // TICK * TICK, chance.randrange(100, 1500) * TICK
        found += [(start, [0x90, key, chance.randrange(40, 127)]), (start + length, [0x80, key, 64])]
    return sorted(found, key=lambda event: event[0])


def enter(folder: Path) -> None:
    """The piece as a region of the session's one track."""
    track = mido.MidiTrack()
    last = 0
    for at, data in piece():
        track.append(mido.Message.from_bytes(data, time=(at - last) // TICK * 2))
        last = at
    file = mido.MidiFile(type=0, ticks_per_beat=1920, tracks=[track])
    file.save(folder / "interchange" / folder.name / "midifiles" / "take.mid")
    whole = SECONDS * 2 * 1920
    region = (
        '<Region name="take" muted="0" opaque="1" locked="0" automatic="0" whole-file="0" hidden="0" '
        f'position-locked="0" start="b0" length="b{whole}@b0" id="9001" type="midi" '
        'first-edit="nothing" source-0="9000" master-source-0="9000" channels="1"/>'
    )
    session = folder / f"{folder.name}.ardour"
    text = session.read_text(encoding="utf-8")
    source = '<Source name="take.mid" take-id="" type="midi" flags="CanRename" id="9000" captured-for=""/>'
    end = SECONDS * SUPERCLOCK
    ends = f'<Location id="9002" name="session" start="a0" end="a{end}" flags="IsSessionRange" locked="0"/>'
    text, found = re.subn(r'(<Playlist [^>]*type="midi"[^>]*)/>', rf"\1>{region}</Playlist>", text)
    assert found == 1
    for empty, full in (("Sources", source), ("Locations", ends)):
        assert f"<{empty}/>" in text
        text = text.replace(f"<{empty}/>", f"<{empty}>{full}</{empty}>")
    session.write_text(text, encoding="utf-8")


def called(command: list[str], folder: Path, **told: str) -> str:
    """What Ardour says."""
    around = {**os.environ, "HOME": str(folder), "LV2_PATH": str(folder / "plugins"), **told}
    around.pop("DISPLAY", None)
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=around, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(folder: Path, kind: str) -> str:
    """The plugin where Ardour finds it; by which name."""
    (folder / "plugins").mkdir()
    if kind == "LV2":
        shutil.copytree(bundle(folder, *NAMES), folder / "plugins" / "strings.lv2")
        return lv2.uri(order(*NAMES))
    (folder / ".vst3").mkdir()
    (folder / "made").mkdir()
    vst3.write(order(*NAMES), folder / "made")
    made = next((folder / "made").glob("*.vst3"))
    made = made.rename(folder / ".vst3" / made.name)
    (code,) = made.glob("Contents/*/*.so")
    os.utime(code, (1e9, 1e9))  # what was made within the same second as Ardour's note of it counts as newer
    scanner = next(Path("/usr/lib").glob("ardour*/ardour-vst3-scanner"))
    said = called([str(scanner), "-v", str(made)], folder, LD_LIBRARY_PATH=str(scanner.parent))
    assert "Saved VST3 plugin cache" in said, said
    return vst3.class_id(order(*NAMES))


def asked(kind: str, dials: dict[int, float]) -> dict[int, float]:
    """Parameters as Ardour counts them, and in what unit: LV2's are ports, after the latency's, of thousandths."""
    own = order(*NAMES).dials
    scales = {dial.number: dial.shown[1] for dial in own}
    return {n + 1: value / scales.get(n, 1.0) for n, value in dials.items()} if kind == "LV2" else dials


def come(kind: str, dial: Dial, value: float) -> float:
    """What is left of a value on its way: ports have 32 bits, and so have Ardour's values of VST 3 and their shares."""
    if kind == "LV2":
        scale = dial.shown[1]
        return scale * float(np.float32(value / scale))
    way = dial.high - dial.low
    return dial.low + float(np.float32((float(np.float32(value)) - dial.low) / way)) * way


def bounced(folder: Path, kind: str, dials: dict[int, float]) -> Any:
    """What comes out of a session that one process made, and another opened, saved again and bounced."""
    uri, session = installed(folder, kind), folder / "session"
    told = {"FOLDER": str(session), "NAME": "session", "KIND": kind, "URI": uri, "RATE": str(RATE)}
    told |= {
        "FRAMES": str(SECONDS * RATE),
        "SET": " ".join(f"{number}={value!r}" for number, value in asked(kind, dials).items()),
    }
    for what in ("make", "bounce"):
        said = called([str(ARDOUR), str(SCRIPT)], folder, WHAT=what, **told)
        values = {int(n): float(value) for n, value in re.findall(r"parameter (\d+) is\s+(\S+)", said)}
        assert values == pytest.approx(asked(kind, dials)), said
        if what == "make":
            enter(session)
    sides = [soundfile.read(path, dtype="float32") for path in re.findall(r"bounced\s+(.+)", said)]
    assert [rate for _, rate in sides] == [RATE, RATE]
    return np.stack([sound for sound, _ in sides], axis=1)


def rendered(folder: Path, kind: str, dials: dict[int, float], late: int) -> Any:
    """What the exported code plays of it, without its latency, after a second in which the dials come to rest."""
    code, content = library(folder), image_of(*NAMES)
    image = aligned.zeros(len(content), np.uint8)
    image[:] = np.frombuffer(content, np.uint8)
    held = aligned.zeros(code.jawari_size(image.ctypes.data, image.size, RATE), np.uint8)
    there = held.ctypes.data
    assert code.jawari_open(there, image.ctypes.data, image.size, RATE) == 0
    own = order(*NAMES).dials
    for number, value in dials.items():
        if number == len(own):
            assert code.jawari_take(there, round(value)) == 1
        else:
            assert code.jawari_turn(there, number, come(kind, own[number], value)) == 1

    def run(frames: int) -> Any:
        both = np.zeros((2, frames), np.float32)
        code.jawari_run(there, frames, both[0].ctypes.data, both[1].ctypes.data)
        return both

    run(RATE)
    pieces, now = [], 0
    for at, data in piece():
        if at > now:
            pieces.append(run(at - now))
            now = at
        assert code.jawari_send(there, 0, bytes(data), len(data))
    pieces.append(run(SECONDS * RATE + late - now))
    return np.concatenate(pieces, axis=1).T[late:]


@pytest.mark.parametrize(
    ("kind", "dials"),
    [("LV2", {}), ("LV2", {0: -5e-5, 1: 1.5e-3, 3: 1}), ("VST3", {0: -5e-5, 1: 1.5e-3, 3: 1})],
    ids=["LV2, as made", "LV2, turned, another program", "VST 3, turned, another program"],
)
def test_a_session_is_bounced_as_it_is_rendered(kind: str, dials: dict[int, float], tmp_path: Path) -> None:
    late = max(Instrument(name, RATE).latency for name in NAMES)
    wanted, found = rendered(tmp_path, kind, dials, late), bounced(tmp_path, kind, dials)
    assert np.abs(wanted).max() > 0.01
    assert np.array_equal(found, wanted)
