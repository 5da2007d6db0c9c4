"""`engine.simulate`: every scheme on every preset, shapes and units of what comes back, saving, refusals."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_string import ONE_STRING

import engine
from engine.files.errors import FileError
from engine.physics.string import Array
from engine.study.simulate import SCHEMES, Simulation

# Strings that finite differences decline, since their measured losses are no polynomial of b^2 (reported, not bent).
MODAL_ONLY = {"plain"}
ADHESIVE = {"fd-plain", "modal-plain"}  # kept for comparison; the rule of paper 002 may pull
SMALL = {
    "name": "Small",
    "string": {"length": 0.4, "density": 1e-3, "tension": 40.0, "loss": {"s0": 1.0, "s2": 1e-3}},
    "barrier": {"profile": "flat", "height": "-0.1 mm", "from": 0.1, "to": 0.2, "points": 5},
    "contact": {"stiffness": 1e6},
    "excitation": {"position": 0.6, "force": 1.0, "duration": "1 ms"},
    "pickups": [{"at": 0.3}, {"at": 0.3, "kind": "velocity"}, {"kind": "bridge_force"}],
}


def run(*, preset: Any = SMALL, seconds: float = 0.005, **how: Any) -> Simulation:
    return engine.simulate(preset, seconds, **how)


# --- every scheme -----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::engine.errors.PhysicsWarning")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("preset", ONE_STRING)
def test_every_scheme_plays_every_preset(preset: str, scheme: str) -> None:
    if preset in MODAL_ONLY and scheme.startswith("fd"):
        with pytest.raises(engine.PhysicsError, match="use model: modal"):
            run(preset=preset, scheme=scheme)
        return
    sim = run(preset=preset, scheme=scheme)
    assert sim.scheme == scheme
    assert sim.energy.total.max() > 1e-5
    assert sim.energy_drift <= 1e-10
    assert np.isfinite(sim.pickups).all()
    assert np.abs(sim.pickups).max() > 0.0
    if scheme not in ADHESIVE:
        assert sim.contact_force.min(initial=0.0) >= 0.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_tells_the_same_story(scheme: str) -> None:
    """Within 3 % rms of each other at four times the audio rate: one physics, eight ways."""
    wanted, got = (
        run(oversample=4, scheme=s, overrides=["barrier.points=40"]).pickups[:, 0] for s in ("modal", scheme)
    )
    assert np.sqrt(np.mean((got - wanted) ** 2) / np.mean(wanted**2)) <= 3e-2


def test_the_presets_own_model_is_the_default() -> None:
    assert run(preset="slap-bass", seconds=0.001).scheme == "fd"
    assert run(preset="tanpura-string", seconds=0.001).scheme == "modal"
    assert run(seconds=0.001).scheme == "modal"


# --- what comes back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_shapes_and_time(scheme: str) -> None:
    sim = run(scheme=scheme, seconds=0.004, sample_rate=44_100, oversample=2, snapshots=[0.0, 0.001])
    steps = round(0.004 * 88_200)
    assert sim.rate == 88_200.0
    assert sim.time == pytest.approx(np.arange(steps) / 88_200.0, abs=1e-15)
    assert sim.pickups.shape == (steps, 3)
    assert all(part.shape == (steps,) for part in sim.energy)
    assert sim.energy.total == pytest.approx(sim.energy.kinetic + sim.energy.potential + sim.energy.contact)
    assert sim.contact_force.shape == (steps, sim.contact_position.size)
    assert ((sim.contact_position >= 0.1) & (sim.contact_position <= 0.2 + 0.4 / 100)).all()
    assert sim.snapshots.u.shape == (2, sim.snapshots.x.size)
    assert sim.snapshots.x[[0, -1]] == pytest.approx([0.0, 0.4])
    assert sim.snapshot_time == pytest.approx([0.0, 0.001], abs=0.5 / 88_200)
    assert (sim.snapshots.u[0] == 0.0).all(), "the string is at rest when it starts"
    assert (sim.pickups[0] == 0.0).all()
    assert sim.preset.name == "Small"


def test_rows_stand_at_their_times() -> None:
    """pickups[n] is the string at time[n]: what a snapshot of that moment shows at the pickup."""
    times = [k / 48_000 for k in (0, 7, 100, 200)]
    for scheme in ("modal", "fd"):
        sim = run(scheme=scheme, snapshots=times)
        for row, n in zip(sim.snapshots.u, (0, 7, 100, 200), strict=True):
            there = float(np.interp(0.12, sim.snapshots.x, row))
            assert there == pytest.approx(sim.pickups[n, 0], abs=1e-2 * np.abs(sim.pickups[:, 0]).max())


def test_snapshots_come_in_the_order_asked_for() -> None:
    sim = run(snapshots=[0.003, 0.001, 0.002, 0.001])
    straight = run(snapshots=[0.001, 0.002, 0.003])
    assert sim.snapshot_time == pytest.approx([0.003, 0.001, 0.002, 0.001], abs=1e-5)
    assert (sim.snapshots.u == straight.snapshots.u[[2, 0, 1, 0]]).all()


def test_velocity_is_the_change_of_displacement() -> None:
    sim = run()
    change = np.diff(sim.pickups[:, 0]) * 48_000
    assert sim.pickups[1:, 1] == pytest.approx(change, abs=1e-9 * np.abs(change).max())
    assert sim.pickups[0, 1] == 0.0


def test_contact_force_is_what_the_barrier_gives() -> None:
    """Where a point pushes there is energy in the contact; a barrier far away gives neither."""
    sim = run()
    assert sim.contact_force.max() > 0.0
    pressed = sim.contact_force.sum(axis=1) > 0.0
    assert (sim.energy.contact[pressed] > 0.0).any()
    assert (sim.energy.contact[~pressed] == 0.0).all()
    never = run(overrides=["barrier.height=-1 m"])
    assert (never.contact_force == 0.0).all()
    assert (never.energy.contact == 0.0).all()


def test_oversampling_is_the_presets_unless_given() -> None:
    assert run(preset="sitar-string", seconds=0.001).rate == 96_000.0
    assert run(preset="sitar-string", seconds=0.001, oversample=4).rate == 192_000.0
    assert run(preset="sitar-string", seconds=0.001, sample_rate=44_100).rate == 88_200.0


def test_overrides_reach_the_string() -> None:
    for overrides in (["string.length=60 cm", "pickups.0.at=0.2"], {"string": {"length": 0.6}, "pickups.0.at": 0.2}):
        sim = run(overrides=overrides)
        assert sim.preset.problem.string.length == pytest.approx(0.6)
        assert sim.preset.problem.pickups[0].at == 0.2
        assert sim.snapshots.x[-1] == pytest.approx(0.6)


def test_a_loaded_preset_and_its_source_are_the_same() -> None:
    assert (run(preset=engine.load_preset(SMALL)).pickups == run().pickups).all()
    with pytest.raises(engine.PhysicsError, match="pass them to load_preset"):
        run(preset=engine.load_preset(SMALL), overrides=["string.length=60 cm"])


def test_a_grid_says_how_well_it_realises_the_losses() -> None:
    """s1 and s3 fitted, within 10 %; s0 and s2 as they are; modes exact."""
    fitted = run(preset="sitar-string", seconds=0.001, scheme="fd")
    assert 0.0 < fitted.loss_fit_error <= 0.1
    assert run(preset="sitar-string", seconds=0.001).loss_fit_error == 0.0
    assert run(seconds=0.001, scheme="fd").loss_fit_error == 0.0


def test_a_run_is_repeatable() -> None:
    assert (run(preset="sitar-string").pickups == run(preset="sitar-string").pickups).all()


# --- release ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_release_from_a_shape(scheme: str) -> None:
    """As a function of arrays or of single numbers; at rest at t = 0, in that shape."""

    def smooth(x: Array) -> Array:
        return np.asarray(5e-5 * np.sin(np.pi * x / 0.4))

    def by_numbers(x: float) -> float:
        return 0.0 if x < 0.0 else 5e-5 * float(np.sin(np.pi * x / 0.4))  # an `if` refuses arrays

    free = ["excitation.force=0", "barrier.height=-1"]
    one, other = (
        run(scheme=scheme, seconds=0.002, initial=f, snapshots=[0.0], overrides=free) for f in (smooth, by_numbers)
    )
    assert (one.pickups == other.pickups).all()
    assert one.snapshots.u[0] == pytest.approx(smooth(one.snapshots.x), abs=1e-9)
    assert one.pickups[0, 0] == pytest.approx(5e-5 * np.sin(0.3 * np.pi), rel=1e-5)
    assert abs(one.pickups[1, 1]) <= 0.02 * np.abs(one.pickups[:, 1]).max()
    assert one.energy.total == pytest.approx(np.full(96, one.energy.total[0]), rel=0.02)


def test_a_constant_is_a_shape_too() -> None:
    sim = run(seconds=0.001, initial=lambda x: 1e-5, snapshots=[0.0], scheme="fd")
    assert (sim.snapshots.u[0, 1:-1] == 1e-5).all()
    assert (sim.snapshots.u[0, [0, -1]] == 0.0).all()


def test_a_force_acts_on_a_released_string_too() -> None:
    released, forced = (
        run(initial=lambda x: 1e-5 * np.sin(np.pi * x / 0.4), overrides=[f"excitation.force={f} N"]) for f in (0, 1)
    )
    assert released.energy.work[-1] == 0.0
    assert forced.energy.work[-1] > 0.0


# --- band and precision -----------------------------------------------------------------------------------------------


def test_band_drops_modes() -> None:
    string = engine.load_preset(SMALL).problem.string
    for scheme in ("modal", "modal-cholesky", "modal-two-point"):
        sim = run(scheme=scheme, band=3_000.0, overrides=["barrier.points=2"])
        assert (sim.snapshots.x.size - 1) // 2 == int(3_000.0 / string.pitch)


def test_float32_costs_little_in_a_short_run() -> None:
    for scheme in ("modal", "fd"):
        wide, narrow = (run(scheme=scheme, seconds=0.01, precision=p) for p in ("float64", "float32"))
        assert 1e-12 < narrow.energy_drift <= 1e-3
        assert wide.energy_drift <= 1e-12
        error = np.abs(narrow.pickups[:, 0] - wide.pickups[:, 0]).max() / np.abs(wide.pickups[:, 0]).max()
        assert 0.0 < error <= 1e-3  # measured: 1.8e-4 and 1e-5
        assert narrow.pickups.dtype == np.float64


# --- files ------------------------------------------------------------------------------------------------------------


def test_saved_arrays_come_back(tmp_path: Path) -> None:
    sim = run(snapshots=[0.001, 0.002])
    path = tmp_path / "run.npz"
    sim.save(path)
    sim.save(str(path))  # over the one before
    with np.load(path) as saved:
        for name in ("time", "pickups", "contact_force", "contact_position", "snapshot_time"):
            assert (saved[name] == getattr(sim, name)).all()
        for name, value in sim.energy._asdict().items():
            assert (saved[f"energy_{name}"] == value).all()
        assert (saved["snapshot_u"] == sim.snapshots.u).all()
        assert (saved["snapshot_x"] == sim.snapshots.x).all()
        assert str(saved["scheme"]) == "modal"
        assert str(saved["preset"]) == "Small"
        assert float(saved["rate"]) == sim.rate
        assert len(saved.files) == 5 + 6 + 2 + 3
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


def test_a_save_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, or an interrupt, in the middle of writing: what was there stays."""
    sim, path = run(), tmp_path / "run.npz"
    path.write_text("precious")
    for trouble in (OSError("No space left on device"), KeyboardInterrupt()):

        def half(file: Path, trouble: BaseException = trouble, **arrays: Any) -> None:
            Path(file).write_bytes(b"half")
            raise trouble

        monkeypatch.setattr(np, "savez_compressed", half)
        with pytest.raises(type(trouble)):
            sim.save(path)
        assert path.read_text() == "precious"
        assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_nothing_but_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    os.mkfifo(path)
    with pytest.raises(FileError, match=r"run\.npz: is not a regular file by now"):
        run().save(path)
    assert path.is_fifo()
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]


