"""What all models' files share where a string passes on its shape: to a picture, or to another design of itself."""

from __future__ import annotations

from typing import Any

from engine.compiled import inlined
from engine.physics.contact import Law, Touch, raised

# --- to a picture, a row that may be shorter --------------------------------------------------------------------------


@inlined
def lowest(modes: Any, out: Any) -> Any:
    """The lowest modes, as many as there is room for; how many."""
    size = min(modes.size, out.size)
    for i in range(size):
        out[i] = modes[i]
    return size


@inlined
def thinned(nodes: Any, first: Any, intervals: Any, out: Any) -> Any:
    """Nodes from the `first` on at even distances, both ends among them, as many as there is room for; how many."""
    size = min(intervals + 1, out.size)
    for i in range(size):
        x = i * intervals / (size - 1)
        j = min(int(x), intervals - 1)
        out[i] = nodes[first + j] + (x - j) * (nodes[first + j + 1] - nodes[first + j])
    return size


@inlined
def summed(force: Any, out: Any) -> Any:
    """What each point pushes with, N; where there is no room for all, the sum of neighbours; how many."""
    count = min(force.size, out.size)
    for k in range(count):
        out[k] = 0.0
    for k in range(force.size):
        out[k * count // force.size] += force[k]
    return count


# --- to another design, whose barrier may stand elsewhere -------------------------------------------------------------


@inlined
def deepest(height: Any, u: Any) -> Any:
    """How far the string is in its barrier at most."""
    deep = 0.0
    for k in range(height.size):
        deep = max(deep, height[k] - u[k])
    return deep


@inlined
def clear(height: Any, u: Any, lifted: Any, deep: Any) -> Any:
    """How far the barrier is lifted where it presses on the string no more than before, and is not higher than before
    otherwise."""
    excess = deepest(height, u) + lifted - deep
    return lifted - excess if excess > 0.0 else lifted


@inlined
def meet(law: Law, height: Any, touch: Touch, u: Any, by: Any) -> None:
    """The barrier lifted, and the contact as it must be at this shape: psi = sqrt(2 phi) of each penetration."""
    for k in range(height.size):
        height[k] += by
        eta = height[k] - u[k]
        touch.psi[k] = law.secant * law.slope[k] * raised(eta, law) * eta if eta > law.zero else law.zero
