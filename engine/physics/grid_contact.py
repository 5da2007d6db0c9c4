"""The contact of a string on a grid: with a barrier at its nodes, with obstacles between two nodes each."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.compiled import inlined, native
from engine.elementary import power_of_normal
from engine.layout import Integers, Matrix, Vector
from engine.physics import contact
from engine.physics.contact import Law, Touch
from engine.physics.dispersion import REACH

MANY_NODES = 8  # to take powers of at once
SHALLOWEST = 1e-30  # m: of a power; what is less deep is not in contact


class Touchable(NamedTuple):
    """What the string can touch: K consecutive nodes over a barrier, or K obstacles between two nodes each."""

    height: Vector
    law: Law
    known: Law  # the same where psi' is known and stands in place of the slope
    answer: float  # displacement of a node per newton: Cc
    first_node: int
    obstacle_node: Integers  # empty over a barrier
    obstacle: Matrix  # [K, 2] weights
    response: Matrix  # [K, K] displacement at an obstacle per newton at another


@inlined
def read_points(surface: Touchable, u: Any, out: Any) -> None:
    """Displacement at the obstacles; nodes need no reading."""
    for k in range(surface.obstacle_node.size):
        i = surface.obstacle_node[k] + REACH
        out[k] = surface.obstacle[k, 0] * u[i] + surface.obstacle[k, 1] * u[i + 1]


@inlined
def meet_nodes(surface: Touchable, touch: Touch, x: Any, y: Any, w: Any) -> Any:
    """Contact at the nodes over a barrier: each on its own, since a node's force moves no other node. Their sum."""
    law, zero, height, psi = surface.law, surface.law.zero, surface.height, touch.psi
    first = surface.first_node + REACH
    now, before, after = x[first:], y[first:], w[first:]
    near = 0
    for k in range(height.size):
        touch.force[k] = zero
        near |= (height[k] > now[k]) | (height[k] > after[k]) | (psi[k] > zero)
    pressed = zero
    if not near:
        return pressed
    if law.form == contact.GENERAL and height.size >= MANY_NODES and meet_many(surface, touch, x, y, w):
        for k in range(height.size):
            pressed += touch.force[k]
        return pressed
    for k in range(height.size):
        b = height[k]
        if b > now[k] or b > after[k] or psi[k] > zero:
            push = before[k] - after[k]
            force, psi[k], lost = contact.respond(
                law, law.slope[k], b - now[k], b - before[k], push, psi[k], surface.answer
            )
            after[k] += surface.answer * force
            touch.force[k] = force
            touch.lost[0] += lost
            pressed += force
    return pressed


@native
def meet_many(surface: Touchable, touch: Touch, x: Any, y: Any, w: Any) -> Any:
    """The same where many nodes in a row are in contact, and whether they are; psi' of all is found at once.

    A power takes longer than the rest of a contact, and longer alone than among others.
    """
    law, known, height, psi = surface.law, surface.known, surface.height, touch.psi
    start = surface.first_node + REACH
    now, before, after = x[start:], y[start:], w[start:]
    first, last = 0, height.size - 1
    while first < last and psi[first] <= law.zero:
        first += 1
    while last > first and psi[last] <= law.zero:
        last -= 1
    if last - first < MANY_NODES:
        return False
    for k in range(first, last + 1):
        raised = power_of_normal(max(height[k] - now[k], SHALLOWEST), law.power)
        touch.force[k] = law.slope[k] * law.slope.dtype.type(raised)
    for k in range(height.size):
        b, slope = height[k], touch.force[k]
        touch.force[k] = law.zero
        if b > now[k] or b > after[k] or psi[k] > law.zero:
            push = before[k] - after[k]
            if psi[k] > law.zero:
                force, psi[k], lost = contact.respond(
                    known, slope, b - now[k], b - before[k], push, psi[k], surface.answer
                )
            else:
                force, psi[k], lost = contact.respond(
                    law, law.slope[k], b - now[k], b - before[k], push, psi[k], surface.answer
                )
            after[k] += surface.answer * force
            touch.force[k] = force
            touch.lost[0] += lost
    return True


@inlined
def meet_obstacles(surface: Touchable, free: Any, touch: Touch, w: Any, forward: Any) -> Any:
    """Contact at obstacles, which may share nodes; the sum of their forces."""
    pressed = surface.law.zero
    read_points(surface, w, free)
    pushed = contact.sweep(surface.law, surface.height, surface.response, free, touch, forward)
    for j in range(pushed):
        k = touch.pushed[j]
        i = surface.obstacle_node[k] + REACH
        step = surface.answer * touch.force[k]
        w[i] += step * surface.obstacle[k, 0]
        w[i + 1] += step * surface.obstacle[k, 1]
        pressed += touch.force[k]
    for k in range(surface.height.size):
        touch.before[k] = touch.now[k]
    read_points(surface, w, touch.now)
    return pressed
