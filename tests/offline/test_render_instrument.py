"""The renderer with the real instrument: blocks, processes, interrupts, memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import mido
import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import cache, cli, load_preset
from engine.cores import cores
from engine.music.errors import ScoreError
from engine.music.midi_file import midi_bytes, parse_midi
from engine.music.note import parse_notes
from engine.music.score import score_of_messages, score_of_notes
from engine.offline.job import Job, Manner, OutputFile, Treatment, make_player
from engine.offline.pool import run_jobs
from engine.offline.render import render
from engine.offline.stream import stream
from engine.physics import modal
from engine.physics.problem import Problem

NOTES = "C3:0:.2 E3:.1:.1:80 G3:.15:.2 C3:.2:.1"
COMMAND = [sys.executable, "-m", "engine.cli", "render"]


def test_no_block_size_changes_a_bit() -> None:
    whole = render("sitar-string", NOTES, block_size=1 << 20, tail=0.1, polyphony=4)
    assert 0.01 < np.abs(whole).max() < 1.0
    for block in (1, 37, 64, 512):
        np.testing.assert_array_equal(render("sitar-string", NOTES, block_size=block, tail=0.1, polyphony=4), whole)


@pytest.mark.parametrize("oversample", [2, 4, 8])
def test_sound_comes_at_its_time_whatever_the_latency(oversample: int) -> None:
    """The filter's latency is taken off. What is left are the two steps after which a model answers its excitation."""
    plain = render("plain", "C4:.1:.2", oversample=1, tail=0.0, mono=True)[:, 0]
    over = render("plain", "C4:.1:.2", oversample=oversample, tail=0.0, mono=True)[:, 0]
    spectrum = np.fft.rfft(plain, 2 * plain.size) * np.conj(np.fft.rfft(over, 2 * plain.size))
    finer = 32
    likeness = np.fft.irfft(np.pad(spectrum, (0, (finer - 1) * (spectrum.size - 1))))
    ahead = (likeness.size - int(np.argmax(likeness))) / finer
    assert ahead == pytest.approx(2.0 - 2.0 / oversample, abs=1.5 / finer)
    onset = round(0.1 * 48_000)
    assert np.abs(over[: onset - 100]).max() < 1e-4 * np.abs(over).max()


def test_a_flood_of_tunings_finds_room() -> None:
    """Each is 128 events to the instrument: spread over the samples after, the last one holds."""
    octaves = [[*range(40 + n % 40, 52 + n % 40)] for n in range(100)]
    flood = [mido.Message("sysex", data=(0x7F, 0x7F, 8, 8, 3, 0x7F, 0x7F, *values), time=0.01) for values in octaves]
    score = score_of_messages([*flood, mido.Message("note_on", note=60, time=0.02)])
    player = make_player(load_preset("plain"), Manner(polyphony=1, oversample=1))
    chunks = [chunk.copy() for chunk in stream(player, score, tail=0.05)]
    assert player.report()["events_lost"] == 0
    assert np.abs(np.concatenate(chunks)).max() > 0.01
    cents = [octaves[-1][key % 12] - 64 for key in range(1, 127)]
    assert player.machine.tuned[1:127] == pytest.approx(
        [163.84 * c + (k << 14) for k, c in enumerate(cents, 1)], abs=0.5
    )


def test_processes_change_no_byte(tmp_path: Path) -> None:
    score = score_of_notes(parse_notes(NOTES))

    def jobs(folder: str) -> list[Job]:
        (tmp_path / folder).mkdir()
        names = ("sitar-string", "plain", "prepared")
        return [
            Job(
                load_preset(name),
                Manner(polyphony=4),
                Treatment("16", tail=0.05, seed=5),
                tuple(OutputFile(tmp_path / folder / f"{name}-{take}.wav", score) for take in "ab"),
            )
            for name in names
        ]

    told: list[float] = []
    alone = run_jobs(jobs("alone"), lambda _: None, workers=1)
    together = run_jobs(jobs("together"), told.append, workers=2)
    assert [outcome.error for outcome in alone + together] == [""] * 6
    assert sum(told) == pytest.approx(6 * (score.length + 0.05), abs=0.01)
    for path in (tmp_path / "alone").iterdir():
        assert path.read_bytes() == (tmp_path / "together" / path.name).read_bytes()
    takes = [(tmp_path / "alone" / f"sitar-string-{take}.wav").read_bytes() for take in "ab"]
    assert takes[0] == takes[1]  # the second on the same instrument, after a reset
    for ours, theirs in zip(alone, together, strict=True):
        for mine, other in zip(ours.reports, theirs.reports, strict=True):
            for key in ("frames", "peak_dbfs", "loudness_lufs", "voices_stolen", "peak_voices"):
                assert mine[key] == other[key]


def parts_of_a_whole(folder: Path, names: list[str], together: str = "whole") -> list[Job]:
    folder.mkdir(exist_ok=True)
    scores = [score_of_notes(parse_notes(notes)) for notes in ("C3:0:.3:127 E3:.1:.3", "G3:0:.2:60")]
    treatment = Treatment("24", gain=50.0, tail=0.05)
    outputs = [OutputFile(folder / name, score) for name, score in zip(names, scores, strict=True)]
    return [Job(load_preset("plain"), Manner(8_000, polyphony=4), treatment, (output,), together) for output in outputs]


