"""Code for several levels of processors: types are found once, and each level has what it would have by itself."""

from __future__ import annotations

import re
from typing import Any

import pytest
from numba.core import types

from engine import compiled, lowering, vectors
from engine.compiled import native
from engine.export.targets import TARGETS
from engine.vectors import register

pytestmark = pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled then")
AIMS = TARGETS["linux-x86_64"].processors
MATRIX, VECTOR = types.Array(types.float64, 2, "C"), types.Array(types.float64, 1, "C")


@native
def weighed(rows: Any, y: Any, out: Any) -> Any:
    """What asks for the processor, called twice, and what does not."""
    vectors.project(rows, y, out)
    for n in range(out.size):
        out[n] = max(out[n], 0.25)
    vectors.project(rows, out, y)
    return y.size


def written(whole: Any, machine: Any) -> str:
    """As a module's assembly, without the numbers that functions have in their names."""
    return re.sub(r"([A-Za-z>_])\.\d+\b", r"\1", machine.emit_assembly(whole))


def test_each_level_is_what_it_is_by_itself() -> None:
    doors = {"weighed": lowering.Door(weighed, (MATRIX, VECTOR, VECTOR))}
    together, returning = lowering.optimised_for(doors, 4, lambda share: None, AIMS)
    apart = [lowering.optimised(doors, 4, lambda share: None, aim) for aim in AIMS]
    texts = [written(*one) for one in together]
    assert texts == [written(whole, machine) for whole, machine, _ in apart]
    assert returning == apart[0][2] == {"weighed": True}
    assert len(set(texts)) == len(AIMS)
    widest = [max(re.findall(r"%([xyz]mm)", text)) for text in texts]
    assert widest == [{16: "xmm", 32: "ymm", 64: "zmm"}[register(aim)[0]] for aim in AIMS]
