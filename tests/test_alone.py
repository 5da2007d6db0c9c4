"""The compiled loop of alone.py against its plain twin: the same bits, and who else comes near."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import alone, pairs
from engine.compiled import called_by_python


@called_by_python
def give_way(row: Any, ahead: Any, force: Any, height: Any, k: Any, here: Any, later: Any) -> Any:
    return alone.give_way(row, ahead, force, height, k, here, later)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("points", [1, 7, 8, 9, 16, 17, 40])
def test_a_point_gives_way_and_others_may_come_near(points: int, dtype: Any) -> None:
    room, random, seen = pairs.whole(points, dtype), np.random.default_rng(points), set()
    for trial in range(40):
        row, ahead, here, later = (random.standard_normal(room).astype(dtype) for _ in range(4))
        height = np.full(room, -np.inf, dtype)
        height[:points] = random.standard_normal(points) - 0.3 * trial
        k, force = int(random.integers(points)), dtype(random.random())
        got, wanted = [here.copy(), later.copy()], [here.copy(), later.copy()]
        found = give_way(row, ahead, force, height, k, *got)
        assert found == alone.give_way(row, ahead, force, height, k, *wanted)
        assert all((a == b).all() for a, b in zip(got, wanted, strict=True))
        assert np.allclose(got[0], here + force * row, atol=1e-5)
        assert np.allclose(got[1], later + force * ahead, atol=1e-5)
        near = (height > got[0]) | (height > got[1])
        near[k] = False
        assert found == near.any()
        seen.add(bool(found))
    assert seen == ({False, True} if points > 1 else {False})
