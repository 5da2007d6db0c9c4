#!/usr/bin/env python3
"""What a network costs: a string on a bridge that moves against the same string by itself; thirteen that answer.

    python3 scripts/bench_network.py [--played]

All alternate in one run, the best of several: nanoseconds of the processor a step, and ratios. --played: only what an
instrument costs that a player holds, as a share of one core in real time at 48 kHz, in blocks of 64.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # from a clone, nothing need be installed

import numpy as np

import engine
from engine import messages as midi
from engine.physics import modal
from engine.physics.barrier import Barrier, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.network.bodies import Plate, modes
from engine.physics.network.gathering import gather
from engine.physics.network.parts import Against, Body, Network, Strung
from engine.physics.network.stepping import run
from engine.physics.network.weaving import weave
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.string import Loss, String
from engine.preset.assembly import Assembly, Played
from engine.preset.loader import load_preset

STEPS, ROUNDS = 1200, 25
BLOCK, BLOCKS = 64, 100
RINGING = 60 * 48_000 // BLOCK  # blocks in which all must have rung out
LOSS = Loss(0.6, 6.5e-3, 0.0, 5e-6)
PLUCK = Excitation(0.85, 1.0, 2e-3)
BODY = Body(modes(Plate(0.0055, 0.25, 0.05, 180.0, 6000.0, 1)))


def wire(length: float, diameter: float, pitch: float) -> String:
    """Of steel."""
    area = np.pi * diameter * diameter / 4.0
    tension = 7850.0 * area * (2.0 * length * pitch) * (2.0 * length * pitch)
    return String(length, 7850.0 * area, tension, 2e11 * np.pi * diameter * diameter * diameter * diameter / 64.0, LOSS)


def jawari(to: float, points: int) -> Barrier:
    """A sitar's bridge."""
    return Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, to, points)


def played(pitch: float, points: int = 7) -> Strung:
    """A sitar's first string at such a pitch."""
    over = Against(jawari(0.03, points), Contact(1e8))
    return Strung(wire(0.88, 0.3e-3, pitch), ports=(over,), excitation=PLUCK)


def taraf(points: int, band: float) -> Network:
    """Thirteen sympathetic strings over jawaris of their own, of which the last is plucked."""
    over = (Against(jawari(0.012, points), Contact(1e8)),) if points else ()
    wires = [wire(0.72 - 0.025 * n, 0.23e-3, 277.0 * 2.0 ** (n / 12.0)) for n in range(13)]
    strings = [Strung(string, 0.8, ports=over, band=band) for string in wires]
    return Network((*strings[:-1], replace(strings[-1], excitation=PLUCK)), BODY)


def of_network(network: Network, rate: float) -> Callable[[], None]:
    """Goes on by STEPS; plucked at first, so that barriers are touched."""
    w = weave(network, rate, 20e3)
    force = np.zeros((STEPS, len(network.strings)))
    for n, strung in enumerate(network.strings):
        if strung.excitation is not None:
            force[:, n] = pulse(strung.excitation, rate, STEPS)
    knock, out = np.zeros((STEPS, 1)), np.zeros((STEPS, 1 + network.body.channels))

    def go() -> None:
        w.reset()
        run(w.base, force, knock, out)

    return go


def of_string(strung: Strung, rate: float) -> Callable[[], None]:
    """The same string by itself, as the renderer's voices are."""
    (over,) = strung.ports
    problem = Problem(strung.string, over.barrier, over.contact, PLUCK, (Pickup(0.0, "bridge_force"),))
    d = modal.design(problem, rate, band=20e3)
    s, force, out = modal.state(d.coefficients), pulse(PLUCK, rate, STEPS), np.zeros((STEPS, 1))

    def go() -> None:
        modal.reset(d.coefficients, s)
        modal.kernel(d.coefficients, s, force, out)

    return go


def of_lanes(points: int, band: float, rate: float) -> Callable[[], None]:
    """The same strings side by side, knocked on by the bridge."""
    silent = Network((Strung(wire(0.88, 0.3e-3, 185.0), band=400.0),), BODY)
    strings = tuple(replace(strung, excitation=None) for strung in taraf(points, band).strings)
    w = weave(silent, rate, 20e3, gather(strings, BODY, rate))
    force, knock, out = np.zeros((STEPS, 1)), np.zeros((STEPS, 1)), np.zeros((STEPS, 1 + BODY.channels))
    knock[:, 0] = 20.0 * pulse(PLUCK, rate, STEPS)

    def go() -> None:
        w.reset()
        run(w.base, force, knock, out)

    return go


