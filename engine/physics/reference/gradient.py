"""Which g a quadratised contact uses in psi+ = psi + (g/2)(eta+ - eta-): rules in their plainest form.

The discrete energy is conserved whatever g is. The rule alone decides how accurate the contact is, whether energy
stays stuck in it after release, and whether it can pull. These functions are the oracle for the compiled rule.
"""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, inf, sqrt
from typing import NamedTuple

from engine.physics.reference.power_law import PowerLaw, implicit_increment


class Outlook(NamedTuple):
    """All that is known about a contact before step n is taken (penetrations in m)."""

    before: float  # eta^{n-1}
    now: float  # eta^n
    change: float  # D = eta^{n+1} - eta^{n-1} if the contact exerts no force in between
    psi: float  # psi^{n-1/2}, sqrt(J)
    compliance: float  # fall of eta^{n+1} per unit of contact force, m/N


Rule = Callable[[PowerLaw, Outlook], float]


def plain(law: PowerLaw, at: Outlook) -> float:
    """g = psi'(eta^n), paper 002 eq. (26)."""
    return law.psi_slope(at.now)


def releasing(at: Outlook) -> float:
    """The g that brings psi to exactly zero in this step; a larger one would make the contact pull (§2.2)."""
    if at.psi <= 0.0:
        return inf if at.change > 0.0 else 0.0
    half_retreat = -0.5 * at.change
    q = hypot(half_retreat, sqrt(at.compliance) * at.psi)
    if half_retreat > 0.0:
        return 2.0 * at.psi / (q + half_retreat)
    return 2.0 * (q - half_retreat) / (at.compliance * at.psi)


def capped(law: PowerLaw, at: Outlook) -> float:
    """The strictly non-adhesive rule (§2.2): psi >= 0 and force >= 0 always, nothing left behind."""
    if at.now <= 0.0 and at.psi > 0.0 and at.change < 0.0:
        return releasing(at)
    return min(law.psi_slope(at.now), releasing(at))


def entry_secant(law: PowerLaw, at: Outlook) -> float:
    """`capped`, with the secant of psi to the predicted midpoint in the step that enters (§2.2).

    At entry eta^n <= 0 still says g = 0, which is what makes `capped` first-order in the contact's duration. An entry
    comes from outside (eta- <= 0 too), which bounds the secant: the middle is then at most half the change.
    """
    if at.psi <= 0.0 and at.change > 0.0 and at.now <= 0.0 and at.before <= 0.0:
        return _secant(law, at)
    return capped(law, at)


def onset_secant(law: PowerLaw, at: Outlook) -> float:
    """`capped`, with that secant as long as the contact holds nothing (psi = 0), even if eta^n is already positive.

    In half of all entries the predicted midpoint is still outside and `entry_secant` leaves psi behind eta for the
    whole contact; here the next step catches up, and the duration becomes second-order whatever the moment of entry.
    """
    if at.psi <= 0.0 and at.change > 0.0 and at.before <= 0.0:
        return _secant(law, at)
    return capped(law, at)


def two_point(law: PowerLaw, at: Outlook) -> float:
    """The g that has psi+ = psi(middle of eta^{n+1} and eta^n): paper 004's force, of a point alone on its string.

    psi says where the middle was before, as long as the contact holds anything.
    """
    start = 0.5 * (at.now + at.before)
    if at.psi > 0.0:
        if at.now <= 0.0 and at.before <= 0.0:  # what is left of a contact that is over
            return releasing(at) if at.change < 0.0 else 0.0
        start = (0.5 * (law.exponent + 1.0) * at.psi**2 / law.stiffness) ** (1.0 / (law.exponent + 1.0))
    else:
        start = min(start, 0.0)
    way = implicit_increment(law, start, 0.5 * at.change, 0.5 * at.compliance)
    if way == 0.0 or (law.exponent == 1.0 and min(start, start + way) > 0.0):  # a quotient would cancel
        return law.psi_slope(start)
    if start + way <= 0.0:
        return releasing(at) if at.psi > 0.0 else 0.0
    return (law.psi(start + way) - at.psi) / way


def _secant(law: PowerLaw, at: Outlook) -> float:
    """The g that would bring psi from zero to its value midway between eta^n and the predicted eta^{n+1}."""
    middle = 0.5 * (at.now + at.before + at.change)
    # An entry has change > middle; the bound only keeps g finite when something else pulls the mass out at once.
    return 2.0 * law.psi(middle) / max(at.change, middle)
