#!/usr/bin/env python3
"""Time the engine's kernels beside the C yardstick, on the same problems, in one run, alternating.

    python3 scripts/bench_kernels.py [--json FILE] [--repeats N] [--yardstick DIR]

Prints ns per sample, voices in real time at 48 kHz, and C time / engine time. Without a C compiler or without the
yardstick's folder only the engine's side is timed. Then: the non-iterative string against the iterative one.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from engine import aligned
from engine.aligned import zeros
from engine.increments import by_increments
from engine.pairs import whole
from engine.physics import contact, finite_difference, modal
from engine.physics.barrier import Barrier, ContactPoints, Polynomial
from engine.physics.dispersion import REACH
from engine.physics.excitation import Excitation, pulse
from engine.physics.grid import ORIGIN
from engine.physics.grid_contact import Touchable
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.rank import skeleton
from engine.physics.reference import iterative_kernel
from engine.physics.responses import answer_forces, deep, in_vectors
from engine.physics.steps import factors
from engine.physics.string import String
from engine.vectors import PADDING

RATE = 48_000.0
DTYPES = {"float64": np.float64, "float32": np.float32}


def law(p: dict[str, Any], count: int, dtype: Any) -> contact.Law:
    """The yardstick's Kp = sqrt(K (al + 1) / 2) and e = (al - 1) / 2 in the engine's terms."""
    exponent = 2.0 * p["e"] + 1.0
    stiffness = np.full(count, p["Kp"] ** 2 * 2.0 / (exponent + 1.0))
    return contact.law(ContactPoints(stiffness, stiffness, stiffness), Contact(1.0, exponent), RATE, dtype)


def aligned_all(group: Any) -> Any:
    """The same arrays on borders of cache lines, where the renderer has them."""
    if isinstance(group, tuple):
        return type(group)(*(aligned_all(part) for part in group))
    if not isinstance(group, np.ndarray):
        return group
    copy = aligned.zeros(group.shape, group.dtype)
    copy[...] = group
    return copy


def fd_voice(p: dict[str, Any], dtype: Any, wide: bool = False) -> tuple[Any, Any, Any]:
    """Kernel, coefficients and state of a yardstick finite-difference problem; `wide`: by the loop for nine taps."""
    fd, c = finite_difference, p["c"]
    now, before, one = np.zeros(REACH + 1, dtype), np.zeros(REACH + 1, dtype), np.array([1, 0, 0, 0], dtype)
    now[:3], before[:2] = c[:3], c[3:5]
    count = p["k1"] - p["k0"]
    surface = Touchable(
        height=deep(p["b"][p["k0"] : p["k1"]], dtype),
        law=law(p, whole(count, dtype), dtype),
        answer=dtype(p["Cc"]),
        first_node=p["k0"],
        obstacle_node=np.zeros(0, np.int64),
        obstacle=np.zeros((0, 2), dtype),
        response=np.zeros((0, 0), dtype),
    )
    zero = dtype(0)
    coefficients = fd.Coefficients(
        fd.Stencil(p["N"], wide, now, before, np.zeros(0, np.int64), one[:0]),
        fd.Ports(p["mF"], one * dtype(p["inject"]), np.array([p["mo"]]), one[None], np.zeros(1, dtype)),
        surface,
        fd.EnergyTerms(zero, before, zero, before, one[:0]),
        np.zeros(ORIGIN + p["N"] + 1 + REACH + PADDING, dtype),
        np.zeros(count, dtype),
    )
    coefficients = aligned_all(coefficients)
    return fd.kernel, coefficients, aligned_all(fd.state(coefficients))


def modal_voice(p: dict[str, Any], dtype: Any) -> tuple[Any, Any, Any]:
    """Kernel, coefficients and state of a yardstick modal problem."""
    size, count, none = p["M"], p["K"], np.zeros(p["M"], dtype)
    kept, mix = skeleton(p["V"].astype(float))
    rows, rank = np.concatenate([p["V"][kept], p["pick"][None]]), kept.size
    table = lambda *shape: in_vectors(np.zeros(shape), dtype)  # noqa: E731
    radius = np.sqrt(p["exact"]["c2"])
    forward, backward = factors(radius, p["exact"]["c1"] / (2.0 * radius), dtype is np.float32)
    coefficients = modal.Coefficients(
        forward=on_line(forward.astype(dtype)),
        backward=on_line(backward.astype(dtype)),
        inject=on_line(p["inject"]),
        spread=on_line(p["spread"]),
        rows=on_line(rows),
        mix=in_vectors(mix.T, dtype),
        shares=in_vectors(mix, dtype),
        answer=table(rank, rank + 1),
        ahead=table(rank, rank + 1),
        response=table(count, count),
        response_ahead=table(count, count),
        remainder=table(count, count),
        direct=np.zeros((count, 1), dtype),
        heard=np.zeros((count, 1), dtype),
        heard_ahead=np.zeros((count, 1), dtype),
        share=np.zeros((0, count), dtype),
        grip=np.zeros(0, dtype),
        height=deep(p["yb"], dtype),
        law=law(p, count, dtype),
        inertia=none[:1],
        spring=none,
        resistance=none,
        rest=none,
        rest_psi=np.zeros(count, dtype),
        rest_force=np.zeros(count, dtype),
    )
    answer_forces(coefficients, np.zeros(size, dtype))
    return modal.kernel, coefficients, modal.state(coefficients)


def on_line(array: Any) -> Any:
    """The same where a cache line begins, as the engine has it."""
    made = zeros(array.shape, array.dtype)
    made[...] = array
    return made


def seconds(p: dict[str, Any], dtype: Any, wide: bool = False) -> tuple[float, np.ndarray[Any, Any]]:
    """Time and output of one pass of the engine's kernel from rest."""
    kernel, coefficients, state = fd_voice(p, dtype, wide) if p["model"] == "fd" else modal_voice(p, dtype)
    out = np.zeros((p["n"], 1), dtype)
    start = time.perf_counter()
    kernel(coefficients, state, p["force"], out)
    return time.perf_counter() - start, out[:, 0]


