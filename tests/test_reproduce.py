"""`scripts/reproduce.py`: pictures, numbers and the closing table come out, and failures are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import matplotlib.image
import numpy as np
import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "reproduce.py"


def reproduce(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=300)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    from reproduction import registry

    monkeypatch.setattr(registry, "FIGURES", {})
    return registry


def test_two_figures_come_out_whole(tmp_path: Path) -> None:
    done = reproduce("--out", str(tmp_path), "--only", "001.4", "003.3")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {
        *("001.4.png", "001.4.json", "003.3.png", "003.3.json", "README.md", "claims.json"),
    }
    for id in ("001.4", "003.3"):
        picture = matplotlib.image.imread(tmp_path / f"{id}.png")
        assert picture.shape[0] > 200
        assert np.ptp(picture[..., :3]) == 1.0, "a picture with nothing drawn on it"
        record = json.loads((tmp_path / f"{id}.json").read_text())
        assert record["id"] == id
        assert record["we get"] in (tmp_path / "README.md").read_text()
        assert f"({id}.png)" in (tmp_path / "README.md").read_text()
    one_step = json.loads((tmp_path / "001.4.json").read_text())["numbers"]
    assert one_step["fewest_samples_inside_any_wall"] == {"two-point": 1, "three-point": 2}
    worst = json.loads((tmp_path / "003.3.json").read_text())["numbers"]
    assert abs(worst["worst_percent"]) == pytest.approx(2.04, abs=0.02)
    claims = json.loads((tmp_path / "claims.json").read_text())
    assert [(claim["figure"], claim["verdict"]) for claim in claims] == [("001.4", "confirmed"), ("003.3", "confirmed")]
    assert all(f"**confirmed**: {claim['measured']}" in (tmp_path / "README.md").read_text() for claim in claims)
    assert "what the paper shows" in done.stdout
    assert "2/2" in done.stderr


def test_every_figure_of_the_first_papers_is_listed() -> None:
    done = reproduce("--list", "--only", "001", "002", "003")
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    wanted = [f"001.{n}" for n in (3, 4, 5, 6)] + [f"002.{n}" for n in (1, 2, 3)] + [f"003.{n}" for n in range(1, 9)]
    assert {*wanted, "003.table1"} <= set(listed)
    assert [id for id in listed if id in wanted] == wanted, "in the papers' order"


def test_an_unknown_name_is_refused_in_one_line(tmp_path: Path) -> None:
    done = reproduce("--out", str(tmp_path / "new"), "--only", "009.1")
    assert done.returncode == 2
    assert done.stderr.startswith("--only 009.1: no such figure; choose from 001.3")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "new").exists()


def test_pages_are_saved_and_numbers_made_plain(registry: ModuleType, tmp_path: Path) -> None:
    @registry.figure("9.10", "Two pages", shows="two")
    def two(page: object) -> object:
        for _ in range(2):
            page.subplots()[1].plot([0, 1])  # type: ignore[attr-defined]
        return "two", {
            "array": np.arange(3.0),
            "count": np.int64(2),
            "none": np.inf,
            "nested": {1: (True, np.float32(0.5))},
        }

    with pytest.raises(ValueError, match="twice"):
        registry.figure("9.10", "Again", shows="")(two)
    result = registry.run(registry.FIGURES["9.10"], tmp_path)
    assert result.files == ("9.10.png", "9.10-2.png", "9.10.json")
    numbers = json.loads((tmp_path / "9.10.json").read_text())["numbers"]
    assert numbers == {"array": [0.0, 1.0, 2.0], "count": 2, "none": None, "nested": {"1": [True, 0.5]}}


def test_selection(registry: ModuleType) -> None:
    for id in ("002.10", "002.9", "001.3", "0021.1", "002.table1"):
        registry.figure(id, "", shows="")(lambda page: ("", {}))
    assert [f.id for f in registry.select(["002"])] == ["002.9", "002.10", "002.table1"]
    assert [f.id for f in registry.select(["001.3", "002.9"])] == ["001.3", "002.9"]
    assert len(registry.select([])) == 5
    with pytest.raises(KeyError):
        registry.select(["002.1"])


def test_one_failure_does_not_stop_the_rest(
    registry: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import reproduce as script

    @registry.figure("9.1", "Breaks", shows="nothing")
    def breaks(page: object) -> object:
        raise RuntimeError("no such luck")

    registry.figure("9.2", "Works", shows="something")(lambda page: ("fine", {}))
    monkeypatch.setattr(script.pkgutil, "iter_modules", lambda path: [])
    assert script.main(["--out", str(tmp_path)]) == 1
    assert json.loads((tmp_path / "9.2.json").read_text())["we get"] == "fine"
    assert "FAILED: no such luck" in capsys.readouterr().out


# --- claims -----------------------------------------------------------------------------------------------------------

MEASURED = json.loads((SCRIPT.parent / "measured" / "papers.json").read_text(encoding="utf-8"))


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    from reproduction import claims

    return claims


def test_every_claim_is_judged_by_a_figure_there_is_and_stands_in_the_table(claims: ModuleType) -> None:
    listed = {line.split()[0] for line in reproduce("--list").stdout.splitlines()}
    assert {claim.figure for claim in claims.CLAIMS} <= listed
    kept = [(row["place"], row["claim"], row["figure"]) for row in MEASURED["claims"]]
    assert kept == [(claim.place, claim.says, claim.figure) for claim in claims.CLAIMS], (
        "run make_tables --measure papers"
    )
    assert {row["verdict"] for row in MEASURED["claims"]} == {claims.YES, claims.NO, claims.IF}


def test_other_numbers_give_another_verdict(claims: ModuleType) -> None:
    def hard(two: float, three: float) -> dict[str, object]:
        named = {"two-point": {"duration_us": two}, "three-point": {"duration_us": three}}
        return {"hard": {"exact_us": 30.0, **named}}

    assert claims.too_long(hard(40.0, 50.0)) == (claims.YES, "hard wall: +33 % two-point, +67 % three-point")
    assert claims.too_long(hard(50.0, 40.0))[0] == claims.too_long(hard(29.0, 40.0))[0] == claims.NO
    places = [0.1, 0.4]
    for own, wanted in ((places, claims.YES), ([0.4], claims.IF), ([], claims.NO)):
        worse = {"(57)-(60)": own, "exact poles, plain": [0.4]}
        assert claims.struck({"positions": places, "differences_worse_at": worse})[0] == wanted
    for grid, own, wanted in ((0.04, 0.01, claims.NO), (0.04, 0.05, claims.IF), (0.06, 0.01, claims.YES)):
        errors = {"error_at_44100_Hz": {"iterative": 0.038, "fd plain": grid}}
        errors |= {"on_this_engines_grid_at_44100_Hz": {"iterative": 0.01, "plain": own}}
        assert claims.faster(errors)[0] == wanted
    for twenty, done, wanted in ((60.0, 5.0, claims.IF), (60.0, 9.0, claims.YES), (6.0, 5.0, claims.NO)):
        assert claims.gains({"time_gain": {"of_20_iterations": [twenty], "of_convergence": [done]}})[0] == wanted
    plain, damped = {"failed_steps": [0.0, 0.1]}, {"failed_steps": [0.0, 0.1]}
    numbers: dict[str, object] = {"stiffness": [1e9, 1e10]}
    numbers |= {f"{scheme}-point, plain": plain for scheme in ("two", "three")}
    numbers |= {f"{scheme}-point, damped": damped for scheme in ("two", "three")}
    assert claims.fails(numbers)[0] == claims.NO
    damped["failed_steps"][1] = 0.0
    assert claims.fails(numbers)[0] == claims.YES
    numbers["two-point, plain"] = {"failed_steps": [0.0, 0.0]}
    assert claims.fails(numbers)[0] == claims.IF


def test_a_figure_that_failed_judges_nothing(claims: ModuleType) -> None:
    from reproduction.registry import Figure, Result

    figure = Figure("003.3", "", "", lambda page: ("", {}))
    assert claims.judged([Result(figure, "FAILED", 0.0, (), failed=True)]) == []
    assert claims.judged([Result(figure, "", 0.0, (), numbers={"worst_percent": 9.0})])[0]["verdict"] == claims.NO
