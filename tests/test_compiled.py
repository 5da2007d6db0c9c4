"""The compiler's settings: what a kernel may not do, and what its low-level instructions do."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live.screen import Screen, Stream
from numba.core.errors import NumbaError
from physics.problems import STEEL

from engine import compiled
from engine.commands.compiling import compiling_shown
from engine.physics import finite_difference, modal, two_point
from engine.physics.barrier import Barrier, Obstacles, Polynomial
from engine.physics.excitation import Excitation, pulse
from engine.physics.problem import Contact, Pickup, Problem
from engine.physics.string import Array, Loss, String

# --- what a kernel may not do -----------------------------------------------------------------------------------------


def test_kernels_release_the_interpreter_and_know_no_memory_manager() -> None:
    assert compiled.FLAGS["nogil"] is True
    assert compiled.FLAGS["_nrt"] is False
    assert compiled.FLAGS["error_model"] == "numpy"  # a division by zero is a number, not an exception


def test_a_kernel_that_allocates_does_not_compile() -> None:
    @compiled.inlined
    def careless(n: int) -> float:
        return np.zeros(n)[0]  # type: ignore[no-any-return]

    with pytest.raises(NumbaError, match="zeros"):
        careless(3)


@pytest.mark.skipif(compiled.INTERPRETED, reason="Python calls everything then")
def test_what_has_no_way_in_from_python_says_so() -> None:
    @compiled.native
    def inner(x: float) -> float:
        return x + x

    @compiled.called_by_python
    def outer(x: float) -> float:
        return inner(x)  # type: ignore[no-any-return]

    for _ in range(2):  # before it is compiled, and after
        with pytest.raises(TypeError, match=r"inner is @native.*@called_by_python"):
            inner(1.5)
        assert outer(1.5) == 3.0


@pytest.mark.skipif(compiled.INTERPRETED, reason="nothing is compiled then")
def test_compilation_is_counted_on_a_terminal_and_wiped_off(monkeypatch: pytest.MonkeyPatch) -> None:
    @compiled.inlined
    def inner(x: float) -> float:
        return x + x

    @compiled.inlined
    def outer(x: float) -> float:
        return inner(x)  # type: ignore[no-any-return]

    monkeypatch.setenv("TERM", "xterm")
    for watched in (True, False):
        stream = Stream(Screen() if watched else None)
        monkeypatch.setattr(sys, "stderr", stream)
        with compiling_shown():
            assert outer(1.5 if watched else 1) == (3.0 if watched else 2)
        shown = stream.getvalue().split("\r")
        if watched:
            assert any(re.fullmatch(r"jawari: functions compiled: 1, \d+ s\x1b\[K", line) for line in shown)
            assert shown[-1] == "\x1b[K", "wiped off before anything else is printed"
        else:
            assert shown == [""]


def test_nan_stays_visible() -> None:
    """Arithmetic is strict: no flag promises the compiler that numbers are finite, or lets it fuse and reorder."""
    assert compiled.FLAGS["fastmath"] is False

    @compiled.inlined
    def odd(x: float) -> bool:
        return x != x

    assert odd(np.nan)
    assert not odd(1.0)


# --- arrays from addresses, atomics, denormals ------------------------------------------------------------------------


@compiled.called_by_python
def double_there(address: Any, rows: Any, columns: Any) -> None:
    """Twice what lies at an address, as a matrix; then the first row once more, as an array."""
    matrix = compiled.float_rows(address, rows, columns)
    for i in range(rows):
        for j in range(columns):
            matrix[i, j] += matrix[i, j]
    row = compiled.floats(address, columns)
    for j in range(columns):
        row[j] += row[j]


@compiled.called_by_python
def count_up(cell: Any) -> None:
    compiled.store_release(cell, 1, compiled.load_acquire(cell, 1) + 1)


@compiled.called_by_python
def halve_often(a: Any, flushed: Any, given_back: Any) -> None:
    before = 0
    if flushed:
        before = compiled.flush_to_zero()
    for _ in range(1070):
        a[0] *= 0.5
    if given_back:
        compiled.restore_arithmetic(before)


@pytest.mark.interpreted
def test_an_array_at_an_address_is_the_memory_there() -> None:
    memory = (ctypes.c_double * 6)(*range(6))
    double_there(ctypes.addressof(memory), 2, 3)
    assert list(memory) == [0.0, 4.0, 8.0, 6.0, 8.0, 10.0]


@pytest.mark.interpreted
def test_a_cell_is_read_and_written_in_place() -> None:
    cell = np.array([7, 41, 9])
    count_up(cell)
    assert cell.tolist() == [7, 42, 9]


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="denormals are flushed on x86 only")
def test_denormals_vanish_where_asked_and_nowhere_else() -> None:
    a, here = np.ones(1), np.ones(1)
    thread_of_its_own(lambda: halve_often(a, True, False))
    halve_often(here, False, False)
    assert a[0] == 0.0
    assert 0.0 < here[0] < np.finfo(float).tiny


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="done for x86 only")
def test_a_borrowed_thread_is_given_back() -> None:
    a, here = np.ones(1), np.ones(1)
    halve_often(a, True, True)
    halve_often(here, False, False)
    assert a[0] == 0.0
    assert 0.0 < here[0] < np.finfo(float).tiny


def thread_of_its_own(job: Any) -> None:
    thread = threading.Thread(target=job)
    thread.start()
    thread.join()


# --- the kernels as plain Python --------------------------------------------------------------------------------------

SHORT = String(0.3, 1e-3, 60.0, 1e-5, Loss(2.0, 0.0, 1e-3))
BUMP = Barrier(Polynomial((1e-5, -1e-3)), 0.0, 0.08, 3)
FRETS = Obstacles((0.05, 0.052, 0.1), (-1e-5, 0.0, -2e-5))
SMALL = {
    "free": Problem(SHORT),
    "fitted": Problem(replace(SHORT, loss=replace(STEEL, s0=20.0))),
    "linear": Problem(SHORT, BUMP, Contact(1e6, 1.0)),
    "quarter": Problem(SHORT, BUMP, Contact(1e9, 1.5, 0.3)),
    "half": Problem(SHORT, FRETS, Contact(1e9, 2.0)),
    "general": Problem(SHORT, FRETS, Contact(1e7, 1.3, 0.1)),
}


def small_runs() -> dict[str, Array]:
    """Pickups, energies and forces of both models on problems small enough for an interpreter."""
    found = {}
    for name, problem in SMALL.items():
        heard = (Pickup(0.2), Pickup(0.0, "bridge_force"), Pickup(1.0, "bridge_force"))
        problem = replace(problem, pickups=heard, excitation=Excitation(0.4, 1.0, 1e-3))
        for model in (modal, finite_difference, two_point):
            made = (finite_difference if model is finite_difference else modal).design(problem, 12_000.0)
            run = model.run(made, pulse(problem.excitation, 12_000.0, 80), at=np.array([3, 77]))
            log = run.log
            total = np.stack([log.kinetic, log.potential, log.contact, log.lost, log.work])
            for part, value in (("heard", log.out), ("energy", total), ("force", log.force), ("shape", run.snapshots)):
                found[f"{name}.{model.__name__}.{part}"] = value
    return found


@pytest.mark.interpreted
def test_small_strings_obey_their_laws() -> None:
    """The same laws as in test_energy.py, so that the interpreted kernels are judged by more than their likeness."""
    runs = small_runs()
    for name, value in runs.items():
        if name.endswith("energy"):
            kinetic, potential, contact, lost, work = value
            total = kinetic + potential + contact
            kept = total + lost - work
            assert np.abs(kept - kept[0]).max() <= 1e-12 * total.max()
        if name.endswith("force"):
            assert value.min(initial=0.0) >= 0.0
            assert (value.max(initial=0.0) > 0.0) == (value.shape[1] > 0), "the barrier takes part"


def test_compiled_kernels_do_what_their_python_says(tmp_path: Path) -> None:
    """The same runs in an interpreter, to 1e-12 of the largest value."""
    assert not compiled.INTERPRETED
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import numpy, test_compiled;"
        "assert test_compiled.compiled.INTERPRETED; numpy.savez(sys.argv[2], **test_compiled.small_runs())"
    )
    file = tmp_path / "interpreted.npz"
    subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent), str(file)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        timeout=300,
    )
    interpreted = np.load(file)
    for name, value in small_runs().items():
        assert np.abs(value - interpreted[name]).max(initial=0.0) <= 1e-12 * np.abs(value).max(initial=0.0), name


@pytest.mark.interpreted
def test_copy() -> None:
    source, target = np.arange(5.0), np.zeros(5)
    compiled.copy(source, target)
    assert (target == source).all()


@compiled.called_by_python
def compiled_now() -> int:
    return compiled.now()


@pytest.mark.interpreted
def test_compiled_code_and_python_read_one_clock() -> None:
    compiled_now()
    before, inside, after = compiled.now(), compiled_now(), compiled.now()
    assert before <= inside <= after
    assert after - before < 1e9
