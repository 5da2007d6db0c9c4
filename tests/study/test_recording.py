"""Runs in pieces: the same bits as in one, the same file, little memory, and an end whenever it is asked for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import cli
from engine.physics import record as log
from engine.study.recording import Summary, record, summarise
from engine.study.simulate import SCHEMES, STREAMED, Order, make_order, perform

MODULE = sys.modules["engine.study.simulate"]
ROOT = Path(__file__).parents[2]
SMALL: dict[str, Any] = {
    "name": "Small",
    "string": {"length": 0.4, "density": 1e-3, "tension": 40.0, "loss": {"s0": 1.0, "s1": 1e-3, "s2": 1e-3}},
    "barrier": {"profile": "flat", "height": "-0.1 mm", "from": 0.1, "to": 0.2, "points": 5},
    "contact": {"stiffness": 1e6, "exponent": 1.5, "damping": 0.1},
    "excitation": {"position": 0.6, "force": 1.0, "duration": "1 ms"},
    "pickups": [{"at": 0.3}, {"at": 0.3, "kind": "velocity"}, {"kind": "bridge_force"}],
}
ELASTIC = {**SMALL, "contact": {"stiffness": 1e6}}


def order(scheme: str = "modal", seconds: float = 0.005, precision: str = "float64", **how: Any) -> Order:
    preset = SMALL if scheme in STREAMED else ELASTIC
    given = {"oversample": 1, "snapshots": [0.003, 0.0, 0.001], "initial": None, "band": None} | how
    return make_order(preset, seconds, 48_000.0, scheme=scheme, overrides=None, precision=precision, **given)


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("scheme", STREAMED)
@pytest.mark.parametrize("initial", [None, lambda x: 1e-4 * np.sin(np.pi * x / 0.4)])
def test_pieces_leave_no_trace(scheme: str, precision: str, initial: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = perform(order(scheme, precision=precision, initial=initial))
    for most in (1, 7, 100):
        monkeypatch.setattr(MODULE, "piece", lambda _, most=most: most)
        cut = perform(order(scheme, precision=precision, initial=initial))
        for name in ("time", "pickups", "contact_force", "snapshot_time"):
            np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name))
        for one, other in zip((*cut.energy, *cut.snapshots), (*whole.energy, *whole.snapshots), strict=True):
            np.testing.assert_array_equal(one, other)
    assert whole.contact_force.max() > 0.0
    assert whole.snapshots.u.shape[0] == 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_streamed_file_is_the_saved_file(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte; and what is said of it is the same."""
    precision = "float32" if scheme == "fd" else "float64"
    sim = perform(order(scheme, precision=precision))
    sim.save(tmp_path / "saved.npz")
    told = summarise(order(scheme), sim)
    for most in (7, 10_000):
        monkeypatch.setattr(MODULE, "piece", lambda _, most=most: most)
        summary = record(order(scheme, precision=precision), tmp_path / "streamed.npz")
        assert (tmp_path / "streamed.npz").read_bytes() == (tmp_path / "saved.npz").read_bytes()
        assert facts(summary) == facts(told)
    assert told.drift == sim.energy_drift
    assert told.loss_fit_error == sim.loss_fit_error
    assert sorted(file.name for file in tmp_path.iterdir()) == ["saved.npz", "streamed.npz"]


def facts(summary: Summary) -> dict[str, Any]:
    told = {name: value for name, value in vars(summary).items() if name != "order"}
    return told | {"peaks": summary.peaks.tolist(), "drift": summary.drift}


@pytest.mark.parametrize("scheme", ["modal", "fd"])
def test_memory_does_not_grow_with_the_run(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "piece", lambda _: 1000)
    most = []
    for seconds in (0.1, 0.1, 1.0):  # the first one imports and compiles
        tracemalloc.start()
        record(order(scheme, seconds), tmp_path / "run.npz")
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[2] <= 1.5 * most[1]
    assert most[2] < 48_000 * 8 * 8, "less than the columns would take"


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MOST_BYTES", 2**20)
    with pytest.raises(engine.PhysicsError) as refused:
        perform(order("modal", 1.0))
    text = str(refused.value)
    assert text.startswith("run = 4.76 MiB: 48000 steps, 5 contact points and 3 snapshots are more than 1 MiB; ")
    assert "shorten it, take fewer snapshots, or write modal and fd runs to a file" in text
    assert record(order("modal", 1.0), None).steps == 48_000
    with pytest.raises(engine.PhysicsError, match="take fewer snapshots"):
        record(order("modal", 1.0, snapshots=np.linspace(0.0, 0.9, 5000)), None)


def test_an_order_is_checked_before_it_is_recorded(tmp_path: Path) -> None:
    with pytest.raises(engine.PhysicsError, match="no modes to leave out"):
        record(order("fd", band=1_000.0), tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_long_run_ends_when_it_is_told(number: int, tmp_path: Path) -> None:
    """A minute of a grid, into a file: after the piece that it is at, and nothing is left."""
    words = ["simulate", "slap-bass", "--seconds", "60 s", "-o", str(tmp_path / "run.npz")]
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.start", *words], text=True, cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    deadline = time.monotonic() + 60.0
    while not list(tmp_path.glob(".jawari-*/pickups")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err.splitlines()[-1]) == (128 + number, "jawari: interrupted")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_the_command_streams(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "MOST_BYTES", 2**20)
    path = tmp_path / "run.npz"
    assert cli.main(["simulate", "tanpura-string", "--seconds", "1 s", "-o", str(path)]) == 0
    out, _ = capsys.readouterr()
    with np.load(path) as saved:
        assert saved["time"].shape == (96_000,)
        assert f"peak {np.abs(saved['pickups']).max():.4g}" in out
    assert cli.main(["simulate", "tanpura-string", "--seconds", "1 s", "--plot", str(tmp_path / "run.png")]) == 4
    assert "are more than 1 MiB" in capsys.readouterr().err