def measure(runs: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Nanoseconds a step of each, the best of rounds in which all take their turn."""
    for go in runs.values():
        go()
    best = dict.fromkeys(runs, np.inf)
    for _ in range(ROUNDS):
        for name, go in runs.items():
            began = time.thread_time()
            go()
            best[name] = min(best[name], (time.thread_time() - began) / STEPS * 1e9)
    return best


def instrument(
    count: int, oversample: int, hub: bool, coupling: str, alone: bool = False, asleep: bool = False
) -> Callable[[], float]:
    """A sitar of so many strings that sound; `alone`: as today's presets, each by itself. Seconds a second.

    `asleep`: once all of it has rung out.
    """
    (over,) = played(185.0).ports
    preset = load_preset("sitar-string", {"barrier.points": 7})
    one = Played(Strung(wire(0.88, 0.3e-3, 185.0), ports=(over,)), exciter=PLUCK, lowest=36, highest=72)
    sympathetic = tuple(replace(own, excitation=None) for own in taraf(2, 10e3).strings) if hub else ()
    if not alone:
        assembly = Assembly((one,), sympathetic, BODY, coupling)
        preset = replace(preset, assembly=assembly, controllers=())
    made = engine.Instrument(preset, 48_000, BLOCK, oversample, max(count, 1))
    out = np.zeros((BLOCK, made.channels), np.float32)

    def go() -> float:
        made.reset()
        for n in range(max(count, 1)):
            made.schedule(0, (midi.NOTE_ON, 45 + n, 100))
        if count == 0:  # the hub and the body ring on by themselves
            made.schedule(2000, (midi.CONTROL, midi.ALL_SOUND_OFF, 0))
        for _ in range(64):
            made.run(out)
        for _ in range(RINGING if asleep else 0):
            if not made.silent:
                made.run(out)
        if made.silent != asleep:
            sys.exit("bench_network: what should ring is silent, or rings where it should be silent")
        if made.report()["voices"] != count:
            sys.exit(f"bench_network: {made.report()['voices']} voices sound instead of {count}")
        began = time.thread_time()
        for _ in range(BLOCKS):
            made.run(out)
        return (time.thread_time() - began) * 48_000 / (BLOCKS * BLOCK)

    return go


def instruments() -> None:
    """What instruments cost that are played."""
    runs = {
        "16 strings by themselves, x2": instrument(16, 2, False, "", alone=True),
        "2 strings by themselves, x1": instrument(2, 1, False, "", alone=True),
        "2 strings by themselves, x2": instrument(2, 2, False, "", alone=True),
        "hub of 13 and body, x1": instrument(0, 1, True, "two-way"),
        "hub of 13 and body, x2": instrument(0, 2, True, "two-way"),
        "the same asleep, x1": instrument(0, 1, True, "two-way", asleep=True),
        "16 strings and body, x2": instrument(16, 2, False, "two-way"),
        "16 strings, hub of 13, body, x2": instrument(16, 2, True, "two-way"),
        "all of it one-way, x2": instrument(16, 2, True, "one-way"),
    }
    best = dict.fromkeys(runs, np.inf)
    for _ in range(ROUNDS // 3):
        for name, go in runs.items():
            best[name] = min(best[name], go())
    for name, share in best.items():
        print(f"  {name:32s} {100.0 * share:6.2f} % of a core")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--played", action="store_true", help="what instruments cost that are played")
    if parser.parse_args().played:
        instruments()
        return
    for rate in (48_000.0, 96_000.0):
        one = played(185.0)
        many = tuple(replace(played(110.0 * 2.0 ** (n / 12.0))) for n in range(16))
        runs = {
            "string by itself": of_string(one, rate),
            "1 string and body": of_network(Network((one,), BODY), rate),
            "4 strings and body": of_network(Network(many[:4], BODY), rate),
            "16 strings and body": of_network(Network(many, BODY), rate),
            "body alone": of_network(Network((replace(one, ports=(), band=400.0),), BODY), rate),
            "hub, no barrier": of_network(taraf(0, 10e3), rate),
            "hub, 1 point, 6 kHz": of_network(taraf(1, 6e3), rate),
            "hub, 2 points": of_network(taraf(2, 10e3), rate),
            "lanes, no barrier": of_lanes(0, 10e3, rate),
            "lanes, 1 point, 6 kHz": of_lanes(1, 6e3, rate),
            "lanes, 2 points": of_lanes(2, 10e3, rate),
            "lanes, 3 points": of_lanes(3, 10e3, rate),
        }
        found = measure(runs)
        bare = found["string by itself"]
        print(f"{rate / 1e3:g} kHz")
        for name, time_taken in found.items():
            count = int(name.split()[0]) if name[0].isdigit() else 1
            each = (time_taken - found["body alone"]) / count
            more = f", {each:6.1f} a string, {each / bare:.2f} of it by itself" if name[0].isdigit() else ""
            print(f"  {name:21s} {time_taken:7.1f} ns a step, {time_taken / bare:5.2f}{more}")


if __name__ == "__main__":
    main()
