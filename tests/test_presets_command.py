"""`jawari presets`, and the quantities behind `show` against closed forms and the kernels themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from math import log, pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_string import ONE_STRING
from scipy.optimize import brentq

from engine import cli
from engine.commands import play
from engine.errors import PhysicsError, PresetError
from engine.live.audio import cards
from engine.live.errors import DeviceError
from engine.physics import finite_difference, modal
from engine.physics.barrier import Obstacles
from engine.physics.problem import Pickup, Problem
from engine.preset.files import shipped
from engine.preset.loader import load_preset
from engine.preset.scales import SCALES
from engine.preset.schema import render_markdown, render_text
from engine.study.describe import contact_duration, describe, seconds_a_step, touching
from engine.synth.instrument import Instrument
from engine.synth.silence import told
from engine.units import key_to_note

RATE = 48_000.0


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(["presets", *words])
    out, err = capsys.readouterr()
    return code, out, err


def facts(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    code, out, err = run(capsys, "show", *words, "--json")
    assert (code, err) == (0, "")
    return dict(json.loads(out))


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    families: dict[str, list[str]] = {}
    for line in out.splitlines():
        if not line.startswith("  "):
            families[line] = []
            continue
        name, told = line.split(None, 1)
        preset = load_preset(name)
        assert (told, next(reversed(families))) == (f"{preset.about}  [{', '.join(preset.tags)}]", preset.family)
        families[preset.family].append(name)
    assert list(families) == sorted(families)
    assert sorted(name for names in families.values() for name in names) == sorted(shipped())
    assert all(load_preset(name).tags for name in shipped())


@pytest.mark.parametrize(("word", "of"), [("DRONE", "tags"), ("thread", "about"), ("tanpura", "name")])
def test_presets_are_found_by_name_family_tags_and_description(
    word: str, of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "find", word)
    assert (code, err) == (0, "")
    found = {line.split()[0] for line in out.splitlines() if line.startswith("  ")}
    fitting = {name for name in shipped() if word.lower() in str(getattr(load_preset(name), of)).lower()}
    assert fitting <= found < set(shipped())
    _, both, _ = run(capsys, "find", word, "zzz-no-word")
    assert both == ""


def test_what_is_not_found_has_a_neighbour(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "find", "drne")
    assert (code, out) == (PresetError.exit_code, "")
    assert err == "jawari: no preset is found by drne; did you mean drone?\n"
    assert run(capsys, "find", "qqqqqq")[2].endswith("; jawari presets lists them all\n")


def test_a_preset_is_heard_as_play_plays_its_phrase(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(play, "_run", lambda args: asked.append(args) or 0)
    assert run(capsys, "play", "tanpura", "--device", "card")[0] == 0
    assert (asked[0].presets, asked[0].demo, asked[0].device) == (["tanpura"], True, "card")
    monkeypatch.undo()
    monkeypatch.setattr(cards, "cards", list)
    code, out, err = run(capsys, "play", "tanpura")
    assert (code, out, err.count("\n")) == (DeviceError.exit_code, "", 1)
    assert "`jawari render` writes a file without it" in err


def test_every_scale_by_name_is_listed_with_its_notes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "tunings")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines() if line.startswith("  ")}
    assert set(lines) == set(SCALES)
    assert lines["yaman"].split()[1:] == [
        *["S", "R", "G", "m", "P", "D+", "N"],
        *["0.0", "203.9", "386.3", "590.2", "702.0", "905.9", "1088.3"],
    ]


@pytest.mark.parametrize("name", shipped())
def test_show_tells_everything(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "show", name)
    preset = load_preset(name)
    string = preset.problem.string
    assert (code, err) == (0, "")
    assert out.startswith(f"{preset.name}: {preset.about}\n")
    for fact in (
        f"f0 {string.pitch:.2f} Hz",
        f"B = {string.inharmonicity:.3g}",
        f"{string.wave_speed:.4g} m/s",
        f"{string.tension:.4g} N",
        f"at {48_000 * preset.oversample} Hz",
        f"{preset.polyphony} strings at most",
        preset.tuning.name,
        preset.phrase,
    ):
        assert fact in out
    for octave in range(1, 8):
        assert f"C{octave} " in out
    assert ("grid intervals" in out) == ("loss fit" in out) == (preset.model == "fd")
    assert all(line.isprintable() for line in out.splitlines())
    assert out.count("  map  ") == len(preset.controllers)
    assert ("cc1 (modulation wheel) moves " in out) == any(c.source == "cc1" for c in preset.controllers)


def test_json_holds_the_closed_forms(capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(capsys, "sitar-string", "--sample-rate", "44.1 kHz", "--set", "oversample=4")
    string = load_preset("sitar-string").problem.string
    assert found["sample_rate"] == 44_100.0
    assert found["rate"] == 176_400.0
    # §5.4, written out.
    f0 = sqrt(string.tension / string.density) / (2 * string.length)
    b = pi**2 * string.stiffness / (string.tension * string.length**2)
    assert found["pitch"] == pytest.approx(f0, rel=1e-12)
    assert found["inharmonicity"] == pytest.approx(b, rel=1e-12)
    assert found["first_partial"] == pytest.approx(f0 * sqrt(1 + b), rel=1e-12)
    assert found["wave_speed"] == pytest.approx(2 * string.length * f0, rel=1e-12)
    loss = string.loss
    for frequency, t60 in found["decay"]:
        n = brentq(lambda n, f=frequency: n * f0 * sqrt(1 + b * n**2) - f, 0.5, 500)  # partials, if need be between two
        k = n * pi / string.length
        assert t60 == pytest.approx(3 * log(10) / (loss.s0 + loss.s1 * k + loss.s3 * k**3), rel=1e-9)
    assert [frequency for frequency, _ in found["decay"][1:]] == [1000.0, 5000.0, 10_000.0]
    assert found["voices"] == pytest.approx(1 / (found["cost"] * 44_100))


def test_modes_of_every_octave_stop_at_20_khz(capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(capsys, "plain")
    string = load_preset("plain").problem.string
    assert [octave["note"] for octave in found["octaves"]] == [f"C{n}" for n in range(1, 8)]
    for number, octave in enumerate(found["octaves"], 1):
        f1 = 440.0 * 2.0 ** (number - 4 - 9 / 12)
        assert octave["pitch"] == pytest.approx(f1, rel=1e-12)
        tension = string.density * (2 * string.length * f1) ** 2 - string.stiffness * (pi / string.length) ** 2
        b = pi**2 * string.stiffness / (tension * string.length**2)
        n = np.arange(1, 2000)
        assert octave["size"] == np.sum(n * f1 * np.sqrt((1 + b * n**2) / (1 + b)) < 20_000)
        assert octave["silent_because"] == ""


def test_a_grid_halves_with_every_octave(capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(capsys, "slap-bass", "--set", "intonation=string")
    sizes = [octave["size"] for octave in found["octaves"]]
    # From C4 on two powers of the second difference miss a partial by more than 2 cents (there by 8): four take their
    # place, on a grid that is coarser by a tenth (grid.py).
    assert [low / high for low, high in pairwise(sizes[:5])] == pytest.approx([2.0, 2.0, 2.0 * 1.1, 2.0], rel=0.05)
    assert found["loss_error"] == 0.0  # s0 and s2 are realised as they are
    assert 0.0 < facts(capsys, "sitar-string", "--set", "model=fd")["loss_error"] < 0.1
    assert facts(capsys, "sitar-string")["loss_error"] is None


def test_a_silent_key_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    slow = ("slap-bass", "--sample-rate", "2 kHz")
    code, out, _ = run(capsys, "show", *slow)
    assert code == 0
    assert "C7 silent" in out
    assert "C7 is silent: " in out
    octave = facts(capsys, *slow)["octaves"][-1]
    assert octave["size"] is None
    assert octave["silent_because"] in out
    assert "silent" not in run(capsys, "show", "slap-bass")[1]
    assert "C7 is silent: the tuning" in run(capsys, "show", "plain", "--set", "tuning=A4=8 kHz")[1]


def test_a_decay_that_never_ends(capsys: pytest.CaptureFixture[str]) -> None:
    still = [word for term in ("s0", "s1", "s3") for word in ("--set", f"string.loss.{term}=0")]
    assert "never at 1 kHz" in run(capsys, "show", "plain", *still)[1]
    assert {t60 for _, t60 in facts(capsys, "plain", *still)["decay"]} == {None}


def test_a_string_that_touches_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(capsys, "plain")["touching"] is None
    assert "contact         none" in run(capsys, "show", "plain")[1]


def test_the_sitars_points_and_their_note(capsys: pytest.CaptureFixture[str]) -> None:
    found = facts(capsys, "sitar-string", "--set", "barrier.points=10")["touching"]
    assert found["points"] == 10
    assert found["stiffness"] == pytest.approx([1e8 * 3e-3] * 2)
    assert (found["first"], found["last"]) == pytest.approx((1.5e-3, 28.5e-3))
    assert found["duration"] == pytest.approx(pi * sqrt(found["mass"] / 3e5), rel=1e-12)
    assert found["samples"] == pytest.approx(found["duration"] * 96_000)
    crowded = run(capsys, "show", "sitar-string", "--set", "barrier.points=500")[1]
    assert "contact points 0.06 mm apart, but" in crowded
    assert "apart, but" not in run(capsys, "show", "sitar-string", "--set", "barrier.points=2")[1]


@pytest.mark.parametrize(("exponent", "integral"), [(1.0, pi / 2), (1.1, 1.547694), (1.5, 1.471638), (2.3, 1.369625)])
def test_contact_lasts_as_the_power_law_says(exponent: float, integral: float) -> None:
    """§5.2, written out."""
    mass, stiffness, speed = 3e-6, 4e5, 0.7
    deepest = ((exponent + 1) * mass * speed**2 / (2 * stiffness)) ** (1 / (exponent + 1))
    found = contact_duration(np.array([mass]), np.array([stiffness]), exponent, speed)
    assert found[0] == pytest.approx(2 * deepest / speed * integral, rel=1e-6)


@pytest.mark.parametrize(("name", "scheme"), [
    ("prepared", modal), ("tanpura-string", modal), ("slap-bass", modal), ("sitar-string", modal),
    ("sitar-string", finite_difference),
])  # fmt: skip
def test_the_mass_at_a_contact_is_what_the_kernel_moves(name: str, scheme: Any) -> None:
    """A newton on the resting string, at the place of the shortest contact, for one step: k^2 / m."""
    problem = load_preset(name).problem
    design = scheme.design(problem, 2 * RATE)
    found = touching(design)
    assert found is not None
    moved = [displacement(problem, scheme, float(x)) for x in design.points.position]
    durations = [pi * sqrt(1.0 / u / k) for u, k in zip(moved, design.points.stiffness, strict=True)]  # in steps
    assert found.mass == pytest.approx(1.0 / (design.rate**2 * moved[int(np.argmin(durations))]), rel=1e-9)
    assert found.samples == pytest.approx(min(durations), rel=1e-9)
    assert found.duration == pytest.approx(min(durations) / design.rate, rel=1e-9)


def test_an_obstacle_between_nodes_moves_both() -> None:
    problem = load_preset("tanpura-string").problem
    spacing = finite_difference.design(problem, 2 * RATE).grid.spacing

    def mass(x: float) -> float:
        obstacle = replace(problem, barrier=Obstacles((x,), (0.0,)))
        found = touching(finite_difference.design(obstacle, 2 * RATE))
        assert found is not None
        return found.mass

    at_node = 1.0 / ((2 * RATE) ** 2 * displacement(problem, finite_difference, 5 * spacing))
    assert mass(5 * spacing) == pytest.approx(at_node, rel=1e-9)
    assert mass(5.5 * spacing) == pytest.approx(2 * at_node, rel=1e-9)


def displacement(problem: Problem, scheme: Any, x: float) -> float:
    place = x / problem.string.length
    excitation = replace(problem.excitation, position=place)
    free = replace(problem, barrier=None, excitation=excitation, pickups=(Pickup(place),))
    design = scheme.design(free, 2 * RATE)
    out = np.zeros((1, 1))
    scheme.kernel(design.coefficients, scheme.state(design.coefficients), np.ones(1), out)
    return float(out[0, 0])


def test_cost_grows_with_the_work() -> None:
    def cost(*changes: str) -> float:
        problem = load_preset("plain", changes).problem
        return min(seconds_a_step(modal.design(problem, RATE)) for _ in range(3))

    few, many = cost(), cost("string.length=16 m", "string.tension=180 N")
    assert 0.0 < few < 2e-6
    assert many > 4.0 * few  # sixteen times the modes


def test_cost_is_that_of_a_sample_not_of_a_step() -> None:
    """The plain string keeps its modes below 20 kHz at any oversampling, so only the steps a sample multiply."""
    once, often = (min(describe(load_preset("plain", {"oversample": n})).cost for _ in range(3)) for n in (1, 8))
    assert often == pytest.approx(8 * once, rel=0.5)


def test_check_prints_every_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("string: {length: -1 m, density: 1e-3, tension: 100}\nnam: x\n")
    good = tmp_path / "good.yaml"
    good.write_text("name: Fine\nmodel: fd\nstring: {length: 1 m, density: 1e-3, tension: 100}\n")
    code, out, err = run(capsys, "check", str(good), str(wrong), "sitar-string", str(tmp_path / "absent.yaml"))
    assert (code, err) == (PresetError.exit_code, "")
    assert [line for line in out.splitlines() if ": note: " not in line] == [
        f"{good}: good (Fine, fd at 48000 Hz)",
        f"{wrong}:1: string.length = -1 m: must be at least 0.001 m; raise it",
        f"{wrong}:2: nam = x: there is no such key; did you mean name?",
        "sitar-string: good (Sitar string, modal at 96000 Hz)",
        f"{tmp_path / 'absent.yaml'}: there is no such file; check the name",
    ]
    files = shipped()  # all of them are designed and played by `render --all-presets` in its tests
    assert run(capsys, "check", *(str(files[name]) for name in (*ONE_STRING, "sitar", "piano")))[0] == 0
    wrong.write_text("string: {length: 1 m, density: 1e-3, tension: -5}\n")
    assert run(capsys, "check", str(wrong))[0] == PhysicsError.exit_code
    assert run(capsys, "check", str(wrong), str(tmp_path / "absent.yaml"))[0] == PresetError.exit_code


def test_silence_is_told_in_ranges() -> None:
    """Reasons of one kind are one reason, whatever numbers they hold."""
    high = {key: f"pitch = {8.2 * key:g}: too high; play lower" for key in (100, 101, 102, 110)}
    assert told({}) == ""
    assert told({60: "the tuning leaves this key out"}) == "C4 is silent: the tuning leaves this key out"
    assert told(high) == "E7 to F#7, D8 are silent: pitch = 820: too high; play lower"
    both = told(high | {21: "the tuning leaves this key out"})
    assert both == f"A0 is silent: the tuning leaves this key out; {told(high)}"


def test_check_finds_what_render_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Too much memory, too long a rehearsal; and keys that would be silent, in one line."""
    string = "string: {length: 1 m, density: 1e-3, tension: 100, loss: {s0: 0.3, s2: 1e-3}}"
    texts = {
        "large": f"{string}\nbarrier: {{profile: flat, height: -1 mm, points: 500}}\n",
        "slow": f"{string}\nmodel: fd\noversample: 8\nbarrier: {{profile: flat, height: -1 mm}}\n"
        "contact: {exponent: 6.9, stiffness: 1e9}\n",
        "high": f"{string}\nmodel: fd\ntuning: A4=2000\n",
    }
    said = {}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        code, out, _ = run(capsys, "check", str(tmp_path / name))
        said[name] = out.removeprefix(f"{tmp_path / name}: ").splitlines()
        if name == "high":
            assert code == 0
            continue
        assert code == PhysicsError.exit_code
        with pytest.raises(PhysicsError) as refused:
            Instrument(tmp_path / name)
        assert said[name] == [str(refused.value)]
    assert "asks for more than 300 MB of memory" in said["large"][0]
    good, note = said["high"]
    assert good == "good (Unnamed, fd at 48000 Hz)"
    made = Instrument(tmp_path / "high")
    lowest = min(made.silent_keys)
    assert f"note: {key_to_note(lowest)} to C8 are silent: {made.silent_keys[lowest]}; C#8 to G9 are silent: " in note


