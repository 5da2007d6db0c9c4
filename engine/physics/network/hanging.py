"""How a string hangs on the bridge, and what that and its modes become at another tension, in compiled code."""

from __future__ import annotations

from typing import Any

from engine.compiled import WORD, called_with, native
from engine.physics.network.memory import Strand, strand
from engine.physics.responses import answer_rows
from engine.physics.retune import tune_poles


@called_with(WORD)
def hang(at: Any) -> None:
    """How a string leans on the bridge, and its load, from the answers of its ends (README.md, 2)."""
    lean_on(strand(at))


@native
def lean_on(s: Strand) -> None:
    """The same."""
    e, count, square = s.ends, s.points.psi.size, 1.0 / (s.recipe.step * s.recipe.step)
    for d in range(e.load.shape[0]):
        for k in range(count):
            e.lean[d, k] = -e.carried[d, k]
            for j in range(e.inertia.size):
                e.lean[d, k] += s.bank.response[count + j, k] * square * e.weight[j, d]
        for c in range(e.load.shape[0]):
            e.load[d, c] = 0.0
            for j in range(e.inertia.size):
                for i in range(e.inertia.size):
                    own = -s.bank.response[count + j, count + i] * square
                    own = (own + e.inertia[j]) * square + 0.25 * e.tension[j] if i == j else own * square
                    e.load[d, c] += e.weight[j, d] * own * e.weight[i, c]
    s.fold.stale[0] = 1


@native
def tune(s: Strand, tension: Any, damping: Any) -> None:
    """A string at another tension (N) and an added decay rate (1/s): between two pairs of steps."""
    bank, r = s.bank, s.recipe
    tune_poles(r, tension, damping, bank)  # by the names that a string alone has for the same
    answer_rows(bank.rows, bank.spread, bank.response, r.scratch)
    for i in range(r.gain.size):
        r.gain[i] = bank.spread[i] * bank.forward[i]
    answer_rows(bank.rows, r.gain, bank.ahead, r.scratch)
    for j in range(s.now.size):
        s.ends.tension[j] = tension * s.ends.ratio[j] / r.length
    lean_on(s)
    r.late[0] = 0
