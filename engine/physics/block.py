"""All contact points of one string solved at once: one small symmetric system a step, and its gradients by Newton.

    F = R s + c,  s = D - W F      =>      x = (1 + r W r)^-1 (c / r + r D),  F = r x,  r = sqrt(R)

with s = eta+ - eta- and D what s would be without force. The quadratised law F = a (2 psi + a s), psi+ = psi + a s has
R = a^2 and c = 2 a psi; its energy is exact for every a (`contact.py`), and so is that of any F >= 0 of which
psi+^2 = psi^2 + F s. A linear law's a is the secant that has psi+ = psi(middle of eta+ and eta), to which it is exact
as long as the contact lasts; where it begins or ends, a follows s, and R and c are those of the tangent there. Other
laws take a from what is known before.

F rises with s, so that F(s) and D - W F meet in one place. The search for it, by tangents, begins where each point
would come to if it knew those before it only. Should it not be found, the points go one after the other, which costs
accuracy and no energy.

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
ROWS = 12  # of `work`, above its matrix:
STEP, PSI, GAP, SLOPE, DRAG, GRADIENT, GAMMA, ROOT, KNOWN, FOUND, PIVOT, AFTER = range(ROWS)


@inlined
def solve(law: Law, height: Any, response: Any, touch: Any, push: Any, work: Any, count: Any, forward: Any) -> Any:
    """Forces of the `count` points in touch.pushed, which afterwards has those that push; how many.

    push[k] is D, response W: of a string alone, or folded with whatever linear it is joined to. `work` is room for
    ROWS + n rows of n, n being the number of points or MOST_AT_ONCE.
    """
    which, pushed = touch.pushed, 0
    if count > 1:
        count = reaching(law, height, touch, push, count)
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
    """The forces of a block, and psi+; False if no gradients were found that leave psi+ >= 0."""
    if held(law, height, response, touch, push, work, first, size):
        return True
    begin(law, height, response, touch, push, work, first, size)
    for _ in range(SEARCHES):
        gradients(law, work, size)
        solve_symmetric(response, touch, push, work, first, size)
        for i in range(size):
            root = work[ROOT, i]
            if root > law.zero:
                s = (work[FOUND, i] - work[KNOWN, i]) / root
            else:
                k = touch.pushed[first + i]
                s = push[k]
                for j in range(size):
                    s -= response[touch.pushed[first + j], k] * (work[ROOT, j] * work[FOUND, j])
            work[STEP, i] = s
        if accept(law, touch, work, first, size):
            return True
    return False


@inlined
def held(law: Law, height: Any, response: Any, touch: Any, push: Any, work: Any, first: Any, size: Any) -> Any:
    """`at_once` in nine of ten cases: all points are in contact and stay in it. False, and nothing done, if not.

    R = a^2 then, c = 2 a psi, x = psi + psi+, and F = a x: of a linear law without damping.
    """
    if law.form != LINEAR or law.rule == PLAIN or law.drag > law.zero:
        return False
    for i in range(size):
        k = touch.pushed[first + i]
        if touch.psi[k] <= law.zero or (height[k] <= touch.now[k] and height[k] <= touch.before[k]):
            return False
        work[KNOWN, i], work[ROOT, i] = touch.psi[k] + touch.psi[k], law.slope[k]
    solve_symmetric(response, touch, push, work, first, size)
    for i in range(size):
        psi = touch.psi[touch.pushed[first + i]]
        if work[FOUND, i] - psi <= law.grain * psi:
            return False
    for i in range(size):
        k, x = touch.pushed[first + i], work[FOUND, i]
        touch.force[k], touch.psi[k] = law.slope[k] * x, x - touch.psi[k]
    return True


@inlined
def begin(law: Law, height: Any, response: Any, touch: Any, push: Any, work: Any, first: Any, size: Any) -> None:
    """What is known of every point of a block, and s as if it knew only the points before it; of other laws than the
    linear one, as if it were alone and weightless."""
    for i in range(size):
        k = touch.pushed[first + i]
        eta, before, psi = height[k] - touch.now[k], height[k] - touch.before[k], touch.psi[k]
        slope, gap, drag, s = law.slope[k], law.zero, law.zero, push[k]
        if law.form == LINEAR and law.rule != PLAIN:
            for j in range(i):
                s -= response[touch.pushed[first + j], k] * work[FOUND, j]
            force, _ = linear(law, slope, eta, before, s, psi, response[k, k])
            work[FOUND, i] = force
            s -= response[k, k] * force
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
        work[STEP, i], work[PSI, i], work[GAP, i], work[SLOPE, i], work[DRAG, i] = s, psi, gap, slope, drag


@inlined
def gradients(law: Law, work: Any, size: Any) -> None:
    """a, gamma, root of R and c / root of every point, at its s: R = a^2 + 2 a gamma, but of a contact that begins the
    slope of its force."""
    for i in range(size):
        psi, slope, s = work[PSI, i], work[SLOPE, i], work[STEP, i]
        a, gamma, root, known = slope, law.zero, law.zero, psi + psi
        if law.rule == PLAIN:
            root = a
        elif psi > law.zero:
            if slope < law.zero or psi + slope * s < law.zero:
                a = -psi / s if s < law.zero else law.zero
            root, gamma = a, work[DRAG, i]
            if gamma > law.zero and a > law.zero:
                if known + (a + gamma + gamma) * s < law.zero:  # damping would pull: no force, and psi falls
                    root, gamma = law.zero, -law.one
                else:
                    root = np.sqrt(a * a + (a + a) * gamma)
                    known *= a / root
        elif s > work[GAP, i]:
            a *= (s - work[GAP, i]) / s
            root, known = a, law.zero
            if work[GAP, i] > law.zero:
                root = np.sqrt((slope + slope) * a - a * a)
                known = (a * a - root * root) * s / root
        else:
            a = law.zero
        work[GRADIENT, i], work[GAMMA, i], work[ROOT, i], work[KNOWN, i] = a, gamma, root, known


@inlined
def solve_symmetric(response: Any, touch: Any, push: Any, work: Any, first: Any, size: Any) -> None:
    """FOUND = (1 + r W r)^-1 (KNOWN + r D), r = ROOT, by the factors L d L': all pivots d are at least one."""
    one = work.dtype.type(1.0)
    for i in range(size):
        k, row, root = touch.pushed[first + i], ROWS + i, work[ROOT, i]
        x, pivot = work[KNOWN, i] + root * push[k], one + root * root * response[k, k]
        for j in range(i):
            entry = root * response[k, touch.pushed[first + j]] * work[ROOT, j]
            for n in range(j):
                entry -= work[row, n] * work[ROWS + j, n]
            work[row, j] = entry  # L d, until the row is whole
        for j in range(i):
            scaled = work[row, j] * work[PIVOT, j]
            pivot -= scaled * work[row, j]
            x -= scaled * work[FOUND, j]
            work[row, j] = scaled
        work[PIVOT, i], work[FOUND, i] = one / max(pivot, one), x
    for i in range(size - 1, -1, -1):
        x = work[FOUND, i] * work[PIVOT, i]
        for j in range(i + 1, size):
            x -= work[ROWS + j, i] * work[FOUND, j]
        work[FOUND, i] = x