def best_of(runs: int, *sides: Callable[[], float]) -> list[float]:
    """Least time of each side, taking turns."""
    times = [[side() for side in sides] for _ in range(runs)]
    return [min(column) for column in zip(*times, strict=True)]


def yardstick(folder: Path) -> ModuleType | None:
    """The module beside the project, or None."""
    path = folder / "yardstick.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("yardstick", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_exact(module: ModuleType, dtype: Any) -> list[dict[str, Any]]:
    """The yardstick's problems, and each as float64 has it: what goes by increments is rounded after, not before."""
    pairs = zip(module.problems(dtype), module.problems(np.float64), strict=True)
    return [p | {"exact": exact} for p, exact in pairs]


def nine_taps(module: ModuleType, repeats: int) -> None:
    """What losses with s1 or s3 and stiff strings cost on a grid: the update with nine taps beside that with five."""
    print("\nnine taps beside five, no contact:")
    for dtype_name, dtype in DTYPES.items():
        for p in (p | {"k0": 1, "k1": 1} for p in module.problems(dtype) if p["model"] == "fd"):
            sides = [lambda p=p, d=dtype, w=wide: seconds(p, d, w)[0] for wide in (False, True)]
            for side in sides:
                side()
            five, nine = (t / p["n"] * 1e9 for t in best_of(repeats, *sides))
            print(f"  {p['f0']:4.0f} Hz N={p['N']:3} {dtype_name}: {five:6.1f} ns, {nine:6.1f} ns: x{nine / five:.2f}")


def compare(module: ModuleType, repeats: int) -> list[dict[str, Any]]:
    """Every problem of the yardstick in both precisions."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("no C compiler: timing the engine alone")
    table = []
    print(f"{'problem':24} {'dtype':8} {'engine ns':>9} {'C ns':>8} {'voices':>7} {'C/engine':>8}  rms engine / C - 1")
    for dtype_name, dtype in DTYPES.items():
        lib = module.build("double" if dtype is np.float64 else "float") if compiler else None
        for p in with_exact(module, dtype):
            _, mine = seconds(p, dtype)  # compiles, warms up
            sides = [lambda p=p, d=dtype: seconds(p, d)[0]]
            theirs = None
            if lib:
                _, theirs = module.time_c(lib, p, dtype, 1)
                sides.append(lambda p=p, d=dtype, lib=lib: module.time_c(lib, p, d, 1)[0])
            best = [t / p["n"] * 1e9 for t in best_of(repeats, *sides)]
            size = f"N={p['N']}" if p["model"] == "fd" else f"M={p['M']} K={p['K']}"
            row = {"problem": f"{p['model']} {p['f0']:.0f} Hz {size}", "model": p["model"], "dtype": dtype_name}
            row |= {"engine_ns": best[0], "c_ns": best[1] if lib else None}
            row["ratio"] = best[1] / best[0] if lib else None
            table.append(row)
            c = f"{best[1]:8.1f}" if lib else "       -"
            ratio = f"{best[1] / best[0]:8.2f}" if lib else "       -"
            off = f"{np.std(mine) / np.std(theirs) - 1:+.1e}" if theirs is not None else ""
            print(f"{row['problem']:24} {dtype_name:8} {best[0]:9.1f} {c} {1e9 / best[0] / RATE:7.0f} {ratio}  {off}")
    return table


def against_iterating(repeats: int) -> None:
    """Paper 002's claim, on the string of its Fig. 8 (E8: 6.3 g/m, which is what a radius of 0.5 mm weighs)."""
    string = String(1.0, 6.3e-3, 500.0, 2e11 * np.pi * 5e-4**4 / 4.0)
    bent = Barrier(Polynomial((-1e-4, -1e-4, -1e-3)), 0.0, 1.0)
    problem = Problem(string, bent, Contact(5e6, 1.4), Excitation(0.4, 10.0, 1e-3), (Pickup(0.9),))

    def voice(kernel: Callable[..., None], factor: int, *how: int) -> Callable[[], float]:
        rate = 44_100.0 * factor
        c = finite_difference.design(problem, rate).coefficients
        force = pulse(problem.excitation, rate, round(0.1 * rate))
        out = np.zeros((force.size, 1))

        def work() -> float:
            state = finite_difference.state(c)
            start = time.perf_counter()
            kernel(c, state, *how, force, out)
            return time.perf_counter() - start

        work()
        return work

    sides = {
        "non-iterative, 44.1 kHz": voice(finite_difference.kernel, 1),
        "non-iterative, x5": voice(finite_difference.kernel, 5),
        "iterative, 44.1 kHz, 20 iterations": voice(iterative_kernel.kernel, 1, 20),
        "iterative, 44.1 kHz, to convergence": voice(iterative_kernel.kernel, 1, iterative_kernel.CONVERGED),
    }
    best = dict(zip(sides, best_of(repeats, *sides.values())))
    print("\npaper 002 Fig. 8's string, 100 ms, explicit finite differences:")
    for name, taken in best.items():
        print(f"  {name:38} {taken * 1e3:8.2f} ms")
    once, five, twenty, _ = best.values()
    print(f"  iterating 20 times takes {twenty / once:.1f} times as long as not iterating")
    print(f"  x5 without iterating takes {five / twenty:.2f} of the time of x1 with 20 iterations")