# --- warnings and refusals --------------------------------------------------------------------------------------------

FLAT = {
    "string": {"length": 0.5, "density": 5.55e-4, "tension": 50.0, "loss": {"s0": 0.0}},
    "barrier": {"profile": "flat", "height": -5e-4},
    "contact": {"stiffness": 1e9},
}
PAPER_004 = {
    "string": {"length": 0.5, "density": 5.55e-4, "tension": 50.0, "stiffness": 7.95e-5},
    "barrier": {"profile": "polynomial", "coefficients": [0, 7.5e-3, -0.25], "to": "30 mm", "points": 10},
    "contact": {"stiffness": 1e9},
}


@pytest.mark.parametrize("scheme", ["modal", "modal-plain", "modal-cholesky", "modal-two-point", "modal-three-point"])
def test_points_that_modes_cannot_tell_apart_are_a_warning(scheme: str) -> None:
    """Paper 004 Fig. 3: 10 points on 30 mm, modes below 20 kHz. The run goes on, energy and force stay sound."""
    with pytest.warns(engine.PhysicsWarning) as caught:
        sim = run(preset=PAPER_004, seconds=0.002, sample_rate=44_100, band=20_000.0, scheme=scheme)
    text = str(caught[0].message)
    assert "modes" in text
    assert "tell apart" in text
    assert "\n" not in text
    assert sim.energy_drift <= 1e-10
    if scheme == "modal":
        assert "contact points 3 mm apart, but 60 modes tell apart only 8.2 mm" in text
        assert sim.contact_force.min() >= 0.0


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (
            80,
            "points 6.25 mm apart are obstacles of their own to 493 modes, which tell apart 1.01 mm: the string falls",
        ),
        (80, "the string falls in between, 494 would be one barrier (barrier.points: auto)"),
        (2000, "points 0.25 mm apart, but 493 modes tell apart only 1.01 mm: 494 would do"),
    ],
)
def test_too_few_points_and_too_many_are_told_with_the_number_that_would_do(points: int, said: str) -> None:
    """§2.11: to 493 modes 80 points are 80 obstacles."""
    overrides = [f"barrier.points={points}"]
    with pytest.warns(engine.PhysicsWarning) as caught:
        run(preset=FLAT, seconds=1e-5, sample_rate=384_000, band=148_000, overrides=overrides)
    assert said in str(caught[0].message)


