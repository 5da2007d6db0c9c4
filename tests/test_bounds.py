"""No index of the engine's module is outside of its array: a module that looks, where the usual one does not, plays.

It is made in one process, without the helper of the usual one (parts.py), and plays the same bits.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from live.thread.test_block import random_events
from one_string import ONE_STRING
from synth.playing import SMALL

from engine import Instrument
from engine.compiled import INTERPRETED

TESTS = Path(__file__).parent
pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

# What stops the program at an index below zero or beyond an array's end.
WATCHED = """
import sys
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from engine import lowering, module

def watched(context, builder, kind, index, size):
    index = context.cast(builder, index, kind, types.intp)
    with cgutils.if_unlikely(builder, builder.icmp_unsigned(">=", index, size)):
        trap = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, trap, "llvm.trap"), [])
    return index

lowering.plain_index = watched
"""
# Every kind of string and every shipped preset, offline and live, with all that a player may do.
PLAYED = """
from live.driving import Card
from live.thread.test_block import random_events
from one_string import ONE_STRING
from synth.playing import SMALL
from test_bounds import played
from engine import Instrument, parts
from engine.live.player import Player
from engine.live.thread.tape import Tape
from engine.preset.loader import load_preset
from engine.synth.capture import Watcher
from engine.synth import image

image._name = lambda setup: ""  # rehearsed here, too
parts.cores = lambda: 1  # a process that helps out would not be watched
module._here.append(module.Code(module.make()))
rng = np.random.default_rng(7)
for name in (*SMALL, *ONE_STRING):
    instrument = Instrument(SMALL.get(name, name), 48_000)
    print(name, played(instrument), sep=": ")
    instrument.reset()
    player, tape = Player(48_000, 128), Tape(48_000, 2, 0.1)
    player.stage.tape = tape.address
    card, watcher = Card(player), Watcher()
    player.watch(watcher)
    watcher.watch(True)
    watcher.arm(300)
    assert player.change(instrument)
    for stamp, data in random_events(rng, 100, card.time, card.time + 1e8):
        player.send(data, stamp)
        card.run(1, int(rng.integers(1, 300)))
    player.send([0xF0, 0x7F, 0x7F, 8, 2, 0, 1, 50, 51, 64, 0, 0xF7], int(card.time))
    card.run(3)
    assert np.abs(card.heard[-1]).max() > 0.0
    if name in SMALL:  # a voice of each kind goes on in another design
        taken = player.follow(Instrument(load_preset(SMALL[name], {"string.stiffness": 2e-3}), 48_000))
        card.run(40)
        assert player.taken(taken)
    assert np.abs(card.heard[-1]).max() > 0.0
    assert watcher.looks()
    assert watcher.film() is not None
"""
OUTSIDE = """
from engine.compiled import floats, native

@native
def third(address, count):
    return floats(address, 3)[count] > 0.0

door = {"third": lowering.Door(third, (types.int64, types.int64))}
code, returning = lowering.compiled(door, 1, lambda share: None)
made = module.Code(module.sealed([code], returning))
for index in (2, int(sys.argv[1])):
    print(made.function("third", False, 2)(np.ones(3).ctypes.data, index), flush=True)
"""
COMPARED = ("bridge", "grid frets", "prepared", "slap-bass")


def played(instrument: Instrument) -> str:
    """What stands for an instrument's sound."""
    for sample, data in [*random_events(np.random.default_rng(7), 400, 0, 9000), *[(9000, [0xB0, 16, 1])] * 5000]:
        instrument.schedule(sample, data)
    sound = np.zeros((10_000, 2), np.float32)
    instrument.run(sound)
    assert np.abs(sound).max() > 0.01
    return hashlib.sha256(sound.tobytes()).hexdigest()


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WATCHED + program, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS.parent), str(TESTS)))},
        timeout=500,
        check=False,
    )


@pytest.mark.parametrize("index", [3, -1])
def test_the_watch_sees_what_is_outside(index: int) -> None:
    done = run(OUTSIDE, str(index))
    assert done.returncode != 0
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_nothing_that_plays_reaches_outside_of_an_array_and_one_process_makes_the_same() -> None:
    done = run(PLAYED)
    assert done.returncode == 0, done.stderr
    sounds = dict(line.split(": ") for line in done.stdout.splitlines())
    assert sounds.keys() == {*SMALL, *ONE_STRING}
    assert {name: sounds[name] for name in COMPARED} == {
        name: played(Instrument(SMALL.get(name, name), 48_000)) for name in COMPARED
    }