def cost_of_float32() -> None:
    """Pitch of the first mode from the rounded coefficients, and the energy that comes or goes in a second."""
    print("\nfloat32 against float64 at 48 kHz, sitar string, bridge of 4 points, one pluck:")
    for pitch in (35.0, 70.0, 140.0, 280.0, 560.0):
        tension = 5.55e-4 * (2.0 * 0.88 * pitch) ** 2
        string = String(0.88, 5.55e-4, tension, 7.95e-5)
        problem = Problem(string, Barrier(Polynomial((0.0, 0.0, -0.75)), 0.0, 0.03, 4), Contact(1e8))
        cents, drift = {}, {}
        for name, model in (("modal", modal), ("fd", finite_difference)):
            d = model.design(problem, RATE, dtype=np.float32)
            force = pulse(problem.excitation, RATE, round(RATE))
            log = model.run(d, force, at=np.zeros(0, np.int64)).log
            total = (log.kinetic + log.potential + log.contact).astype(float)[200:]
            drift[name] = np.abs(total - total[0]).max() / total[0]
            exact = model.design(problem, RATE)
            cents[name] = 1200.0 * np.log2(first_mode(d) / first_mode(exact))
        print(
            f"  {pitch:5.0f} Hz: pitch {cents['modal']:+7.3f} cent (modal) {cents['fd']:+7.3f} cent (fd); "
            f"energy drift {drift['modal']:.1e} (modal) {drift['fd']:.1e} (fd)"
        )


def first_mode(d: Any) -> float:
    """Frequency (rad per step) of the first mode that a design's own coefficients give, rounding included."""
    if isinstance(d, modal.Design):
        forward, backward = float(d.coefficients.forward[0]), float(d.coefficients.backward[0])
        if by_increments(d.coefficients.forward):  # e = (1 - R)^2 + 4 R sin^2(w/2)
            radius = np.sqrt(1.0 - backward)
            return float(2.0 * np.arcsin(np.sqrt((forward - (1.0 - radius) ** 2) / (4.0 * radius))))
        return float(np.arccos(forward / (2.0 * np.sqrt(backward))))
    s, angle = d.coefficients.stencil, np.pi / d.grid.intervals
    waves = 2.0 * np.cos(angle * np.arange(REACH + 1))
    waves[0] = 1.0
    now, before = s.now.astype(float) @ waves, s.before.astype(float) @ waves
    return float(np.arccos(now / (2.0 * np.sqrt(-before))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as a list of records")
    parser.add_argument("--repeats", type=int, default=9, help="passes of each side, the best counts (9)")
    parser.add_argument("--yardstick", type=Path, default=ROOT.parent / "shared" / "yardstick", metavar="DIR")
    args = parser.parse_args()
    module = yardstick(args.yardstick)
    if module is None:
        sys.exit(f"bench_kernels: no yardstick.py in {args.yardstick}; pass --yardstick DIR")
    table = compare(module, args.repeats)
    nine_taps(module, args.repeats)
    against_iterating(args.repeats)
    cost_of_float32()
    if args.json:
        args.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