def test_check_takes_a_file_without_suffix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("string: {length: 1 m, density: 1e-3, tension: 100}\n")
    assert run(capsys, "check", "mine")[:2] == (0, "mine: good (Unnamed, modal at 48000 Hz)\n")
    assert "mine2 is not shipped; " in run(capsys, "check", "mine2")[1]


def test_keys_are_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "keys") == (0, render_text(), "")
    assert run(capsys, "keys", "--markdown") == (0, render_markdown(), "")


@pytest.mark.parametrize(("words", "code", "message"), [
    (("sitarr",), 3, "preset: sitarr is not shipped; did you mean sitar?"),
    (("sitar-string", "--set", "string.lenght=1"), 3, "--set: string.lenght = 1: there is no such key; "),
    (("sitar-string", "--sample-rate", "fast"), 2, "--sample-rate = fast: must be a frequency in Hz; "),
    (("sitar-string", "--sample-rate", "999"), 2, "sample rate = 999: must be 1000 to 768000 Hz; try 48000"),
    (("sitar-string", "--sample-rate", "1 GHz"), 2, "sample rate = 1e+09: must be 1000 to 768000 Hz; "),
    (("plain", "--set", "string.length=1 mm"), 4, "Plain string at 48000 Hz: string = first mode 853360 Hz "),
    (("plain", "--set", "tuning=jus"), 3, "--set: tuning = jus: jus must be equal, just, "),
])  # fmt: skip
def test_mistakes_are_one_line(words: tuple[str, ...], code: int, message: str, capsys: Any) -> None:
    found, out, err = run(capsys, "show", *words)
    assert (found, out) == (code, "")
    assert err.startswith(f"jawari: {message}")
    assert err.count("\n") == 1


def test_wrong_usage_is_argparses(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["show"], ["check"], ["nonsense"], ["show", "sitar-string", "--jsn"]):
        with pytest.raises(SystemExit) as leaving:
            cli.main(["presets", *words])
        assert leaving.value.code == 2


@pytest.mark.parametrize("words", [[], ["show"], ["check"], ["keys"]])
def test_help_is_there(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        cli.main(["presets", *words, "--help"])
    assert leaving.value.code == 0
    assert "usage: jawari presets" in capsys.readouterr().out


def test_describe_wants_a_rate_it_can_use() -> None:
    for rate in (0.0, float("nan"), float("inf"), -48_000.0):
        with pytest.raises(PhysicsError, match="sample rate"):
            describe(load_preset("plain"), rate)
