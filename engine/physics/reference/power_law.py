"""The elastic contact law K [eta]_+^alpha (paper 001 eq. 1, paper 002 eq. 9) and one implicit step against it."""

from __future__ import annotations

from dataclasses import dataclass
from math import gamma, pi, pow, sqrt


@dataclass(frozen=True)
class PowerLaw:
    """Stiffness K (N/m^alpha) and exponent alpha >= 1; eta > 0 is penetration in m."""

    stiffness: float
    exponent: float

    def force(self, eta: float) -> float:
        """phi'(eta), N."""
        return self.stiffness * pow(eta, self.exponent) if eta > 0.0 else 0.0

    def potential(self, eta: float) -> float:
        """phi(eta), J."""
        return self.stiffness / (self.exponent + 1.0) * pow(eta, self.exponent + 1.0) if eta > 0.0 else 0.0

    def psi(self, eta: float) -> float:
        """sqrt(2 phi), the quadratised potential (002 eq. 6)."""
        return sqrt(2.0 * self.potential(eta))

    def psi_slope(self, eta: float) -> float:
        """psi'(eta) = phi' / sqrt(2 phi) (002 eq. 26); zero out of contact, where the quotient is 0/0 (E6)."""
        if eta <= 0.0:
            return 0.0
        return sqrt(0.5 * self.stiffness * (self.exponent + 1.0)) * pow(eta, 0.5 * (self.exponent - 1.0))

    def mean_force(self, start: float, increment: float) -> float:
        """[phi(start + increment) - phi(start)] / increment: the discrete gradient of 002 eq. (19)."""
        end = start + increment
        if max(start, end) <= 0.0:
            return 0.0
        # Below this the quotient cancels; the midpoint is then the better value, wrong by (increment / end)^2 / 24.
        if abs(increment) <= 1e-5 * max(start, end):
            return self.force(start + 0.5 * increment)
        return (self.potential(end) - self.potential(start)) / increment

    def mean_force_slope(self, start: float, increment: float) -> float:
        """Derivative of `mean_force` in the increment; never negative, as phi is convex."""
        end = start + increment
        if max(start, end) <= 0.0:
            return 0.0
        if abs(increment) <= 1e-5 * max(start, end):
            middle = start + 0.5 * increment
            return 0.5 * self.exponent * self.force(middle) / middle
        return (self.force(end) - self.mean_force(start, increment)) / increment

    def compression(self, mass: float, speed: float) -> float:
        """Deepest penetration of a free mass that arrives with `speed` (§5.2), m."""
        power = self.exponent + 1.0
        return pow(0.5 * power * mass * speed**2 / self.stiffness, 1.0 / power)

    def duration(self, mass: float, speed: float) -> float:
        """How long that mass stays in contact (§5.2), s."""
        inverse = 1.0 / (self.exponent + 1.0)
        return 2.0 * self.compression(mass, speed) / speed * sqrt(pi) * gamma(1.0 + inverse) / gamma(0.5 + inverse)


def implicit_increment(
    law: PowerLaw, start: float, free: float, compliance: float, iterations: int | None = None
) -> float:
    """The r that solves r = free - compliance * law.mean_force(start, r): 002 eq. (23), with the sign of E1.

    The residual rises and is convex in r (phi' is convex for alpha >= 1), and it is not negative at r = free. So Newton
    from there descends to the only root without ever passing it; the lower bound guards against rounding alone.
    `iterations` takes that many steps and no look at the residual, as paper 002 does; None goes on to convergence.
    """
    r = free
    low = free - compliance * law.mean_force(start, free)
    for _ in range(iterations or 200):
        residual = r - free + compliance * law.mean_force(start, r)
        following = max(low, r - residual / (1.0 + compliance * law.mean_force_slope(start, r)))
        if iterations is None and abs(following - r) <= 1e-15 * max(abs(r), abs(start)):
            return following
        r = following
    return r
