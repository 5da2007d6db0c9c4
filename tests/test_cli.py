"""The `jawari` command: help, `simulate`, every mistake one line and an exit code, files whole or not at all."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

import engine
from engine import cli
from engine.errors import EngineError
from engine.study.simulate import SCHEMES

ROOT = Path(__file__).parent.parent
QUICK = ("simulate", "tanpura-string", "--seconds", "2 ms")
COLD = "jawari: compiling for this machine, once; up to 30 seconds\n"  # said by whichever test comes first


def jawari(*words: str, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "engine.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, **how)  # type: ignore[call-overload, no-any-return]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(words)
    out, err = capsys.readouterr()
    return code, out, err


def parsers(parser: argparse.ArgumentParser, name: str = "jawari") -> dict[str, argparse.ArgumentParser]:
    """The parser of every command and subcommand."""
    found = {name: parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, child in action.choices.items():
                found |= parsers(child, f"{name} {word}")
    return found


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"jawari {engine.__version__}\n")


# --- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", parsers(cli.parser()))
def test_help_tells_every_flag_and_command(name: str) -> None:
    parser = parsers(cli.parser())[name]
    text = parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            assert all(word in text for word in action.choices)
        else:
            assert action.help, f"{action.dest} has no words"
            assert all(flag in text for flag in action.option_strings)


def test_help_tells_every_exit_code() -> None:
    codes = {kind.exit_code for kind in subclasses(EngineError)}
    for name, parser in parsers(cli.parser()).items():
        if name.count(" ") <= 1:  # the command and its commands; theirs refer to them
            text = parser.format_help()
            assert "exit codes: 0 done" in text
            for code in codes | {2, 130}:
                assert f" {code} " in text.replace("\n", " ")


def subclasses(kind: type[EngineError]) -> list[type[EngineError]]:
    return [kind, *(k for child in kind.__subclasses__() for k in subclasses(child))]


def test_help_of_simulate_tells_every_scheme_and_an_example_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = parsers(cli.parser())["jawari simulate"].format_help()
    for name, (_, what) in SCHEMES.items():
        assert f"  {name} " in text
        assert what in text
    (example,) = (line for line in text.splitlines() if line.startswith("  jawari simulate"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(shlex.split(example)[1:]) == 0
    assert (tmp_path / "sitar.png").exists()


def test_help_comes_from_the_command_line() -> None:
    done = jawari("--help")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: jawari")
    assert "simulate" in done.stdout
    assert done.stderr == ""


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    """All of it, where a pager can read it; but whoever forgot the command in a script is told by the code."""
    assert run(capsys) == (2, cli.parser().format_help(), "")


# --- simulate ---------------------------------------------------------------------------------------------------------


def test_simulate_writes_arrays_and_a_figure(tmp_path: Path) -> None:
    done = jawari(
        *("simulate", "sitar-string", "--seconds", "5 ms", "--snapshots", "1 ms", "3 ms", "--oversample", "4"),
        *("--set", "string.length=60 cm", "--set", "pickups.0.at=0", "--sample-rate", "44100"),
        *("-o", str(tmp_path / "run.npz"), "--plot", str(tmp_path / "run.png")),
    )
    assert (done.returncode, done.stderr.replace(COLD, "")) == (0, "")
    assert f"wrote {tmp_path / 'run.npz'}" in done.stdout
    assert f"wrote {tmp_path / 'run.png'}" in done.stdout
    assert "Sitar string: modal, 882 steps at 176400 Hz" in done.stdout
    assert "balance kept to" in done.stdout
    direct = engine.simulate(
        "sitar-string", 5e-3, 44_100, 4, snapshots=[1e-3, 3e-3], overrides=["string.length=60 cm", "pickups.0.at=0"]
    )
    with np.load(tmp_path / "run.npz") as saved:
        assert (saved["pickups"] == direct.pickups).all()
        assert (saved["snapshot_u"] == direct.snapshots.u).all()
    picture = matplotlib.image.imread(tmp_path / "run.png")
    assert min(picture.shape[:2]) > 500
    assert np.ptp(picture[..., :3]) == 1.0, "a picture with nothing drawn on it"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.npz", "run.png"]


@pytest.mark.parametrize("kind", ["pdf", "svg", "PNG"])
@pytest.mark.parametrize("preset", ["plain", "slap-bass"])
def test_figures_of_every_kind_of_barrier(
    kind: str, preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"figure.{kind}"
    code, _, err = run(capsys, "simulate", preset, "--seconds", "2 ms", "--plot", str(path))
    assert (code, err) == (0, "")
    start = {"pdf": b"%PDF", "svg": b"<?xml", "PNG": b"\x89PNG"}[kind]
    assert path.read_bytes().startswith(start)


def test_summary_tells_peaks_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *QUICK, "--set", "pickups=[{at: 0.2}, {at: 1, kind: bridge_force}]")
    sim = engine.simulate("tanpura-string", 2e-3, overrides=["pickups=[{at: 0.2}, {at: 1, kind: bridge_force}]"])
    assert code == 0
    lines = out.splitlines()
    assert lines[1].split() == ["displacement", "at", "0.2", "peak", f"{np.abs(sim.pickups[:, 0]).max():.4g}"]
    assert lines[2].split() == ["bridge_force", "at", "1", "peak", f"{np.abs(sim.pickups[:, 1]).max():.4g}"]
    assert f"{sim.energy.total.max():.4g} J" in lines[3]
    assert f"to {sim.contact_force.max():.4g} N over 1 points" in lines[4]


@pytest.mark.parametrize(("shape", "peak"), [("triangle 0.5 1 mm", 1e-3), ("mode 3 -2e-4", 2e-4)])
def test_release(shape: str, peak: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.npz"
    words = (*QUICK, "--release", shape, "--snapshots", "0", "--scheme", "fd", "-o", str(path))
    code, _, err = run(capsys, *words)
    assert (code, err) == (0, "")
    with np.load(path) as saved:
        assert np.abs(saved["snapshot_u"][0]).max() == pytest.approx(peak, rel=1e-2)
        assert (saved["energy_work"] == 0.0).all(), "no force acts then"


def test_every_flag_reaches_simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.npz"
    words = ("--scheme", "modal-plain", "--band", "5 kHz", "--precision", "float32", "--sample-rate", "32000")
    code, out, _ = run(capsys, *QUICK, *words, "--oversample", "1", "-o", str(path))
    assert code == 0
    assert "modal-plain, 64 steps at 32000 Hz" in out
    with np.load(path) as saved:
        assert saved["energy_total"].dtype == np.float32
        assert str(saved["scheme"]) == "modal-plain"
    more = run(capsys, *QUICK, "--band", "5 kHz")[1], run(capsys, *QUICK)[1]
    assert more[0] != more[1]


def test_a_warning_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    many = ("--set", "barrier.points=200")  # more than the sitar's modes tell apart
    code, out, err = run(capsys, "simulate", "sitar-string", *many, "--seconds", "1 ms", "--oversample", "1")
    assert code == 0
    assert out
    (line,) = err.splitlines()
    assert line.startswith("jawari: note: contact points 0.15 mm apart, but ")
    assert line.endswith("would do (barrier.points: auto)")


def test_the_first_run_on_a_machine_says_why_it_takes_long(tmp_path: Path) -> None:
    """Before it compiles, which need not be waited for here; where it was compiled before, nothing is said."""
    words = (*QUICK, "--scheme", "fd-plain")
    with subprocess.Popen(
        [sys.executable, "-m", "engine.cli", *words],
        stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "JAWARI_CACHE_DIR": str(tmp_path)},
    ) as first:  # fmt: skip
        assert first.stderr is not None
        assert first.stderr.readline() == COLD
        first.kill()
    second, third = (jawari(*words) for _ in range(2))
    assert (second.returncode, second.stderr.replace(COLD, "")) == (0, "")
    assert (third.returncode, third.stderr) == (0, "")


# --- mistakes ---------------------------------------------------------------------------------------------------------

REFUSED = {
    "unknown preset": (("simulate", "sitarr"), 3, "sitarr is not shipped; did you mean sitar?"),
    "notes as a preset": (
        ("simulate", "a/song.MID"),
        3,
        "a/song.MID: is notes, not a preset to play them on; jawari render PRESET --midi a",
    ),
    "no such file": (("simulate", "nowhere/x.yaml"), 3, "nowhere/x.yaml: there is no such file; check the name"),
    "unknown key": ((*QUICK, "--set", "string.lenght=1"), 3, "did you mean string.length?"),
    "no value": ((*QUICK, "--set", "string.length"), 3, "is not key=value"),
    "negative tension": ((*QUICK, "--set", "string.tension=-1 N"), 4, "string.tension = -1 N: must be at least"),
    "pickup off the string": ((*QUICK, "--set", "pickups.0.at=2"), 4, "pickups.0.at = 2: must be at most 1; lower it"),
    "force outside": ((*QUICK, "--set", "excitation.position=-0.1"), 4, "excitation.position = -0.1: must be"),
    "seconds without sense": (
        ("simulate", "tanpura-string", "--seconds", "soon"),
        2,
        "--seconds = soon: must be a time in s",
    ),
    "no seconds": (
        ("simulate", "tanpura-string", "--seconds", "0"),
        2,
        "seconds = 0: must be above 0; give a duration",
    ),
    "wrong unit": (
        ("simulate", "tanpura-string", "--seconds", "3 mm"),
        2,
        "--seconds = 3 mm: must be a time in s, not in mm",
    ),
    "snapshot outside": ((*QUICK, "--snapshots", "3 ms"), 2, "snapshots = 0.003: outside the run, 0 to"),
    "unknown scheme": ((*QUICK, "--scheme", "magic"), 2, "scheme = magic: must be one of fd, modal"),
    "precision": ((*QUICK, "--precision", "float8"), 2, "precision = float8: must be float64 or float32"),
    "band too low": ((*QUICK, "--band", "10 Hz"), 4, "no mode oscillates below 10 Hz"),
    "band of fd": ((*QUICK, "--band", "1 kHz", "--scheme", "fd"), 2, "band = 1000: finite differences have no modes"),
    "rate": ((*QUICK, "--sample-rate", "5"), 2, "sample rate = 5: must be 1000 to 10000000 Hz; try 48000"),
    "rate nan": ((*QUICK, "--sample-rate", "nan"), 2, "sample rate = nan: must be 1000"),
    "oversample": ((*QUICK, "--oversample", "0"), 2, "oversample = 0: must be a whole number, 1 to 256"),
    "losses of fd": (
        ("simulate", "plain", "--scheme", "fd"),
        4,
        "use model: modal, which is exact, or s0 and s2 alone",
    ),
    "no shape": (
        (*QUICK, "--release", "sawtooth"),
        2,
        "--release = sawtooth: not understood; write 'triangle 0.5 1 mm'",
    ),
    "shape off the string": ((*QUICK, "--release", "triangle 2 1 mm"), 2, "--release = triangle 2 1 mm: no such shape"),
    "part of a mode": ((*QUICK, "--release", "mode 1.5 1 mm"), 2, "no such shape; write"),
    "endless mode": ((*QUICK, "--release", "mode inf 1 mm"), 2, "no such shape; write"),
    "height without sense": ((*QUICK, "--release", "mode 1 1 N"), 2, "--release = 1 N: must be a length in m"),
    "folder as file": ((*QUICK, "-o", "."), 6, ".: is a folder; name a file in it"),
    "folder as figure": ((*QUICK, "--plot", "."), 6, ".: is a folder; name a file in it"),
    "missing folder": ((*QUICK, "-o", "nowhere/x.npz"), 6, "nowhere/x.npz: its folder does not exist; make it first"),
    "device": ((*QUICK, "-o", os.devnull), 6, "is not a regular file; choose another name"),
    "figure's ending": ((*QUICK, "--plot", "x.xyz"), 5, "x.xyz: a figure's name must end in one of"),
}


@pytest.mark.parametrize(("words", "code", "message"), REFUSED.values(), ids=list(REFUSED))
def test_every_mistake_is_one_line_and_an_exit_code(
    words: tuple[str, ...],
    code: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before any work: nothing on stdout, no file."""
    monkeypatch.chdir(tmp_path)
    found, out, err = run(capsys, *words)
    assert (found, out) == (code, "")
    (line,) = err.splitlines()
    assert line.startswith("jawari: ")
    assert message in line
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_all_mistakes_of_a_preset_are_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *QUICK, "--set", "string.tension=-1", "--set", "pickups.0.at=7")
    assert code == 4
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("words", [("fly",), ("simulate",), (*QUICK, "--oversample", "two"), (*QUICK, "--nonsense")])
def test_wrong_usage_is_exit_code_2(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(words)
    assert left.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("jawari")


def test_the_exit_code_reaches_the_shell() -> None:
    done = jawari("simulate", "tanpura-string", "--set", "string.tension=-1")
    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


# --- trouble while it runs --------------------------------------------------------------------------------------------


def test_an_interrupt_is_130_and_leaves_no_file(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a long run of a reference scheme."""
    program = (
        "import sys; from engine import cli; from engine.commands import simulate as command; real = command.record;"
        "command.record = lambda *a, **how: (print('running', flush=True), real(*a, **how))[1];"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    words = (
        "simulate",
        "slap-bass",
        "--scheme",
        "modal-cholesky",
        "--seconds",
        "10 s",
        "-o",
        str(tmp_path / "run.npz"),
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err.replace(COLD, "")) == (130, "jawari: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_a_figure_is_drawn_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from matplotlib.figure import Figure

    def half(self: Figure, file: Path, **how: object) -> None:
        Path(file).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(Figure, "savefig", half)
    code, _, err = run(capsys, *QUICK, "--plot", str(tmp_path / "x.png"))
    assert (code, err) == (130, "jawari: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs a device that is always full")
def test_a_full_output_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "engine.cli", *QUICK],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            check=False,
        )
    (line,) = done.stderr.replace(COLD, "").splitlines()
    assert done.returncode == 1
    assert "make room" in line


def test_a_reader_that_leaves_early_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.cli", *QUICK],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read().replace(COLD, "") == ""
    assert process.wait(timeout=300) == 1


def test_too_little_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("engine.commands.simulate.record", greedy)
    code, _, err = run(capsys, *QUICK)
    assert (code, err) == (1, "jawari: not enough memory; shorten the run or lower the rate\n")


def test_without_matplotlib_a_figure_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    code, out, err = run(capsys, *QUICK, "--plot", str(tmp_path / "x.png"))
    assert (code, out) == (11, "")
    assert err == "jawari: figures need matplotlib: pip install 'jawari[plot]'\n"