def test_parts_of_a_whole_get_one_gain_in_whatever_processes(tmp_path: Path) -> None:
    apart = parts_of_a_whole(tmp_path / "apart", ["a.wav", "b.wav"])
    first, second = parts_of_a_whole(tmp_path / "one", ["a.wav", "b.wav"])
    one = replace(first, outputs=first.outputs + second.outputs)
    reports = [r for outcome in run_jobs(apart, lambda _: None, workers=2) for r in outcome.reports]
    assert [outcome.error for outcome in run_jobs([one], lambda _: None)] == [""]
    assert reports[0]["gain_db"] == reports[1]["gain_db"] < 50.0
    assert reports[0]["peak_dbfs"] == pytest.approx(-0.1, abs=1e-3)
    assert reports[1]["peak_dbfs"] < -3.0
    for name in ("a.wav", "b.wav"):
        assert (tmp_path / "apart" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_a_whole_of_which_a_part_fails_is_given_up(tmp_path: Path) -> None:
    """Nobody waits for ever for a peak that does not come."""
    jobs = parts_of_a_whole(tmp_path / "some", ["missing/a.wav", "b.wav"])
    alone = parts_of_a_whole(tmp_path / "some", ["c.wav", "d.wav"], together="")
    bad, other, *fine = run_jobs([*jobs, *alone], lambda _: None, workers=2)
    assert "its folder does not exist" in bad.error
    assert "another part of the same whole could not be played" in other.error
    assert [outcome.error for outcome in fine] == ["", ""]
    assert sorted(path.name for path in (tmp_path / "some").iterdir()) == ["c.wav", "d.wav"]


def test_a_failing_job_does_not_stop_the_others(tmp_path: Path) -> None:
    score = score_of_notes(parse_notes(NOTES))
    names = {"bad": "missing/a.wav", "good": "b.wav"}
    jobs = [
        Job(
            load_preset("plain"),
            Manner(polyphony=2),
            Treatment(tail=0.0),
            (OutputFile(tmp_path / name, score),),
        )
        for name in names.values()
    ]
    bad, good = run_jobs(jobs, lambda _: None, workers=2)
    assert "its folder does not exist" in bad.error
    assert bad.exit_code == 6
    assert good.error == ""
    assert soundfile.info(tmp_path / "b.wav").frames == round(score.length * 48_000)


LONG = " ".join(f"{key}:{beat}:1" for beat in range(1800) for key in ("C3", "E3", "G3"))


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("options", "everybody"),
    [
        ("sitar-string -o a.wav", False),
        ("sitar-string plain", True),
        ("sitar-string plain", False),
        ("plain --normalize", True),
    ],
)
def test_an_interrupt_ends_all_and_leaves_nothing(tmp_path: Path, options: str, everybody: bool) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [*COMMAND, *options.split(), "--notes", LONG]
    running = subprocess.Popen(
        command, cwd=tmp_path, env=environment, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        wanted = min(2, cores()) if options == "sitar-string plain" else 1
        deadline = time.monotonic() + 180  # the first run may have to compile
        while len(list(tmp_path.glob(".jawari-*.part"))) < wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        assert running.poll() is None
        (os.killpg if everybody else os.kill)(running.pid, signal.SIGINT)
        out, error = running.communicate(timeout=300)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
    said = [line for line in error.splitlines() if "compiling for this machine" not in line]
    assert (running.returncode, out, said) == (130, "", ["jawari: interrupted"])
    assert list(tmp_path.iterdir()) == []


MEMORY = """
import resource, sys
from engine.cli import main
def render(minutes, name):
    notes = f"C3:0:1 G3:{60 * minutes - 1}:1"
    assert main(["render", "plain", "--polyphony", "2", "--notes", notes, "--block-size", "4096", "-o", name]) == 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = render(0.05, "short.wav")
for name in ("long.wav", "long.flac"):
    print("grown by", (render(10, name) - before) / 1024, "MB")
"""


@pytest.mark.skipif(os.name == "nt", reason="measured as POSIX does")
def test_ten_minutes_need_no_more_memory_than_three_seconds(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", MEMORY], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    grown = [float(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("grown")]
    assert len(grown) == 2
    assert max(grown) < 20.0
    assert soundfile.info(tmp_path / "long.wav").duration > 600.0


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6))
def test_mutated_songs_are_rendered_soundly(changes: list[tuple[int, int]]) -> None:
    file = mido.MidiFile(ticks_per_beat=24)
    for channel in range(2):
        track = file.add_track()
        for key in range(40, 60, 3):
            track.append(mido.Message("note_on", channel=channel, note=key, time=1))
            track.append(mido.Message("pitchwheel", channel=channel, pitch=100 * key))
            track.append(mido.Message("note_off", channel=channel, note=key, time=1))
    data = bytearray(midi_bytes(file))
    for at, value in changes:
        data[at % len(data)] = value
    try:
        score = parse_midi(bytes(data))
    except ScoreError:
        return
    audio = render("plain", score.between(0.0, 0.2), polyphony=2, tail=0.01)
    assert np.isfinite(audio).all()
    assert np.abs(audio).max(initial=0.0) <= 10 ** (-0.1 / 20)


def test_each_key_is_designed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that were looked at beforehand, for the note on silent ones."""
    # Nothing is designed where an earlier run, or another test, has left the whole instrument in the cache.
    monkeypatch.setattr(cache, "_place", lambda: cache.CacheFolder(tmp_path / "cache"))
    designed: list[float] = []

    def counted(problem: Problem, *how: Any, **more: Any) -> modal.Design:
        designed.append(problem.string.tension)
        return modal_design(problem, *how, **more)

    modal_design = modal.design
    monkeypatch.setattr(modal, "design", counted)
    notes = ("--notes", "C4:0:.01 E4:0:.01", "--tail", "0 s")
    assert cli.main(["render", "plain", *notes, "-o", str(tmp_path / "two.wav")]) == 0
    assert len(designed) == len(set(designed)) == 128
