"""Paper 002's own grid: its dispersion at every wave, its limit (44), and what it refuses."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

from engine.errors import PhysicsError
from engine.physics.dispersion import courant
from engine.physics.reference.plain_grid import plain_grid
from engine.physics.string import Loss, String


@pytest.mark.parametrize("stiffness", [0.0, 9.8e-3, 0.4])
@pytest.mark.parametrize("rate", [44_100.0, 192_000.0])
def test_every_wave_has_the_paper_s_q(stiffness: float, rate: float) -> None:
    """§5.5 without losses, and at the grid's limit the shortest wave just not above 1."""
    string = String(1.0, 6.3e-3, 500.0, stiffness, Loss())
    g, k = plain_grid(string, rate), 1.0 / rate
    s = np.sin(np.arange(1, g.intervals + 1) * pi / (2 * g.intervals))
    c, kappa, h = sqrt(500.0 / 6.3e-3), sqrt(stiffness / 6.3e-3), 1.0 / g.intervals
    wanted = (c * k / h) ** 2 * s**2 + 4.0 * (kappa * k / h**2) ** 2 * s**4
    np.testing.assert_allclose(courant(g.elastic, 500.0, 4.0 * s**2), wanted, rtol=1e-10)
    finest = (c * k / g.limit) ** 2 + 4.0 * (kappa * k / g.limit**2) ** 2
    assert finest == pytest.approx(1.0, rel=1e-12)
    assert 1.02 * g.limit <= g.spacing == h < 1.05 * g.limit


def test_losses_are_refused() -> None:
    with pytest.raises(PhysicsError, match="use scheme fd"):
        plain_grid(String(1.0, 6.3e-3, 500.0, 9.8e-3, Loss(0.5)), 44_100.0)
