"""What a modal string's points do in each step of a pair, and what pickups hear of it.

A pair's steps without contact are known before (steps.py). What nothing touches in either, most pairs, only listens;
where one point is near in either step and no other, a path of its own does what the general one would, to the last bit.
"""

from __future__ import annotations

from typing import Any

from engine.alone import give_way
from engine.compiled import copy, inlined
from engine.pairs import accumulate, combine, near, shift
from engine.physics import block
from engine.physics.contact import met
from engine.physics.steps import push_both


@inlined
def meet(c: Any, s: Any, half: Any, force: Any, out: Any) -> None:
    """The contact of one step, whose rows and points without it are in s.both and s.free, and what is then heard."""
    touch, free = s.touch, s.free[half]
    found = near(c.height, touch.now, free, touch.psi, touch.pushed)
    pushed = 0
    if s.owed[1] > 0:
        forget(s)
    if found:
        for j in range(found):
            k = touch.pushed[j]
            s.push[k] = touch.before[k] - free[k]
        forward = (s.clock[0] & 1) == 0
        pushed = block.solve(c.law, c.height, c.response, touch, s.push, s.work, found, forward)
    listen(c, s, half, force, out)
    if pushed:
        s.owed[0], s.owed[1] = 1, 2
        accumulate(c.shares, touch.force, touch.pushed, pushed, s.weights[half])
        accumulate(c.response, touch.force, touch.pushed, pushed, free)
        for j in range(pushed):
            k = touch.pushed[j]
            hear(c, k, touch.force[k], out)
    s.owed[2] = pushed
    shift(free, touch.now, touch.before)


@inlined
def forget(s: Any) -> None:
    """The last step's forces become the earlier ones; two steps later they are gone."""
    s.owed[1] -= 1
    shift(s.none, s.touch.force, s.earlier)


@inlined
def come_after(c: Any, s: Any) -> None:
    """What the contact of a pair's first step does to the points and pickups of its second."""
    accumulate(c.response_ahead, s.touch.force, s.touch.pushed, s.owed[2], s.free[1])
    for j in range(s.owed[2]):
        k = s.touch.pushed[j]
        heard_later(c, s, k, s.touch.force[k])


@inlined
def settle(c: Any, s: Any) -> None:
    """At the end of a pair: what both contacts do to the modes."""
    if s.owed[0]:
        push_both(c, s, s.weights[0], s.weights[1])
        combine(c.shares, s.push, 0, s.weights[0])
        combine(c.shares, s.push, 0, s.weights[1])
        s.owed[0] = 0


@inlined
def listen(c: Any, s: Any, half: Any, force: Any, out: Any) -> None:
    """The pickups of a step, and behind them what the pluck carries on the way to it; contacts add their own."""
    pickups = c.heard.shape[1]
    for p in range(pickups):
        out[p] = s.both[half, c.mix.shape[0] + p]
    for b in range(c.grip.size):
        out[pickups + b] = -c.grip[b] * force


@inlined
def hear(c: Any, k: Any, force: Any, out: Any) -> None:
    """What pickups hear of a contact's force in its step, and what is carried of it."""
    pickups = c.heard.shape[1]
    for p in range(pickups):
        out[p] += c.heard[k, p] * force
    for b in range(c.grip.size):
        out[pickups + b] += c.share[b, k] * force


@inlined
def meet_alone(c: Any, s: Any, k: Any, force: Any, out: Any) -> Any:
    """Both steps of a pair in which only point k is near; after how many `meet` takes over, for another came near."""
    touch, here, later = s.touch, s.free[0], s.free[1]
    touch.pushed[0] = k
    before, now, psi = touch.before[k], touch.now[k], touch.psi[k]
    height, response, done = c.height[k], c.response[k, k], 2
    for half in range(2):
        if s.owed[1] > 0:
            forget(s)
        free = s.free[half, k]
        moved = before - free
        s.push[k] = moved if (height > now) | (height > free) | (psi > c.law.zero) else s.push[k]
        push, psi, lost = met(c.law, c.law.slope[k], height - now, height - before, moved, psi, response)
        touch.lost[0] += lost
        listen(c, s, half, force[half], out[half])
        s.clock[0] += 1
        s.owed[2] = 0
        if push != c.law.zero:
            touch.force[k], s.owed[0], s.owed[1] = push, 1, 2
            hear(c, k, push, out[half])
            accumulate(c.shares, touch.force, touch.pushed, 1, s.weights[half])
            if half:
                s.owed[2] = 1
                accumulate(c.response, touch.force, touch.pushed, 1, later)
            else:
                heard_later(c, s, k, push)  # which `come_after` need not do: it is owed nothing
                if give_way(c.response[k], c.response_ahead[k], push, c.height, k, here, later):
                    done = 1
                    break
        before, now = now, s.free[half, k]
    touch.psi[k] = psi
    if done == 1:
        shift(here, touch.now, touch.before)
    else:
        copy(here, touch.before)
        copy(later, touch.now)
    return done


@inlined
def heard_later(c: Any, s: Any, k: Any, force: Any) -> None:
    """What pickups hear of it a step later."""
    for p in range(c.heard_ahead.shape[1]):
        s.both[1, c.mix.shape[0] + p] += c.heard_ahead[k, p] * force


@inlined
def pass_by(c: Any, s: Any, force: Any, out: Any) -> None:
    """Both steps of a pair, in which nothing touches."""
    copy(s.free[0], s.touch.before)
    copy(s.free[1], s.touch.now)
    if s.owed[1] > 0:
        forget(s)
        if s.owed[1] > 0:
            forget(s)
    listen(c, s, 0, force[0], out[0])
    listen(c, s, 1, force[1], out[1])
    s.clock[0] += 2
