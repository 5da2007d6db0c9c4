"""`jawari profile` from arguments to tables and files, with a recorder whose times are known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from synth.playing import GRID

from engine import cli, load_preset
from engine.commands import profile
from engine.profiling import computer, report
from engine.profiling.clocked import LOG
from engine.profiling.music import WARM_UP
from engine.profiling.rig import BenchSetup, Blocks, record_blocks
from engine.profiling.sweep import Point, Section, SweepPlan

QUICK = ("--no-limit-search", "--no-parts")
DEADLINE = 64 / 48_000 * 1e6


class FakeRecorder:
    """Blocks of known times: `each` ns a voice and frame, one in forty of them twice as long."""

    def __init__(self) -> None:
        self.each: Callable[[int], float] = lambda voices: 100.0
        self.asked: list[tuple[int, int, int]] = []
        self.interrupt_at = -1

    def __call__(self, instrument: object, music: np.ndarray, block: int, count: int) -> Blocks:
        voices = len(np.unique(music[:, 1]))
        self.asked.append((block, voices, count))
        if len(self.asked) == self.interrupt_at:
            raise KeyboardInterrupt
        took = np.full(count, round(self.each(voices) * voices * block))
        took[::40] *= 2
        rows = np.zeros((count, LOG), np.int64)
        rows[:, 0], rows[:, 1], rows[:, 2] = np.cumsum(took) - took, took, block
        return Blocks(rows, np.full(count, voices), 3)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeRecorder:
    """The fake recorder, in an empty folder, on a machine whose name is known."""
    recorder = FakeRecorder()
    monkeypatch.setattr(profile, "record_blocks", recorder)
    monkeypatch.setattr(profile, "disturbance", lambda: {"share": 0.0, "longest_us": 0.0})
    monkeypatch.setattr(computer, "GOVERNOR", tmp_path / "none")
    monkeypatch.chdir(tmp_path)
    return recorder


def jawari(*arguments: object) -> int:
    return cli.main(["profile", *map(str, arguments)])


def measured(path: str) -> dict[tuple[int, int], dict[str, Any]]:
    points = json.loads(Path(path).read_text())["points"]
    return {(point["block"], point["voices"]): point for point in points}


# --- the sweep --------------------------------------------------------------------------------------------------------


def test_points_are_exactly_the_product() -> None:
    presets = tuple((name, load_preset(name)) for name in ("plain", "sitar-string"))
    plan = SweepPlan(presets, (1, 4), (32, 64), (1, 2, 5), BenchSetup())
    expected = [
        Point(Section(name, "modal", factor, block), voices)
        for name, factor, block, voices in product(("plain", "sitar-string"), (1, 4), (32, 64), (1, 2, 5))
    ]
    assert list(plan.points()) == expected
    own = SweepPlan(presets, (), (32,), (1,), BenchSetup())  # oversampling as each preset says
    assert [point.section.oversample for point in own.points()] == [1, 2]


def test_everything_asked_for_is_measured_once(fake: FakeRecorder, capsys: pytest.CaptureFixture[str]) -> None:
    Path("grid.yaml").write_text(json.dumps(GRID))
    line = "plain grid.yaml --voices 8,1,8 --block-sizes 64,32 --oversample 2,1 --models modal,preset --seconds 0.1"
    assert jawari(*line.split(), *QUICK, "--json", "a.json") == 0
    points = json.loads(Path("a.json").read_text())["points"]
    names = [tuple(point[key] for key in ("preset", "model", "oversample", "block", "voices")) for point in points]
    some = [("plain", "modal"), ("grid", "modal"), ("grid", "fd")]  # plain is modal anyway
    assert names == [(*one, x, block, voices) for one, x, block, voices in product(some, (1, 2), (32, 64), (1, 8))]
    assert len(fake.asked) == len(points)
    for block, _, count in fake.asked:
        assert count == -(-WARM_UP * 48_000 // block) + max(-(-4800 // block), 50)
    out = capsys.readouterr().out
    for name, model in some:
        assert f"{name}, {model}, x2, 32 frames at 48000 Hz: deadline 666.7 µs, 150 blocks each" in out


def test_a_model_that_a_preset_refuses_is_told_and_the_sweep_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert jawari("plain", "slap-bass", "--models", "fd", "--voices", 2, "--json", "a.json", *QUICK) == 0
    said = capsys.readouterr()
    (told,) = (line for line in said.err.splitlines() if "left out" in line)
    assert told.startswith("jawari: note: plain, fd, x1: left out")
    assert "use model: modal" in told
    found = json.loads(Path("a.json").read_text())
    assert {point["preset"] for point in found["points"]} == {"slap-bass"}
    assert any("left out" in note for note in found["notes"])
    assert jawari("plain", "--models", "fd", "--voices", 2, *QUICK) == 3
    assert "nothing could be measured" in capsys.readouterr().err


def test_options_reach_the_instrument(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def record(instrument: Any, music: np.ndarray, block: int, count: int) -> Blocks:
        seen.append((instrument.sample_rate, instrument.oversample, set(((music[:, 1] >> 8) & 127).tolist())))
        return record_blocks(instrument, music, block, count)

    monkeypatch.setattr(profile, "record_blocks", record)
    options = "--voices 3 --block-sizes 50 --sample-rate 44100 --key-range C3:49 --set oversample=2 --seconds 0.05"
    assert jawari("plain", *options.split(), *QUICK, "--json", "a.json", "--plot", "a.png", "--blocks") == 0
    assert seen == [(44_100.0, 2, {48, 49})]
    found = json.loads(Path("a.json").read_text())
    assert found["played"] == {
        "sample_rate": 44_100.0,
        "keys": [48, 49],
        "polyphony": None,
        "sway": False,
        "set": ["oversample=2"],
        "live": False,
    }
    (point,) = found["points"]
    assert point["sounding"] == [3, 3]
    assert point["blocks"] == len(point["durations_ns"]) == 50
    assert point["us"]["max"] == pytest.approx(max(point["durations_ns"]) / 1e3, rel=1e-12)
    assert matplotlib.image.imread("a.png").shape[0] > 500
    assert capsys.readouterr().out.count("wrote a.") == 2


def test_the_live_stream_goes_through_the_same_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def live_blocks(_: object, music: np.ndarray, block: int, count: int) -> list[tuple[int, int, int, int]]:
        return [(1000 * n, 4000, block, 0) for n in range(count)]

    record = profile._recorder(live_blocks)
    monkeypatch.setattr(profile, "_live", lambda args: record)
    assert jawari("plain", "--live", "--voices", 2, "--block-sizes", 64, "--json", "a.json", *QUICK) == 0
    (point,) = measured("a.json").values()
    assert point["us"]["p50"] == 4.0
    assert point["sounding"] is None
    assert point["preempted"] is None
    assert json.loads(Path("a.json").read_text())["played"]["live"] is True


# --- what is said -----------------------------------------------------------------------------------------------------


def test_the_table_says_what_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """100 ns a voice and frame, one block in forty twice as long."""
    assert jawari("plain", "--voices", "1,100,250", "--block-sizes", 64, "--seconds", 4, *QUICK) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[2] == "plain, modal, x1, 64 frames at 48000 Hz: deadline 1333.3 µs, 3000 blocks each"
    for line, voices, late in zip(lines[5:8], (1, 100, 250), (0, 0, 3000)):
        cells = line.split()
        us = [6.4 * voices * factor for factor in (1.025, 1, 2, 2, 2)]
        expected = [value for one in us for value in (one, 100.0 * one / DEADLINE)]
        assert [float(cell) for cell in cells] == pytest.approx([voices, *expected, late], abs=0.051)
    assert all(len(line) <= 100 for line in lines[1:])
    assert len({len(line) for line in lines[3:8]}) == 1
    assert "took the core away 9 times, in 3 of 3 measurements" in lines[-1]


def test_the_largest_polyphony_and_the_parts_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("plain", "--voices", "2,150", "--block-sizes", "64,128", "--seconds", "2", "--json", "a.json")
    assert jawari(*line) == 0
    found = json.loads(Path("a.json").read_text())
    # 200 ns a voice at p99.9, of 0.7 / 48000 s that there are for each frame: 72 voices.
    assert [limit["voices"] for limit in found["limits"]] == [72, 72]
    assert found["limits"][0]["p99.9"] == pytest.approx(72 * 200e-9 * 48_000, rel=1e-3)
    assert all(part["us"]["contact"] == 0.0 for part in found["parts"])
    out = capsys.readouterr().out.splitlines()
    (at,) = (n for n, row in enumerate(out) if row.startswith("preset"))
    assert out[at - 1].split("  ")[-1].strip() == "where the time goes, %"
    for row, block in zip(out[at + 1 :], (64, 128)):
        cells = row.split()
        assert cells[:5] == ["plain", "modal", "1", str(block), "72"]
        assert cells[6] == "150"
        assert sum(map(float, cells[7:])) == pytest.approx(100.0, abs=0.3)
    assert all(len(row) <= 100 for row in out[1:])


def test_a_machine_that_others_use_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert computer.disturbance_notes({"share": 0.0, "longest_us": 0.0}) == []
    (busy,) = computer.disturbance_notes({"share": 0.25, "longest_us": 4000.0})
    assert "25%" in busy
    assert "4000 µs" in busy
    governor = tmp_path / "governor"
    monkeypatch.setattr(computer, "GOVERNOR", governor)
    for word, notes in (("powersave\n", 1), ("performance\n", 0)):
        governor.write_text(word)
        assert len(computer.disturbance_notes({"share": 0.0, "longest_us": 0.0})) == notes


def test_the_machine_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert jawari("plain", "--voices", 1, "--json", "a.json", *QUICK) == 0
    line = capsys.readouterr().out.splitlines()[0]
    facts = json.loads(Path("a.json").read_text())["computer"]
    for name in ("cpu", "cores", "system", "python", "numba"):
        assert str(facts[name]) in line
    monkeypatch.setattr(computer, "SPUN", 1_000_000)
    noise = computer.disturbance()
    assert 0.0 <= noise["share"] <= 1.0
    assert noise["longest_us"] <= 1e6 * noise["seconds"]


# --- interrupts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 3, 5])
def test_an_interrupt_leaves_what_was_measured(fake: FakeRecorder, at: int, capsys: pytest.CaptureFixture[str]) -> None:
    fake.interrupt_at = at
    line = ("plain", "--voices", "1,2", "--block-sizes", "32,64", "--no-limit-search", "--no-parts")
    whole = at > 4
    assert jawari(*line, "--seconds", "2 s", "--json", "a.json", "--plot", "a.png") == (0 if whole else 130)
    said = capsys.readouterr()
    found = json.loads(Path("a.json").read_text())
    assert found["whole"] == whole
    assert len(found["points"]) == min(at - 1, 4)
    rows = [row for row in said.out.splitlines() if re.match(r" +\d+ ", row)]
    assert len(rows) == min(at - 1, 4)
    assert said.err == ("" if whole else "jawari: interrupted\n")
    assert sorted(path.name for path in Path().iterdir()) == (["a.json", "a.png"] if whole else ["a.json"])


# --- comparison -------------------------------------------------------------------------------------------------------

LINE = ("plain", "--voices", "1,8,20", "--block-sizes", "32,64", "--seconds", "2 s", *QUICK)


def test_equal_times_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert jawari(*LINE, "--json", "old.json") == 0
    assert jawari(*LINE, "--compare", "old.json") == 0
    said = capsys.readouterr()
    assert said.err == ""
    table = said.out.splitlines()[-6:]
    assert all(row.split()[-2:] == ["1.000", "1.000"] for row in table)
    assert "slower" not in said.out
    assert "another" not in said.out


def test_a_slowed_point_is_found(fake: FakeRecorder, capsys: pytest.CaptureFixture[str]) -> None:
    assert jawari(*LINE, "--json", "old.json") == 0
    fake.each = lambda voices: {8: 130.0, 20: 110.0}.get(voices, 90.0)
    capsys.readouterr()
    assert jawari(*LINE, "--compare", "old.json", "--json", "new.json") == 8
    said = capsys.readouterr()
    told = r"2 of 6 points are slower than 1\.15 times old\.json, plain, modal, x1, .* frames, 8 voices the most: 1\.30"
    assert re.fullmatch(rf"jawari: {told} times\n", said.err)
    rows = [row.split() for row in said.out.splitlines() if row.startswith("plain  ")]
    assert [(row[4], row[5], row[7:]) for row in rows] == [
        *[("8", "1.300", ["slower"])] * 2,
        *[("20", "1.100", [])] * 2,
        *[("1", "0.900", [])] * 2,
    ]
    assert len(measured("new.json")) == 6  # also when something is slower
    assert jawari(*LINE, "--compare", "old.json", "--tolerance", "1.31") == 0
    assert jawari(*LINE, "--compare", "new.json") == 0
    assert jawari(*LINE, "--compare", "old.json", "--tolerance", "1.05") == 8
    assert "4 of 6 points are slower than 1.05 times old.json" in capsys.readouterr().err


def test_other_machines_and_points_are_compared_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert jawari(*LINE, "--json", "old.json") == 0
    old = json.loads(Path("old.json").read_text())
    old["computer"] |= {"cpu": "Another CPU", "numba": "0.1"}
    old["points"] = old["points"][:2]
    old["played"]["sway"] = True
    Path("old.json").write_text(json.dumps(old))
    capsys.readouterr()
    assert jawari(*LINE, "--compare", "old.json") == 0
    said = capsys.readouterr().out
    assert "another machine: cpu " in said
    assert "there Another CPU" in said
    assert "another numba: " in said
    assert "played otherwise: sway False, there True" in said
    assert "4 of 6 points are not in it" in said
    assert said.count("1.000") == 4


def test_a_report_is_read_as_it_was_written() -> None:
    assert jawari(*LINE, "--json", "old.json") == 0
    earlier = report.read_report(Path("old.json"))
    written = measured("old.json")
    assert {(point.section.block, point.voices): us for point, us in earlier.points.items()} == {
        name: point["us"] for name, point in written.items()
    }
    assert {point.section for point in earlier.points} == {Section("plain", "modal", 1, block) for block in (32, 64)}
    for (block, voices), point in written.items():
        counts = point["histogram"]["counts"]
        assert sum(counts) == point["blocks"]
        assert len(point["histogram"]["edges_us"]) == len(counts) + 1
        assert point["share"]["p50"] == pytest.approx(voices * 100e-9 * 48_000)
        assert point["deadline_us"] == pytest.approx(block / 0.048)
        assert point["late"] == 0
        assert "durations_ns" not in point


# --- mistakes ---------------------------------------------------------------------------------------------------------

REFUSALS: list[tuple[str, int, str]] = [
    ("", 2, "no preset is named; name one (banjo, berimbau, biwa"),
    ("sitra", 3, "did you mean sitar?"),
    ("plain --set strin.length=1", 3, "strin"),
    ("plain --voices 1,x", 2, "--voices = x: must be a whole number, 1 to 256"),
    ("plain --voices 0", 2, "--voices = 0: must be"),
    ("plain --voices 257", 2, "--voices = 257: must be"),
    ("plain --voices 1,,2", 2, "--voices = '': must be"),
    ("plain --voices ²", 2, "--voices = ²: must be"),
    ("plain --block-sizes 20000", 2, "--block-sizes = 20000: must be a whole number, 1 to 16384"),
    ("plain --oversample 3", 2, "--oversample = 3: must be a whole number, 1, 2, 4, 8"),
    ("plain --models both", 2, "--models = both: both is none of preset, modal, fd"),
    ("plain --seconds -1", 2, "--seconds = -1: must be above 0"),
    ("plain --seconds nan", 2, "--seconds = nan"),
    ("plain --seconds 1e9", 2, "at most 600 s"),
    ("plain --seconds long", 2, "--seconds = long: must be a time"),
    ("plain --sample-rate 100", 2, "--sample-rate = 100: must be 8000 to 384000 Hz"),
    ("plain --polyphony 0", 2, "--polyphony = 0: must be a whole number, 1 to 256"),
    ("plain --key-range C2", 2, "--key-range = C2: must be two notes or keys, like C2:C4"),
    ("plain --key-range C2:H4", 2, "--key-range = C2:H4: must be two notes"),
    ("plain --key-range 60:50", 2, "the lower one first"),
    ("plain --key-range 1:200", 2, "keys from 0 to 127"),
    ("plain --tolerance 0.9", 2, "--tolerance = 0.9: must be 1 or more"),
    ("plain --tolerance much", 2, "--tolerance = much"),
    ("plain --json missing/a.json", 6, "its folder does not exist"),
    ("plain --plot missing/a.png", 6, "its folder does not exist"),
    ("plain --plot a.xyz", 5, "a figure's name must end in one of"),
    ("plain --compare none.json", 2, "none.json: there is no such file"),
    ("plain --compare folder", 2, "folder: is a folder"),
    ("plain --compare text.json", 2, "text.json: is not a report of jawari profile --json"),
    ("plain --compare list.json", 2, "list.json: is not a report"),
    ("plain --compare other.json", 2, "other.json: is not a report"),
    ("plain --compare cut.json", 2, "cut.json: is not a report of jawari profile --json ('points' is missing)"),
    ("plain --compare zero.json", 2, "zero.json: is not a report"),
    ("plain --compare deep.json", 2, "deep.json: is not a report"),
    ("plain --compare good.json", 2, "good.json: has none of these points"),
    ("plain --voices 3 --compare good.json --json good.json", 2, "is what --compare reads"),
    ("plain sub/plain.yaml", 2, "two presets are called plain"),
]
HEAD = {"format": report.FORMAT, "computer": {}, "played": {}}
ENTRY = {"preset": "plain", "model": "modal", "oversample": 1, "block": 64, "voices": 3}


def us(value: float) -> dict[str, dict[str, float]]:
    return {"us": dict.fromkeys(report.NAMES, value)}


FILES: dict[str, str] = {
    "text.json": "not JSON",
    "list.json": "[1]",
    "other.json": '{"format": "something else"}',
    "cut.json": json.dumps(HEAD),
    "zero.json": json.dumps({**HEAD, "points": [ENTRY | us(0.0)]}),
    "good.json": json.dumps({**HEAD, "points": [ENTRY | us(1.0)]}),
    "deep.json": "[" * 100_000,
}


@pytest.mark.parametrize(("line", "code", "told"), REFUSALS)
def test_a_mistake_is_one_line_and_an_exit_code(
    line: str, code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], fake: FakeRecorder
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "sub").mkdir()
    shipped = Path(profile.__file__).parents[2] / "presets" / "plain.yaml"
    (tmp_path / "sub" / "plain.yaml").write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert jawari(*line.split()) == code
    said = capsys.readouterr()
    assert told in said.err
    assert said.err.startswith("jawari: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert fake.asked == []
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["folder", "sub", *FILES])
    assert all((tmp_path / name).read_text() == text for name, text in FILES.items())


def test_too_few_blocks_for_a_one_in_a_thousand_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert jawari("plain", "--voices", 1, "--block-sizes", "64,480", "--seconds", 2, *QUICK) == 0
    assert "fewer than 1000 blocks" in (err := capsys.readouterr().err)
    assert "--seconds 10.0" in err
    assert jawari("plain", "--voices", 1, "--block-sizes", "64,480", "--seconds", 10, *QUICK) == 0
    assert capsys.readouterr().err == ""


def test_help_tells_the_method_and_examples_that_parse(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        jawari("--help")
    text = capsys.readouterr().out
    assert "method: " in text
    assert "None" not in text
    examples = re.findall(r"^  jawari (profile .*?)(?:  .*)?$", text, re.MULTILINE)
    assert len(examples) >= 3
    for line in examples:
        cli.parser().parse_args(line.split())