@inlined
def accept(law: Law, touch: Any, work: Any, first: Any, size: Any) -> Any:
    """Forces and psi+ of what has been solved, unless a contact would pull by more than rounding, or be missed."""
    for i in range(size):
        psi, root, x, s, a = work[PSI, i], work[ROOT, i], work[FOUND, i], work[STEP, i], work[GRADIENT, i]
        after = psi
        if work[GAMMA, i] < law.zero:
            after = min(max(psi + a * s, law.zero), psi)
        elif root > law.zero:
            after = psi + a * s
            if law.rule != PLAIN:
                if x < law.zero:
                    return False
                if psi > law.zero:
                    leaving = a != work[SLOPE, i]
                    if after < -law.slack * psi or (leaving and after > law.slack * psi):
                        return False
                    if after <= (law.slack if leaving else law.grain) * psi:
                        after = law.zero
                elif s <= law.zero:
                    return False
                elif root != a:  # by its tangent: where psi+^2 = F s, there is an a of that energy
                    after = np.sqrt(root * x * s)
                    if abs(after - work[SLOPE, i] * (s - work[GAP, i])) > law.grain * work[SLOPE, i] * s:
                        return False
        elif law.rule != PLAIN and missed(law, work, i, s):
            return False
        work[AFTER, i] = after
    for i in range(size):
        k, root, s = touch.pushed[first + i], work[ROOT, i], work[STEP, i]
        force = root * work[FOUND, i]
        touch.force[k] = force if law.rule == PLAIN else max(force, law.zero)
        touch.psi[k] = work[AFTER, i]
        if work[GAMMA, i] < law.zero:
            touch.lost[0] += law.half * (work[PSI, i] - work[AFTER, i]) * (work[PSI, i] + work[AFTER, i])
        elif work[GAMMA, i] > law.zero and root > law.zero:
            touch.lost[0] += work[GRADIENT, i] * work[GAMMA, i] * s * s
    return True


@inlined
def missed(law: Law, work: Any, i: Any, s: Any) -> Any:
    """Whether a point that has been solved without force has one where it comes to."""
    if work[PSI, i] > law.zero:
        return s < law.zero and work[SLOPE, i] < law.zero
    return s > work[GAP, i] and work[SLOPE, i] > law.zero
