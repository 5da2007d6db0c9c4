"""Ardour, without a screen: a track of strings is made, saved, opened again and bounced, to the last bit."""

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
from engine.export import lv2
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


def bounced(folder: Path, dials: dict[int, float]) -> Any:
    """What comes out of a session that one process made, and another opened, saved again and bounced."""
    (folder / "plugins").mkdir()
    shutil.copytree(bundle(folder, *NAMES), folder / "plugins" / "strings.lv2")
    session = folder / "session"
    told = {"FOLDER": str(session), "NAME": "session", "URI": lv2.uri(order(*NAMES)), "RATE": str(RATE)}
    told |= {"FRAMES": str(SECONDS * RATE), "SET": " ".join(f"{number}={value}" for number, value in dials.items())}
    for what in ("make", "bounce"):
        said = called([str(ARDOUR), str(SCRIPT)], folder, WHAT=what, **told)
        values = {int(n): float(value) for n, value in re.findall(r"parameter (\d+) is\s+(\S+)", said)}
        assert values == pytest.approx(dials), said
        if what == "make":
            enter(session)
    sides = [soundfile.read(path, dtype="float32") for path in re.findall(r"bounced\s+(.+)", said)]
    assert [rate for _, rate in sides] == [RATE, RATE]
    return np.stack([sound for sound, _ in sides], axis=1)


def rendered(folder: Path, dials: dict[int, float], late: int) -> Any:
    """What the exported code plays of it, without its latency, after a second in which the dials come to rest."""
    code, content = library(folder), image_of(*NAMES)
    image = aligned.zeros(len(content), np.uint8)
    image[:] = np.frombuffer(content, np.uint8)
    held = aligned.zeros(code.jawari_size(image.ctypes.data, image.size, RATE), np.uint8)
    there = held.ctypes.data
    assert code.jawari_open(there, image.ctypes.data, image.size, RATE) == 0
    for number, value in dials.items():
        dial = order(*NAMES).dials
        if number - 1 < len(dial):
            scale = lv2.SHOWN.get(dial[number - 1].unit, ("", 1.0))[1]
            code.jawari_turn(there, number - 1, scale * float(np.float32(value)))
        else:
            code.jawari_take(there, round(value))

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


@pytest.mark.parametrize("dials", [{}, {1: -0.05, 2: 1.5, 4: 1}], ids=["as made", "turned, another program"])
def test_a_session_is_bounced_as_it_is_rendered(dials: dict[int, float], tmp_path: Path) -> None:
    late = max(Instrument(name, RATE).latency for name in NAMES)
    wanted, found = rendered(tmp_path, dials, late), bounced(tmp_path, dials)
    assert np.abs(wanted).max() > 0.01
    assert np.array_equal(found, wanted)
