"""What stands between pickups and the jack: a coil with its cable, or a crystal with what it works into."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

from engine.errors import PhysicsError
from engine.physics.string import require

CIRCUITS = COIL, CRYSTAL = "coil", "crystal"
LOWEST, HIGHEST = 5.0, 2e4  # Hz: where a circuit may have its edge


@dataclass(frozen=True)
class Circuit:
    """A coil: inductance (H) and resistance (ohm) in series with the load (ohm), beside which lies the capacitance (F)
    of winding and cable. A crystal: its own capacitance in series with the load.

    The defaults are a bass's pickup of single magnets with its volume control and 3 m of cable.
    """

    kind: str = COIL
    inductance: float = 4.0
    resistance: float = 8e3
    capacitance: float = 6e-10
    load: float = 2.5e5

    def __post_init__(self) -> None:
        for word in ("inductance", "resistance", "capacitance", "load"):
            require(f"circuit.{word}", getattr(self, word), above=0.0)
        if not LOWEST <= self.edge <= HIGHEST:
            limit = f"puts its edge at {self.edge:.3g} Hz, outside {LOWEST:g} to {HIGHEST:g} Hz"
            raise PhysicsError("circuit.capacitance", self.capacitance, limit, "change it, or what it works with")

    @property
    def resonates(self) -> bool:
        """Whether it is a low-pass of second order, 1/(1 + s/(quality w) + (s/w)^2), or a high-pass, s/(s + w)."""
        return self.kind == COIL

    @property
    def edge(self) -> float:
        """w, as a frequency in Hz."""
        if self.kind == CRYSTAL:
            return 1.0 / (2.0 * pi * self.load * self.capacitance)
        return sqrt((1.0 + self.resistance / self.load) / (self.inductance * self.capacitance)) / (2.0 * pi)

    @property
    def quality(self) -> float:
        """Of a coil's resonance."""
        slope = self.inductance / self.load + self.resistance * self.capacitance
        return (1.0 + self.resistance / self.load) / (slope * 2.0 * pi * self.edge)


# A crystal under a saddle, and an amplifier that is made for it.
USUAL = {COIL: Circuit(), CRYSTAL: Circuit(CRYSTAL, capacitance=1.2e-9, load=1e7)}
