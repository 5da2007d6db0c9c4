"""Strings of a voice that go on at another length, sample by sample of a finger's way (physics/network/fretting.py)."""

from __future__ import annotations

from math import sqrt
from typing import Any

from engine.compiled import WORD, compiled_apart, copy, integers, native
from engine.opened import address, record_type
from engine.physics.network.fretting import carry_over, course, press
from engine.physics.network.hanging import tune
from engine.physics.network.memory import island
from engine.synth import network_string as strings
from engine.synth.memory import Choir, Machine, choir

LANDING, TURNED = 3e-3, 3.0  # s: a finger takes to the fret at most; radians of the first partial in which it does


@native
def go_on_at(m: Machine, v: Any) -> None:
    """Have a voice's strings, which sound, be those of its place from now on, and move on as they did."""
    j, voice, mine = strings.joint(m), m.voices[v], m.voice_words[v]
    stop_short(m, strings.of_voice(m, v))
    copy(integers(address(m) + mine[0], mine[1]), integers(address(m) + j.spare, mine[1]))
    strings.lay_down(m, v)
    strings.lift(m, v, voice.lift)
    i, was, c = island(address(m) + j.island), choir(address(m) + j.spare), strings.of_voice(m, v)
    strings.keep_plucks(was, c)
    for n in range(c.strands.size):
        s = strings.at_place(c, n)
        tension = strings.pulled(m, v, s)
        if tension != s.recipe.tension or voice.damping != 0.0:
            tune(s, tension, voice.damping)
        for k in range(c.met.shape[1]):
            c.met[2 * n, k], c.met[2 * n + 1, k] = was.met[2 * n, k], was.met[2 * n + 1, k]
        carry_over(
            strings.at_place(was, n),
            s,
            strings.hammers_of(i),
            i.bridge.clock[0] & 1,
            c.met[2 * n : 2 * n + 2],
            c.purse[n],
        )
    first, other = strings.at_place(c, 0), strings.at_place(was, 0)
    c.landing[0] = 1 if first.recipe.length != other.recipe.length else 0
    swing = sqrt(first.recipe.bend[0] + first.recipe.pull[0] * first.recipe.tension)
    c.landing[1] = max(int(min(LANDING, TURNED / swing) * m.rate / m.oversample), 1)
    i.bridge.stale[0] = 1


@native
def stop_short(m: Machine, c: Choir) -> None:
    """Where a finger that is still on its way to the fret has the string."""
    time, pace = float(c.landing[1]), m.rate / m.oversample
    for n in range(c.met.shape[0]):
        at = speed = 0.0
        if c.landing[0] and c.met[n, 3] == 0.0:
            now, last = float(c.landing[0] - 1), max(float(c.landing[0] - 2), 0.0)
            at = course(c.met, n, now / time, time / pace)
            speed = (at - course(c.met, n, last / time, time / pace)) * pace if now > last else c.met[n, 1]
        c.met[n, 0], c.met[n, 1], c.met[n, 2], c.met[n, 3] = at, speed, 0.0, 0.0


@native
def land(m: Machine, v: Any, knock: Any) -> None:
    """One sample of a finger's way to the fret or off it, and what that pulls at the bridge with."""
    j, c = strings.joint(m), strings.of_voice(m, v)
    i, way, time = island(address(m) + j.island), j.way, float(c.landing[1])
    now = float(c.landing[0] - 1)
    for n in range(c.strands.size):
        s = strings.at_place(c, n)
        for plane in range(s.now.size):
            aside = step_on(m, c, 2 * n + plane, way[plane])
            c.aside[2 * n + plane] = aside
            for d in range(knock.size):
                knock[d] += s.ends.weight[plane, d] * s.ends.tension[plane] * aside
        press(s, strings.hammers_of(i), i.bridge.clock[0] & 1, way, c.purse[n], 1.0 - now / time)
    c.landing[0] = c.landing[0] + 1 if now < time else 0


@native
def step_on(m: Machine, c: Choir, row: Any, way: Any) -> Any:
    """What a finger does to a plane in a sample (fretting.press); how far aside its end is."""
    now, time, pace = float(c.landing[0] - 1), float(c.landing[1]), m.rate / m.oversample
    at = course(c.met, row, now / time, time / pace)
    way[1] = c.met[row, 3]
    if way[1] > 0.0:
        way[0], way[2] = at / pace, 0.0
        return 0.0
    speed = (course(c.met, row, (now + 1.0) / time, time / pace) - at) * pace
    before = c.met[row, 1]
    if now > 0.0:
        before = (at - course(c.met, row, (now - 1.0) / time, time / pace)) * pace
    way[0], way[2] = speed - before, speed / pace
    return at + 0.5 * speed / pace


compiled_apart(go_on_at, record_type(Machine), WORD)
