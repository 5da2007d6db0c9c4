"""The whole sitar with everything on: the same bits in any blocks, after a reset, in any process, live and offline."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from live.driving import Card, flushed, replay
from live.thread.test_block import random_events
from robustness_parts.random_music import random_music
from synth.playing import Event, blocks, render

from engine.live.player import Player
from engine.music.note import parse_notes
from engine.music.score import score_of_notes
from engine.offline.job import Job, Manner, OutputFile, Treatment
from engine.offline.pool import run_jobs
from engine.physics.network.parts import Plane
from engine.preset.assembly import Felt, Rattle
from engine.preset.loader import Preset, load_preset
from engine.preset.room import Room
from engine.synth.instrument import Instrument

ROOT = Path(__file__).parents[2]
SITAR = ROOT / "tests" / "preset" / "instruments" / "sitar-full.yaml"
RATE, FRAMES = 48_000, 6000
KEYS = [*range(37, 45), *range(54, 70)]
PROGRAM = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from synth import test_everything_on
print(test_everything_on.digest())
"""


def everything() -> Preset:
    """Its strings in two planes that stretch, with felts, in a room; the last is one for each key, and something
    lies loose on it.
    """
    preset = load_preset(SITAR)
    assert preset.assembly is not None
    last = len(preset.assembly.played) - 1
    planes = (Plane(0.2), Plane(0.2 + 0.5 * np.pi, 0.5, band=4e3))
    played = tuple(
        replace(
            part,
            strung=replace(part.strung, planes=planes, stretching=1e4 * (n == 0), band=8e3),
            felt=Felt(0.2, resistance=1.0),
            mono=part.mono and n != last,
            rattles=(Rattle(0.3, 5e-4, 1e-4),) * (n == last),
        )
        for n, part in enumerate(preset.assembly.played)
    )
    return replace(preset, assembly=replace(preset.assembly, played=played), room=Room(0.2, 0.4, 5.0))


@cache
def instrument() -> Instrument:
    return Instrument(everything(), RATE)


def music() -> list[Event]:
    return [(at, list(data)) for at, data in random_music(Random(3), KEYS, FRAMES)]


def digest() -> str:
    """What is played, in blocks that nobody else takes."""
    made = Instrument(everything(), RATE)
    return hashlib.sha256(render(made, music(), FRAMES, blocks(101, FRAMES)).tobytes()).hexdigest()


def test_blocks_resets_files_and_processes_decide_nothing(tmp_path: Path) -> None:
    inst = instrument()
    inst.reset()
    wanted = render(inst, music(), FRAMES)
    assert np.abs(wanted).max() > 0.01
    assert inst.report()["watchdog"] == 0
    for size in (1, 37, 64, 512):
        inst.reset()
        assert (render(inst, music(), FRAMES, blocks(size, FRAMES)) == wanted).all(), size
    inst.save(tmp_path / "it.jawari")
    assert (render(Instrument.open(tmp_path / "it.jawari"), music(), FRAMES) == wanted).all()
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [hashlib.sha256(wanted.tobytes()).hexdigest()]


def test_what_a_card_gets_is_what_is_rendered() -> None:
    rng, inst = np.random.default_rng(11), instrument()
    inst.reset()
    player = Player(RATE, 128)
    card = Card(player)
    card.run(7)
    assert player.change(inst)
    for stamp, data in random_events(rng, 60, card.time, card.time + 0.4e9):
        while stamp > card.time:
            card.run(1, int(rng.choice([1, 17, 64, 128, 441, 1024])))
        assert player.send(data, stamp)
    card.run(30)
    got, journal = np.concatenate(card.heard)[7 * 128 :], player.new_events()
    assert len(journal) == 60
    assert np.abs(got).max() > 0.01
    assert (flushed(got) == replay(inst, journal, len(got), 7 * 128)).all()


def test_a_pool_of_processes_changes_no_byte(tmp_path: Path) -> None:
    """Two files in two processes, against both in this one."""
    score, preset = score_of_notes(parse_notes("F#3:0:.1 C#2:.02:.1 C#4:.05:.1:120")), everything()

    def jobs(folder: str) -> list[Job]:
        (tmp_path / folder).mkdir()
        files = [OutputFile(tmp_path / folder / f"{name}.wav", score) for name in "ab"]
        return [Job(preset, Manner(polyphony=4), Treatment("16", tail=0.1, seed=5), (file,)) for file in files]

    alone = run_jobs(jobs("alone"), lambda _: None, workers=1)
    together = run_jobs(jobs("together"), lambda _: None, workers=2)
    assert [outcome.error for outcome in alone + together] == [""] * 4
    found = {path.read_bytes() for folder in ("alone", "together") for path in (tmp_path / folder).iterdir()}
    assert len(found) == 1
