"""What strings are made of, and the rules that turn wire and tuning into a string's constants."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

from engine.physics.string import Loss, String


class Material(NamedTuple):
    """Density (kg/m^3), Young's modulus (Pa) and the stress at which it breaks (Pa) of a solid round string."""

    density: float
    young: float
    strength: float


# Metals: §6 gives the densities (through the gauges of the sitar) and steel's modulus; the other moduli
# are the middle of handbook ranges for hard-drawn wire (bronze 96-120, brass 96-110, copper 110-120, iron 190-210 GPa).
# Gut, nylon and silk: middle of what is published (§6); twisted strings bend more easily than this solid cylinder.
MATERIALS = {
    "steel": Material(7850.0, 200e9, 2.0e9),
    "iron": Material(7870.0, 200e9, 1.0e9),
    "bronze": Material(8800.0, 110e9, 0.9e9),
    "brass": Material(8500.0, 105e9, 0.8e9),
    "copper": Material(8900.0, 115e9, 0.45e9),
    "nylon": Material(1150.0, 5e9, 0.5e9),
    "gut": Material(1300.0, 6e9, 0.35e9),
    "silk": Material(1300.0, 10e9, 0.4e9),
}

# Strengths are what a string can be trusted with. Music wire of the gauges of strings breaks at 2.0 to 2.8 GPa (ASTM
# A228: the thinner the stronger), iron wire as it was drawn for harpsichords at 0.9 to 1.1, phosphor bronze at 0.8 to
# 1.0, brass at 0.7 to 0.9, hard-drawn copper at 0.4 to 0.5; nylon monofilament at 0.4 to 0.9, plain gut at 0.31 to 0.37
# (a lute's highest string breaks at a length times pitch of 260 m/s), twisted silk at 0.35 to 0.5.

# Woodhouse's loss factors of plain steel strings, from the tanpura of DAFx-16 (§6):
# air (1/s), friction and bending (both plain numbers).
AIR, FRICTION, BENDING = 1.2, 4.97e-5, 2.1e-2


def wire_density(material: Material, diameter: float) -> float:
    """Linear density rho pi d^2 / 4, kg/m."""
    return material.density * pi * (diameter * diameter) / 4.0


def wire_stiffness(material: Material, diameter: float) -> float:
    """Bending stiffness E pi d^4 / 64, N m^2."""
    return material.young * pi * (diameter * diameter * (diameter * diameter)) / 64.0


def wire_elasticity(material: Material, diameter: float) -> float:
    """Stiffness against being drawn longer, E pi d^2 / 4, N."""
    return material.young * pi * (diameter * diameter) / 4.0


def stress(tension: float, diameter: float) -> float:
    """Of a wire, Pa."""
    return tension / (pi * (diameter * diameter) / 4.0)


def tension_for(pitch: float, length: float, density: float, stiffness: float) -> float:
    """The tension (N) that puts the first partial, with its share of stiffness, at `pitch` Hz (§5.4)."""
    speed, wavenumber = 2.0 * length * pitch, pi / length
    return density * speed * speed - stiffness * wavenumber * wavenumber


def steel_loss(string: String) -> Loss:
    """Loss of a plain steel string by Woodhouse's rule, DAFx-16 eq. (53) as in §6."""
    c = string.wave_speed
    return Loss(s0=AIR / 2.0, s1=c * FRICTION / 2.0, s3=c * string.stiffness / string.tension * BENDING / 2.0)
