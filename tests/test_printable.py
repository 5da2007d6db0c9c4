"""What comes from outside is shown, and obeyed by no terminal; and names may have letters that the locale has not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mido
import pytest

from engine.printable import printable

ROOT = Path(__file__).parents[1]
TITLE = "\x1b]0;owned\x07"  # would rename a terminal's window, and ring
PLAIN = (ROOT / "presets" / "plain.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sitar-string – रागः", "sitar-string – रागः"),
        (TITLE, r"\x1b]0;owned\x07"),
        ("a\nb\tc\r\x7f\x9b", r"a\nb\tc\r\x7f\x9b"),
        ("over\u202eride\u2028", r"over\u202eride\u2028"),
        ("\udcff\U000e0001", r"\udcff\U000e0001"),
        (r"\x1b is shown as it is", r"\x1b is shown as it is"),
    ],
)
def test_what_does_not_print_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


def said(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Exit code of the command, and all that it prints."""
    command = [sys.executable, "-m", "engine.cli", *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    done = subprocess.run(
        command,
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), "JACK_NO_START_SERVER": "1", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "strict")


def song(path: Path) -> None:
    """A note, on a track with a name that commands."""
    note = [mido.Message(kind, note=60, velocity=90, time=at) for kind, at in (("note_on", 0), ("note_off", 40))]
    track = mido.MidiTrack([mido.MetaMessage("track_name", name=TITLE), *note])
    mido.MidiFile(tracks=[track]).save(path)


@pytest.mark.skipif(sys.platform == "win32", reason="files of such names cannot be there")
def test_no_command_says_anything_that_a_terminal_obeys(tmp_path: Path) -> None:
    """Preset names, files, devices, ports, tunings, tracks, arguments: all of them hostile."""
    hostile = f"{TITLE}.yaml"
    (tmp_path / hostile).write_text(PLAIN, encoding="utf-8")
    (tmp_path / f"bad{hostile}").write_text(PLAIN.replace("name: ", r'name: "\e]0;x\a" #'), encoding="utf-8")
    (tmp_path / "hostile.scl").write_text(f"{TITLE}\n{TITLE}\n", encoding="utf-8")
    song(tmp_path / f"{TITLE}.mid")
    for code, *arguments in (
        (0, "presets", "check", hostile),
        (3, "presets", "check", f"bad{hostile}", f"no{hostile}"),
        (0, "render", hostile, "--midi", f"{TITLE}.mid", "-o", f"{TITLE}.wav", "--report", f"{TITLE}.json"),
        (6, "render", hostile, "-o", f"{TITLE}/{TITLE}.wav"),
        (3, "render", hostile, "--set", "tuning=hostile.scl"),
        (2, TITLE),
        (2, "render", "plain", f"--{TITLE}"),
        (0, "simulate", hostile, "--seconds", "1 ms", "-o", f"{TITLE}.npz"),
    ):
        status, text = said(tmp_path, *arguments)
        assert status == code, text
        assert r"\x1b]0;" in text
        assert all(line.isprintable() for line in text.splitlines()), text
        assert text.count("\n") == len(text.splitlines())


NAMES = ("rāga", "रागः")


@pytest.mark.skipif(sys.platform == "win32", reason="names are always Unicode there")
def test_names_may_have_letters_that_the_locale_has_not(tmp_path: Path) -> None:
    """In the C locale Python knows ASCII only, and files are called what they are called all the same."""
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    folder = tmp_path / NAMES[1]
    folder.mkdir()
    (folder / f"{NAMES[0]}.csv").write_text("0,-0.001\n0.01,-0.002\n", encoding="utf-8")
    (folder / f"{NAMES[0]}.scl").write_text("five\n2\n700.\n2/1\n", encoding="utf-8")
    barrier = f"barrier: {{profile: table, table: {NAMES[0]}.csv, height: -1 mm}}\ntuning: {NAMES[0]}.scl\n"
    (folder / f"{NAMES[0]}.yaml").write_text(PLAIN + barrier, encoding="utf-8")
    song(folder / f"{NAMES[0]}.mid")
    preset = f"{NAMES[1]}/{NAMES[0]}.yaml"
    made = [f"{NAMES[1]}/out.{suffix}" for suffix in ("wav", "json", "npz")]
    made = [name.replace("out", NAMES[0] + "2") for name in made]
    for arguments in (
        ("presets", "check", preset),
        ("render", preset, "--midi", f"{NAMES[1]}/{NAMES[0]}.mid", "-o", made[0], "--report", made[1]),
        ("render", preset, "--set", f"tuning={NAMES[0]}.scl", "--notes", "C4:0:.1", "-o", made[0], "--force"),
        ("simulate", preset, "--seconds", "1 ms", "-o", made[2]),
    ):
        status, text = said(tmp_path, *arguments, **bare)
        assert status == 0, text
        assert text.isascii()
    assert all((tmp_path / name).exists() for name in made)
