"""Instruments that play at once, in threads and in processes, play the same bits as alone."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from engine.offline.render import render

PRESETS = ("plain", "slap-bass")  # a string of modes and one on a grid
RATE = 16_000  # quickly designed
NOTES = "C3:0:.2 E3:.1:.1:80 G3:.15:.2 C3:.2:.1"

FOUR_THREADS = f"""
import hashlib, threading
from engine import Instrument
from engine.music.note import parse_notes
from engine.music.score import score_of_notes
from engine.offline.stream import stream

sums, gate = {{}}, threading.Barrier(4)

def play(name, take):
    player = Instrument(name, {RATE}, oversample=1, polyphony=3)
    gate.wait()
    chunks = [chunk.tobytes() for chunk in stream(player, score_of_notes(parse_notes({NOTES!r})), 0.5)]
    sums[name, take] = hashlib.sha256(b"".join(chunks)).hexdigest()

threads = [threading.Thread(target=play, args=(name, take)) for name in {PRESETS} for take in (0, 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for (name, take), sum in sorted(sums.items()):
    print(name, sum)
"""


def test_four_threads_in_each_of_two_processes_play_as_one_alone() -> None:
    command = [sys.executable, "-c", FOUR_THREADS]
    root = Path(__file__).parents[2]
    processes = [subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    expected = []
    for name in PRESETS:
        audio = render(name, NOTES, RATE, 1, polyphony=3, tail=0.5)
        assert audio.any()
        expected += [f"{name} {hashlib.sha256(audio.tobytes()).hexdigest()}"] * 2
    for process in processes:
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        assert out.splitlines() == expected
