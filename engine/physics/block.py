"""All contact points of one string solved at once: one small symmetric system a step, and its tangents by Newton.

    F = R s + c,  s = D - W F      =>      F = (1/R + W)^-1 (D + c/R)

with s = eta+ - eta- and D what s would be without force. The quadratised law F = a (2 psi + a s), psi+ = psi + a s has
R = a^2 and c = 2 a psi; its energy is exact for every a (`contact.py`), and so is that of any F >= 0 of which
psi+^2 = psi^2 + F s. A linear law's a is the secant that has psi+ = psi(middle of eta+ and eta), to which it is exact
as long as the contact lasts; where it begins or ends, a follows s, and R and c are those of the tangent there. Other
laws take a from what is known before.

Points are eliminated one by one. What is left of D and W for one that all before it have given way to is a point by
itself, whose force is known in closed form: that is where its first tangent lies. Contacts that last come first, so
that with one more that begins or ends the first elimination is the last, too. F rises with s, so that F(s) and D - W F
meet in one place. Should the search not find it, the points go one after the other, which costs accuracy and no energy.

Points are solved at once up to MOST_AT_ONCE of them. More are several blocks, which go one after the other, forwards
and backwards in turn, each with twice the effect of the earlier ones: the work still sums to F.D - F'WF. Blocks of
several strings on one bridge are the same case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.compiled import inlined
from engine.physics.contact import LINEAR, ONSET, PLAIN, Law, half_gradient, linear, met, raised

MOST_AT_ONCE = 24
SEARCHES = 12  # seen: at most 9, in contacts of up to 1e9 N/m
ROWS = 13  # of `work`, above its matrix, which has W of what is left below its diagonal, and that times R / pivot above
STEP, PSI, GAP, SLOPE, DRAG, GRADIENT, GAMMA, STEEP, KNOWN, LEFT, YIELD, PIVOT, AFTER = range(ROWS)


@inlined
def solve(law: Law, height: Any, response: Any, touch: Any, push: Any, work: Any, count: Any, forward: Any) -> Any:
    """Forces of the `count` points in touch.pushed, which afterwards has those that push; how many.

    push[k] is D, response W: of a string alone, or folded with whatever linear it is joined to. `work` is room for
    ROWS + n rows of n, n being the number of points or MOST_AT_ONCE.
    """
    which, pushed = touch.pushed, 0
    if count > 1:
        count = reaching(law, height, touch, push, count)
        if count <= MOST_AT_ONCE:
            put_lasting_first(height, touch, count)
    if count == 1:
        k = which[0]
        force = one(law, height, response, touch, push[k], k)
        touch.force[k] = force
        return 1 if force != law.zero else 0
    blocks = (count + MOST_AT_ONCE - 1) // MOST_AT_ONCE
    for n in range(blocks):
        block = n if forward else blocks - 1 - n
        first = block * MOST_AT_ONCE
        size = min(MOST_AT_ONCE, count - first)
        if blocks > 1:
            for i in range(first, first + size):
                k = which[i]
                for j in range(count):
                    if not first <= j < first + size:
                        push[k] -= (response[which[j], k] + response[which[j], k]) * touch.force[which[j]]
        if not at_once(law, height, response, touch, push, work, first, size):
            in_turn(law, height, response, touch, push, first, size, forward)
    for i in range(count):
        k = which[i]
        if touch.force[k] != law.zero:
            which[pushed] = k
            pushed += 1
    return pushed


@inlined
def reaching(law: Law, height: Any, touch: Any, push: Any, count: Any) -> Any:
    """Drop from the list what holds nothing and would not get into the barrier even by itself; how many are left."""
    left = 0
    for j in range(count):
        k = touch.pushed[j]
        eta, before = height[k] - touch.now[k], height[k] - touch.before[k]
        gap = law.zero if eta > law.zero and law.rule != ONSET else max(-(eta + before), law.zero)
        if touch.psi[k] > law.zero or push[k] > gap or law.rule == PLAIN:
            touch.pushed[left] = k
            left += 1
    return left


@inlined
def lasts(height: Any, touch: Any, k: Any) -> Any:
    """Whether a contact goes on, as far as is known beforehand."""
    return touch.psi[k] > height.dtype.type(0.0) and (height[k] > touch.now[k] or height[k] > touch.before[k])


@inlined
def put_lasting_first(height: Any, touch: Any, count: Any) -> None:
    """Of the points in the list."""
    which, first = touch.pushed, 0
    for j in range(count):
        k = which[j]
        if lasts(height, touch, k):
            which[j], which[first] = which[first], k
            first += 1


@inlined
def closed(law: Law) -> Any:
    """Whether `contact.linear` has the forces of this law."""
    return law.form == LINEAR and law.rule != PLAIN and law.drag == law.zero


@inlined
def one(law: Law, height: Any, response: Any, touch: Any, push: Any, k: Any) -> Any:
    """The force of a point by itself."""
    eta, before = height[k] - touch.now[k], height[k] - touch.before[k]
    force, touch.psi[k], lost = met(law, law.slope[k], eta, before, push, touch.psi[k], response[k, k])
    touch.lost[0] += lost
    return force


@inlined
def in_turn(law: Law, height: Any, response: Any, touch: Any, push: Any, first: Any, size: Any, forward: Any) -> None:
    """The forces of a block point by point, each with twice the effect of the earlier ones: none can pull."""
    for i in range(size):
        k = touch.pushed[first + i if forward else first + size - 1 - i]
        moved = push[k]
        for j in range(i):
            earlier = touch.pushed[first + j if forward else first + size - 1 - j]
            moved -= (response[earlier, k] + response[earlier, k]) * touch.force[earlier]
        touch.force[k] = one(law, height, response, touch, moved, k)


@inlined
def at_once(law: Law, height: Any, response: Any, touch: Any, push: Any, work: Any, first: Any, size: Any) -> Any:
    """The forces of a block, and psi+; False if no tangents were found that leave psi+ >= 0."""
    if size == 2 and closed(law):
        return pair(law, height, response, touch, push, touch.pushed[first], touch.pushed[first + 1])
    know(law, height, response, touch, push, work, first, size)
    for n in range(SEARCHES):
        eliminate(law, height, response, touch, push, work, first, size, n == 0)
        if accept(law, touch, work, first, size):
            return True
    return False


@inlined
def pair(law: Law, height: Any, response: Any, touch: Any, push: Any, i: Any, k: Any) -> Any:
    """The same of two points: i by its tangent, k exactly as it is beside that."""
    zero, one = law.zero, law.one
    a, psi, free, w, both = law.slope[i], touch.psi[i], push[i], response[i, i], response[i, k]
    eta, before = height[k] - touch.now[k], height[k] - touch.before[k]
    lasting, gap = lasts(height, touch, i), max(-((height[i] - touch.now[i]) + (height[i] - touch.before[i])), zero)
    steep, known = a * a, (a + a) * psi
    if not lasting:
        force, _ = linear(law, a, height[i] - touch.now[i], height[i] - touch.before[i], free, psi, w)
        steep, known = tangent_at(a, psi, gap, free - w * force)
    for _ in range(SEARCHES):
        pivot = one / (one + steep * w)
        left = push[k] - both * ((steep * free + known) * pivot)
        beside = max(response[k, k] - both * both * (steep * pivot), zero)
        force, after = linear(law, law.slope[k], eta, before, left, touch.psi[k], beside)
        s = ((free - both * force) - w * known) * pivot
        mine, psi_after, found = zero, psi, False
        if psi > zero:
            psi_after = psi + a * s
            if lasting and psi_after > law.grain * psi:
                found = steep == a * a
                mine = a * (psi + psi_after)
            elif s >= zero:
                found, psi_after = steep == zero, psi
            else:
                secant = known / (psi + psi)
                mine, found = steep * s + known, abs(psi + secant * s) <= law.slack * psi
                mine, psi_after = max(mine, zero), zero
        elif steep == zero:
            found = s <= gap
        else:
            mine = steep * s + known
            if mine > zero and s > gap:
                psi_after = np.sqrt(mine * s)
                found = abs(psi_after - a * (s - gap)) <= law.grain * a * s
        if found:
            touch.force[i], touch.psi[i] = mine, psi_after
            touch.force[k], touch.psi[k] = force, after
            return True
        steep, known = tangent_at(a, psi, gap, s)
        if lasting and psi + a * s > law.grain * psi:
            steep, known = a * a, (a + a) * psi
    return False


@inlined
def tangent_at(a: Any, psi: Any, gap: Any, s: Any) -> Any:
    """R and c of the force of a point that begins, or ends, by the closed form: it rises more and more steeply."""
    zero = psi - psi
    if psi > zero:
        if s >= zero:
            return zero, zero
        secant = -psi / s
        return secant * secant, (secant + secant) * psi
    if s <= gap:
        return zero, zero
    secant = a * ((s - gap) / s)
    steep = (a + a) * secant - secant * secant
    return steep, (secant * secant - steep) * s


@inlined
def know(law: Law, height: Any, response: Any, touch: Any, push: Any, work: Any, first: Any, size: Any) -> None:
    """What is known of every point of a block before anything is solved."""
    for i in range(size):
        k = touch.pushed[first + i]
        eta, before, psi = height[k] - touch.now[k], height[k] - touch.before[k], touch.psi[k]
        slope, gap, drag = law.slope[k], law.zero, law.zero
        if law.rule == PLAIN:
            slope = slope * raised(eta, law) if eta > law.zero else law.zero
        elif psi > law.zero:
            left = eta <= law.zero and (before <= law.zero or law.form != LINEAR)
            if left:
                slope = -law.one
            elif law.form != LINEAR:
                slope *= raised(eta, law)
            if eta > law.zero:
                drag = law.drag * psi
        elif law.form == LINEAR:
            gap = max(-(eta + before), law.zero)
        else:
            slope = half_gradient(law, slope, eta, before, push[k], psi, response[k, k])
        work[PSI, i], work[GAP, i], work[SLOPE, i], work[DRAG, i] = psi, gap, slope, drag


@inlined
def tangent(law: Law, work: Any, i: Any) -> None:
    """a, gamma, R and c of a point at its s: R = a^2 + 2 a gamma, but of a contact that begins the slope of its
    force."""
    psi, slope, s = work[PSI, i], work[SLOPE, i], work[STEP, i]
    a, gamma = slope, law.zero
    if law.rule != PLAIN and psi > law.zero:
        if slope < law.zero or psi + slope * s < law.zero:
            a = -psi / s if s < law.zero else law.zero
        gamma = work[DRAG, i]
    steep, known = a * a, (a + a) * psi
    if gamma > law.zero and a > law.zero:
        if (psi + psi) + (a + gamma + gamma) * s < law.zero:  # damping would pull: no force, and psi falls
            steep, known, gamma = law.zero, law.zero, -law.one
        else:
            steep += (a + a) * gamma
    elif law.rule != PLAIN and psi <= law.zero:
        known = law.zero
        if s <= work[GAP, i]:
            a = steep = law.zero
        elif work[GAP, i] > law.zero:
            a *= (s - work[GAP, i]) / s
            steep = (slope + slope) * a - a * a
            known = (a * a - steep) * s
    work[GRADIENT, i], work[GAMMA, i], work[STEEP, i], work[KNOWN, i] = a, gamma, steep, known


@inlined
def eliminate(
    law: Law, height: Any, response: Any, touch: Any, push: Any, work: Any, first: Any, size: Any, fresh: Any
) -> None:
    """s of all points, where tangents meet D - W F; `fresh`: of tangents that are yet to be found.

    A pivot 1 + R w is at least one, w being what is left of a point's W: the factors are those of a symmetric matrix.
    """
    same = not fresh
    for i in range(size):
        k, row = touch.pushed[first + i], ROWS + i
        if same:
            steep, known = work[STEEP, i], work[KNOWN, i]
            tangent(law, work, i)
            if work[STEEP, i] == steep and work[KNOWN, i] == known:
                continue
            same = False
            left, w = work[LEFT, i], work[YIELD, i]
        else:
            left, w = push[k], response[k, k]
            for j in range(i):
                entry = response[k, touch.pushed[first + j]]
                for n in range(j):
                    entry -= work[ROWS + n, i] * work[ROWS + j, n]
                scaled = entry * (work[STEEP, j] * work[PIVOT, j])
                work[row, j], work[ROWS + j, i] = entry, scaled
                left -= entry * ((work[STEEP, j] * work[LEFT, j] + work[KNOWN, j]) * work[PIVOT, j])
                w -= entry * scaled
            w = max(w, law.zero)
            work[LEFT, i], work[YIELD, i] = left, w
            if fresh:
                s = left
                if closed(law):
                    eta, before = height[k] - touch.now[k], height[k] - touch.before[k]
                    force, _ = linear(law, law.slope[k], eta, before, left, touch.psi[k], w)
                    s -= w * force
                work[STEP, i] = s
            tangent(law, work, i)
        work[PIVOT, i] = law.one / (law.one + work[STEEP, i] * w)
    for i in range(size - 1, -1, -1):
        left = work[LEFT, i]
        for j in range(i + 1, size):
            left -= work[ROWS + j, i] * touch.force[touch.pushed[first + j]]
        s = (left - work[YIELD, i] * work[KNOWN, i]) * work[PIVOT, i]
        work[STEP, i] = s
        touch.force[touch.pushed[first + i]] = work[STEEP, i] * s + work[KNOWN, i]


@inlined
def accept(law: Law, touch: Any, work: Any, first: Any, size: Any) -> Any:
    """Forces and psi+ of what has been solved, unless a contact would pull by more than rounding, or be missed."""
    for i in range(size):
        psi, steep, s, a = work[PSI, i], work[STEEP, i], work[STEP, i], work[GRADIENT, i]
        force, after = touch.force[touch.pushed[first + i]], psi
        if work[GAMMA, i] < law.zero:
            after = min(max(psi + a * s, law.zero), psi)
        elif steep > law.zero:
            after = psi + a * s
            if law.rule != PLAIN:
                if force < law.zero:
                    return False
                if psi > law.zero:
                    leaving = a != work[SLOPE, i]
                    if after < -law.slack * psi or (leaving and after > law.slack * psi):
                        return False
                    if after <= (law.slack if leaving else law.grain) * psi:
                        after = law.zero
                elif s <= law.zero:
                    return False
                elif work[GAP, i] > law.zero:  # by its tangent: where psi+^2 = F s, there is an a of that energy
                    after = np.sqrt(force * s)
                    if abs(after - work[SLOPE, i] * (s - work[GAP, i])) > law.grain * work[SLOPE, i] * s:
                        return False
        elif law.rule != PLAIN and missed(law, work, i, s):
            return False
        work[AFTER, i] = after
    for i in range(size):
        k, s = touch.pushed[first + i], work[STEP, i]
        touch.psi[k] = work[AFTER, i]
        if work[GAMMA, i] < law.zero:
            touch.lost[0] += law.half * (work[PSI, i] - work[AFTER, i]) * (work[PSI, i] + work[AFTER, i])
        elif work[GAMMA, i] > law.zero and work[STEEP, i] > law.zero:
            touch.lost[0] += work[GRADIENT, i] * work[GAMMA, i] * s * s
    return True


@inlined
def missed(law: Law, work: Any, i: Any, s: Any) -> Any:
    """Whether a point that has been solved without force has one where it comes to."""
    if work[PSI, i] > law.zero:
        return s < law.zero and work[SLOPE, i] < law.zero
    return s > work[GAP, i] and work[SLOPE, i] > law.zero