@pytest.mark.parametrize("overrides", [[], ["barrier.points=auto"], ["barrier.points=320"]])
def test_as_many_points_as_the_modes_ask_for_need_no_warning(overrides: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = run(preset=FLAT, seconds=1e-4, sample_rate=384_000, band=148_000, overrides=overrides)
    assert sim.contact_position.size == (320 if "barrier.points=320" in overrides else 494)


def test_a_fine_grid_is_released_over_its_barrier() -> None:
    """§5.6: as many points as nodes, and nothing as large as their square is made. Rigid, it takes 1.5 T."""
    h, period = 5e-4, 1.0 / 300.15
    sim = run(
        preset=FLAT,
        seconds=1.7 * period,
        sample_rate=44_100,
        oversample=32,
        scheme="fd",
        initial=lambda x: 2.0 * h * np.sin(np.pi * x / 0.5),
        overrides=["excitation.force=0", "pickups.0.at=0.5"],
    )
    assert sim.contact_position.size > 1500
    later = sim.time > 1.2 * period
    assert sim.time[later][np.argmax(sim.pickups[later, 0])] / period == pytest.approx(1.512, abs=0.004)


@pytest.mark.parametrize("preset", ONE_STRING)
def test_shipped_presets_need_no_warning(preset: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(preset=preset, seconds=0.001)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "negative tension": (
        {"overrides": ["string.tension=-1 N"]},
        "string.tension = -1 N: must be at least 0.001 N; raise",
    ),
    "no tension": ({"overrides": ["string.tension=0"]}, "must be at least 0.001 N; raise it"),
    "pickup off the string": ({"overrides": ["pickups.0.at=1.5"]}, "pickups.0.at = 1.5: must be at most 1; lower it"),
    "pickup on a support": ({"overrides": ["pickups.0.at=0"]}, "must lie on the string, between 0 and 1; move it"),
    "force outside": (
        {"overrides": ["excitation.position=1.2"]},
        "excitation.position = 1.2: must be at most 1; lower",
    ),
    "force on a support": ({"overrides": ["excitation.position=0"]}, "excitation.position = 0: must be above 0; raise"),
    "negative seconds": ({"seconds": -1.0}, "seconds = -1: must be above 0; give a duration such as 50 ms"),
    "no seconds": ({"seconds": 0.0}, "seconds = 0: must be above 0"),
    "endless": ({"seconds": np.inf}, "seconds = inf: must be above 0"),
    "too long": ({"seconds": 1e6}, "48000000000 steps, the limit is 50000000; shorten it or lower the rate"),
    "snapshot outside": ({"snapshots": [0.001, 0.1]}, "snapshots = 0.1: outside the run, 0 to 0.00497917 s; lengthen"),
    "snapshot before": ({"snapshots": [-1e-3]}, "snapshots = -0.001: outside the run"),
    "snapshot nan": ({"snapshots": [np.nan]}, "snapshots = nan: outside the run"),
    "unknown scheme": ({"scheme": "fdtd"}, "scheme = fdtd: must be one of fd, modal, modal-best, fd-plain"),
    "precision": ({"precision": "float16"}, "precision = float16: must be float64 or float32; choose one"),
    "reference precision": ({"precision": "float32", "scheme": "fd-iterative"}, "reference schemes run in float64"),
    "rate": ({"sample_rate": 100.0}, "sample rate = 100: must be 1000 to 10000000 Hz; try 48000"),
    "rate nan": ({"sample_rate": np.nan}, "sample rate = nan: must be 1000"),
    "oversample": ({"oversample": 0}, "oversample = 0: must be a whole number, 1 to 256; try 1, 2, 4 or 8"),
    "part oversample": ({"oversample": 1.5}, "oversample = 1.5: must be a whole number"),
    "oversample nan": ({"oversample": np.nan}, "oversample = nan: must be a whole number"),
    "oversample inf": ({"oversample": np.inf}, "oversample = inf: must be a whole number"),
    "band too low": ({"band": 50.0}, "no mode oscillates below 50 Hz; lower the pitch or the loss, or raise the band"),
    "band nan": ({"band": np.nan}, "band = nan: must be above 0 Hz; try 20000, or leave it out"),
    "band negative": ({"band": -20.0}, "band = -20: must be above 0 Hz"),
    "band of fd": ({"band": 5e3, "scheme": "fd"}, "band = 5000: finite differences have no modes to leave out; use"),
    "band of iteration": ({"band": 5e3, "scheme": "fd-iterative"}, "band = 5000: finite differences have no modes"),
    "too high a string": (
        {"overrides": ["string.length=1 mm", "barrier.from=0", "barrier.to=1 mm"]},
        "first mode 100000 Hz with a decay rate of 9870.6 1/s: no mode oscillates below 23976 Hz; lower the pitch",
    ),
    "too high for a grid": (
        {"scheme": "fd", "overrides": ["string.length=5 mm", "barrier.from=0", "barrier.to=5 mm"]},
        "string = 20000 Hz at 48000 Hz: leaves 0 grid intervals of 0.0248 m, at least 3 are needed; lower the pitch",
    ),
    "shape": ({"initial": lambda x: np.where(x > 0.2, np.nan, 0.0)}, "initial = shape: not finite at x = 0.2"),
}


@pytest.mark.parametrize(("how", "message"), REFUSED.values(), ids=list(REFUSED))
def test_bad_input_is_refused_in_one_line(how: dict[str, Any], message: str) -> None:
    """What, the value, the limit, the remedy."""
    with pytest.raises(engine.PresetError) as caught:
        run(**how)
    text = str(caught.value)
    assert message in text
    assert "\n" not in text
    assert ": " in text
    assert "; " in text


@pytest.mark.parametrize("profile", [np.nan, np.inf])
def test_a_profile_that_is_not_finite_is_refused(profile: float) -> None:
    bad = {**SMALL, "barrier": {"profile": "flat", "height": profile}}
    with pytest.raises(engine.PresetError, match=r"barrier\.height = (nan|inf): must be finite"):
        run(preset=bad)


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(engine.PresetError, match=r"sitarr is not shipped; did you mean sitar\?"):
        run(preset="sitarr")
