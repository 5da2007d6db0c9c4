"""The contact of a string on a grid: with a barrier at its nodes, with obstacles between two nodes each."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.compiled import inlined, native
from engine.layout import Integers, Matrix, Vector
from engine.nodes import press, reached
from engine.physics import contact
from engine.physics.contact import Law, Touch
from engine.physics.grid import ORIGIN


class Touchable(NamedTuple):
    """What the string can touch: K consecutive nodes over a barrier, or K obstacles between two nodes each.

    Nodes come in whole vectors, of which those behind the barrier's last are endlessly deep.
    """

    height: Vector
    law: Law
    answer: float  # displacement of a node per newton: Cc
    first_node: int
    obstacle_node: Integers  # empty over a barrier
    obstacle: Matrix  # [K, 2] weights
    response: Matrix  # [K, K] displacement at an obstacle per newton at another


@inlined
def read_points(surface: Touchable, u: Any, out: Any) -> None:
    """Displacement at the obstacles; nodes need no reading."""
    for k in range(surface.obstacle_node.size):
        i = surface.obstacle_node[k] + ORIGIN
        out[k] = surface.obstacle[k, 0] * u[i] + surface.obstacle[k, 1] * u[i + 1]


@inlined
def meet_nodes(surface: Touchable, touch: Touch, x: Any, y: Any, w: Any) -> Any:
    """Contact at the nodes over a barrier: each on its own, since a node's force moves no other node. Their sum."""
    first = surface.first_node + ORIGIN
    now, before, after = x[first:], y[first:], w[first:]
    near = reached(surface.height, now, after, touch.psi, touch.force)
    return push_nodes(surface, touch, now, before, after) if near else surface.law.zero


@native  # by itself: what it keeps in registers the stencil would lack
def push_nodes(surface: Touchable, touch: Touch, now: Any, before: Any, after: Any) -> Any:
    """The same where any is near."""
    law, height, psi, answer, pressed = surface.law, surface.height, touch.psi, surface.answer, surface.law.zero
    if law.rule == contact.SHIPPED and law.drag == law.zero:
        powers = law.form, law.power, law.secant
        press(height, now, before, after, psi, law.slope, touch.force, powers, law.grain, answer)
    else:
        for k in range(height.size):
            b = height[k]
            if b > now[k] or b > after[k] or psi[k] > law.zero:
                eta, eta_before, push = b - now[k], b - before[k], before[k] - after[k]
                force, psi[k], lost = contact.respond(law, law.slope[k], eta, eta_before, push, psi[k], answer)
                after[k] += answer * force
                touch.force[k] = force
                touch.lost[0] += lost
    for k in range(height.size):
        pressed += touch.force[k]
    return pressed


@inlined
def meet_obstacles(surface: Touchable, free: Any, touch: Touch, w: Any, forward: Any) -> Any:
    """Contact at obstacles, which may share nodes; the sum of their forces."""
    pressed = surface.law.zero
    read_points(surface, w, free)
    pushed = contact.sweep(surface.law, surface.height, surface.response, free, touch, forward)
    for j in range(pushed):
        k = touch.pushed[j]
        i = surface.obstacle_node[k] + ORIGIN
        step = surface.answer * touch.force[k]
        w[i] += step * surface.obstacle[k, 0]
        w[i + 1] += step * surface.obstacle[k, 1]
        pressed += touch.force[k]
    for k in range(surface.height.size):
        touch.before[k] = touch.now[k]
    read_points(surface, w, touch.now)
    return pressed
