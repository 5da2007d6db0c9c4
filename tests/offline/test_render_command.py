"""`jawari render` from arguments to files, with an instrument whose sound is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import mido
import numpy as np
import pytest
import soundfile
from live.screen import Screen, Stream
from numpy.typing import NDArray
from offline.fake_instrument import FakeInstrument, use_fakes

from engine import cli, load_preset
from engine.files.formats import FORMATS
from engine.music.errors import ScoreError
from engine.music.note import Note
from engine.music.sources import read_score
from engine.offline import progress
from engine.offline.render import render
from engine.preset.files import shipped
from engine.synth.output import CEILING, limit_block

Run = Callable[..., int]


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The fake instrument in one process, in an empty folder."""
    use_fakes(monkeypatch)
    monkeypatch.chdir(tmp_path)
    yield
    FakeInstrument.interrupt_at = None


def jawari(*arguments: object) -> int:
    return cli.main(["render", *map(str, arguments)])


def read(path: str | Path) -> NDArray[np.float64]:
    return soundfile.read(path, always_2d=True)[0]


def song(path: Path) -> mido.MidiFile:
    file = mido.MidiFile(ticks_per_beat=480)
    for channel, key in ((0, 60), (1, 64), (9, 60)):
        track = file.add_track()
        track.append(mido.Message("control_change", channel=channel, control=7, value=99))
        for _ in range(3):
            track.append(mido.Message("note_on", channel=channel, note=key, time=100 * channel))
            track.append(mido.Message("note_off", channel=channel, note=key, time=480))
    file.save(path)
    return file


def test_a_phrase_into_a_wav(capsys: pytest.CaptureFixture[str]) -> None:
    assert jawari("sitar-string") == 0
    said = capsys.readouterr()
    assert said.out.startswith("wrote sitar-string.wav: ")
    assert "peak -" in said.out
    assert "x real time" in said.out
    assert said.err == ""
    info = soundfile.info("sitar-string.wav")
    assert (info.samplerate, info.channels, info.subtype) == (48_000, 2, "PCM_24")
    preset = load_preset("sitar-string")
    np.testing.assert_allclose(read("sitar-string.wav"), render(preset), atol=2**-24)
    assert [path.name for path in Path().iterdir()] == ["sitar-string.wav"]


def test_options_reach_the_instrument() -> None:
    options = "--sample-rate 44100 --block-size 32 --oversample 4 --polyphony 3 --mono --tuning A4=432"
    assert jawari("sitar-string", "--notes", "C4:0:1", *options.split(), "-o", "a.flac", "--bit-depth", "16") == 0
    player = FakeInstrument.made[-1]
    assert (player.rate, player.block_size, player.channels) == (44_100, 32, 1)
    assert player.options["oversample"] == 4
    assert player.options["polyphony"] == 3
    assert player.options["tuning"][69] == pytest.approx(432.0)
    info = soundfile.info("a.flac")
    assert (info.format, info.samplerate, info.channels, info.subtype) == ("FLAC", 44_100, 1, "PCM_16")
    assert jawari("sitar-string", "--set", "polyphony=5", "--notes", "C4:0:1", "-o", "b.wav") == 0
    assert FakeInstrument.made[-1].preset.polyphony == 5


def test_the_same_command_makes_the_same_bytes() -> None:
    for name in ("a", "b"):
        assert jawari("sitar-string", "--notes", "C4:0:1", "--seed", 7, "--bit-depth", 16, "-o", f"{name}.wav") == 0
    assert jawari("sitar-string", "--notes", "C4:0:1", "--seed", 8, "--bit-depth", 16, "-o", "c.wav") == 0
    a, b, c = (Path(f"{name}.wav").read_bytes() for name in "abc")
    assert a == b != c


def test_gain_and_peak_are_as_asked() -> None:
    notes = ("sitar-string", "--notes", "C4:0:1", "--bit-depth", "32f")
    assert jawari(*notes, "-o", "plain.wav") == 0
    for given, db in (("-6", -6.0), ("3 dB", 3.0), ("-12.5dB", -12.5)):
        assert jawari(*notes, "-o", "gain.wav", f"--gain={given}", "--force") == 0
        np.testing.assert_allclose(read("gain.wav"), read("plain.wav") * 10.0 ** (db / 20.0), rtol=1e-6)
    assert jawari(*notes, "--gain", "-6", "-o", "gain.wav", "--force") == 0
    for given, dbfs in (([], -1.0), (["-20"], -20.0), (["0 dBFS"], 0.0)):
        assert jawari(*notes, "-o", "peak.wav", "--force", "--normalize", *given) == 0
        audio = read("peak.wav")
        assert np.abs(audio).max() == pytest.approx(10.0 ** (dbfs / 20.0), rel=1e-6)
        np.testing.assert_allclose(audio, read("plain.wav") * (audio.max() / read("plain.wav").max()), rtol=1e-5)
    assert sorted(path.name for path in Path().iterdir()) == ["gain.wav", "peak.wav", "plain.wav"]


@pytest.mark.parametrize("depth", ["16", "24"])
@pytest.mark.parametrize(("name", "advice"), [("a.wav", ""), ("a.flac", ".wav with ")])
def test_what_is_too_loud_is_lowered_and_told(
    depth: str, name: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("sitar-string", "--notes", "C4:0:1", "--gain", "40")
    assert jawari(*args, "-o", "plain.wav", "--bit-depth", "32f") == 0
    assert capsys.readouterr().err == ""
    assert jawari(*args, "-o", name, "--bit-depth", depth, "--report", "a.json") == 0
    plain, audio = read("plain.wav"), read(name)
    db = 20.0 * np.log10(np.abs(plain).max())
    assert db > 10.0  # floats are as they were played
    line = f"jawari: note: {name}: peak {db:+.1f} dBFS, lowered by {db + 0.1:.1f} dB so that nothing is cut off; "
    assert capsys.readouterr().err == f"{line}{advice}--bit-depth 32f keeps the level, --limit bends\n"
    np.testing.assert_allclose(audio, plain * CEILING / np.abs(plain).max(), atol=2.0 ** (2 - int(depth)))
    (entry,) = json.loads(Path("a.json").read_text())["renders"]
    assert entry["clipped_samples"] == entry["bent_frames"] == 0
    assert entry["played_peak_dbfs"] == pytest.approx(db - 40.0, abs=1e-4)
    assert entry["gain_db"] == pytest.approx(40.0 - db - 0.1, abs=1e-4)
    assert entry["peak_dbfs"] == pytest.approx(-0.1, abs=1e-3)


def test_the_limiter_bends_what_is_loud_and_tells_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    args = ("sitar-string", "--notes", "C4:0:1", "--gain", "30", "--bit-depth", "32f")
    assert jawari(*args, "-o", "plain.wav") == 0
    assert jawari(*args, "--limit", "-o", "a.wav", "--report", "a.json") == 0
    plain, audio = read("plain.wav").astype(np.float32), read("a.wav").astype(np.float32)
    bent = plain.copy()
    count = limit_block(bent.ctypes.data, *bent.shape)
    assert (audio == bent).all()
    (entry,) = json.loads(Path("a.json").read_text())["renders"]
    assert entry["bent_frames"] == count > 1000
    assert entry["bent_share"] == pytest.approx(count / len(plain))
    assert f"{count / len(plain):.2%} of it limited" in capsys.readouterr().out
    assert jawari(*args[:-2], "--limit", "-o", "b.wav") == 0
    np.testing.assert_allclose(read("b.wav"), audio, atol=2.0**-23)


def test_a_loudness_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    for options in ((), ("--bit-depth", "32f"), ("--limit",)):
        assert (
            jawari("sitar-string", "--notes", "C4:0:4 E4:1:4", "--loudness", "-30 LUFS", *options, "-o", "a.wav") == 0
        )
        assert ", -30.0 LUFS, " in capsys.readouterr().out
        Path("a.wav").unlink()
    assert jawari("sitar-string", "--notes", "C4:0:.1", "--tail", "0", "--loudness", "-20", "-o", "a.wav") == 0
    assert "it has no loudness, and is left as it is" in capsys.readouterr().err


def test_who_takes_a_format_without_floats_is_told_which_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.ogg", "a.mp3", "a.opus", "a.flac"):
        assert jawari("sitar-string", "--notes", "C4:0:1", "--gain", "40", "-o", name) == 0
        told = capsys.readouterr().err
        assert "so that nothing is cut off; .wav with --bit-depth 32f keeps the level, --limit bends" in told
        assert jawari("sitar-string", "--notes", "C4:0:1", "-o", name, "--force", "--bit-depth", "32f") != 0
        assert ".wav" in capsys.readouterr().err


def test_stems_are_lowered_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By as much as the loudest of them needs, so that they still add up."""
    song(tmp_path / "song.mid")
    args = ("sitar-string", "--midi", "song.mid", "--tail", "0.5", "--gain", "30", "--stems", "channel", "--drums")
    assert jawari(*args, "-o", "float.wav", "--bit-depth", "32f") == 0
    assert jawari(*args, "-o", "song.wav") == 0
    names = ["01", "02", "10"]
    plain = [read(f"float-channel-{name}.wav") for name in names]
    loudest = max(np.abs(part).max() for part in plain)
    assert loudest > 2.0
    for part, name in zip(plain, names):
        np.testing.assert_allclose(read(f"song-channel-{name}.wav"), part * CEILING / loudest, atol=2e-7)
    assert capsys.readouterr().err.count("lowered by") == 3


def test_a_key_that_cannot_sound_is_told_before_anything_is_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    """In one line for all of them; the report names them key by key."""
    notes = ("--oversample", "1", "--notes", "C4:0:1 126:0:1 127:0:1", "--tail", "0", "--report", "a.json")
    assert jawari("sitar-string", "--set", "model=fd", *notes, "-o", "a.wav") == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("jawari: note: sitar-string: F#9 to G9 are silent: string = 1")
    assert "at 48000 Hz: leaves 1 grid intervals of " in line, "the first one's reason"
    assert json.loads(Path("a.json").read_text())["renders"][0]["silent_keys"] == {"G9": "it is too high"}
    assert jawari("sitar-string", "--set", "model=fd", "--tuning", "A4=1", *notes, "-o", ".") == 6
    assert len(capsys.readouterr().err.splitlines()) == 1, "what cannot be written is said first, and alone"


def test_a_song_with_channel_start_end_and_tail(tmp_path: Path) -> None:
    file = song(tmp_path / "song.mid")
    args = ("sitar-string", "--midi", "song.mid", "--bit-depth", "32f")
    assert jawari(*args, "-o", "all.wav") == 0
    np.testing.assert_allclose(read("all.wav"), render("sitar-string", file), atol=1e-7)
    np.testing.assert_array_equal(render("sitar-string", "song.mid"), render("sitar-string", tmp_path / "song.mid"))
    assert jawari(*args, "-o", "tail.wav", "--tail", "250 ms") == 0
    assert len(read("tail.wav")) == round((file.length + 0.25) * 48_000)
    assert jawari(*args, "-o", "two.wav", "--channel", "2", "--channel", "10", "--tail", "0") == 0
    assert {data[0] & 0x0F for _, data in FakeInstrument.made[-1].seen} == {1, 9}
    assert jawari(*args, "-o", "part.wav", "--start", "0.6", "--end", "1 s", "--tail", "1") == 0
    assert len(read("part.wav")) == round(1.4 * 48_000)


def test_stems_add_up_to_the_mix(tmp_path: Path) -> None:
    song(tmp_path / "song.mid")
    args = ("sitar-string", "--midi", "song.mid", "--drums", "--bit-depth", "32f", "--tail", "0.5")
    assert jawari(*args, "-o", "mix.wav") == 0
    for by, names in (("channel", ["01", "02", "10"]), ("key", ["060", "064"])):
        assert jawari(*args, "-o", "song.wav", "--stems", by) == 0
        parts = [f"song-{by}-{name}.wav" for name in names]
        assert sorted(map(str, Path().glob(f"song-{by}-*"))) == parts
        np.testing.assert_allclose(sum(read(part) for part in parts), read("mix.wav"), atol=1e-6)


def test_several_presets_go_into_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sounds").mkdir()
    assert (
        jawari(
            "--all-presets",
            "-o",
            "sounds",
            "--format",
            "flac",
            "--end",
            "200 ms",
            "--tail",
            "0",
            "--report",
            "all.json",
        )
        == 0
    )
    assert sorted(path.stem for path in Path("sounds").glob("*.flac")) == sorted(shipped())
    report = json.loads(Path("all.json").read_text())
    assert [Path(entry["file"]).name for entry in report["renders"]] == sorted(f"{name}.flac" for name in shipped())
    assert capsys.readouterr().out.count("wrote ") == len(shipped())
    assert jawari("sitar-string", "tanpura-string", "--notes", "C4:0:1") == 0
    assert Path("sitar-string.wav").is_file()
    assert Path("tanpura-string.wav").is_file()


def test_the_report_tells_what_came_out() -> None:
    assert (
        jawari("sitar-string", "--notes", "C4:0:2", "-o", "a.wav", "--tail", "1", "--seed", "3", "--report", "a.json")
        == 0
    )
    report = json.loads(Path("a.json").read_text())
    assert {"jawari", "python", "numpy", "numba", "soundfile", "libsndfile"} <= set(report["versions"])
    assert (report["seed"], report["sample_rate"], report["bit_depth"]) == (3, 48_000, "24")
    assert report["input"] == {"midi": None, "notes": "C4:0:2", "set": [], "remarks": []}
    (entry,) = report["renders"]
    audio = read("a.wav")
    assert entry["file"] == "a.wav"
    assert entry["preset"] == "Sitar string"
    assert entry["frames"] == len(audio) == 3 * 48_000
    assert entry["peak_dbfs"] == pytest.approx(20.0 * np.log10(np.abs(audio).max()), abs=1e-4)
    assert -40.0 < entry["loudness_lufs"] < entry["peak_dbfs"]
    assert entry["speed"] == pytest.approx(3.0 / entry["render_seconds"])
    assert (entry["voices_stolen"], entry["watchdog"], entry["events_lost"], entry["peak_voices"]) == (0, 0, 0, 1)


def test_a_damaged_file_is_played_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    song(tmp_path / "song.mid")
    whole = (tmp_path / "song.mid").read_bytes()
    (tmp_path / "cut.mid").write_bytes(whole[: len(whole) // 2])
    assert jawari("sitar-string", "--midi", "cut.mid", "-o", "a.wav", "--tail", "0", "--report", "a.json") == 0
    said = capsys.readouterr().err.splitlines()
    assert "jawari: note: cut.mid: track 2 is cut short: played as far as it goes" in said
    assert "jawari: note: cut.mid: only 2 of 3 tracks are there" in said
    assert json.loads(Path("a.json").read_text())["input"]["remarks"] == [line.split("mid: ")[1] for line in said]
    (tmp_path / "cut.mid").write_bytes(whole[:20])
    assert jawari("sitar-string", "--midi", "cut.mid", "-o", "b.wav") == 7
    assert "cut.mid: no note begins (track 1 is cut short" in capsys.readouterr().err


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_names_their_suffix(name: str) -> None:
    assert jawari("sitar-string", "--notes", "C4:0:1 E4:0:1", "--tail", "0", "--format", name, "--stems", "key") == 0
    (folder := Path("folder")).mkdir()
    assert (
        jawari(
            "sitar-string", "tanpura-string", "--notes", "C4:0:1", "--tail", "0", "--format", name, "-o", str(folder)
        )
        == 0
    )
    stems = ("sitar-string-key-060", "sitar-string-key-064", "folder/sitar-string", "folder/tanpura-string")
    for path in stems:
        assert soundfile.info(f"{path}.{name}").frames == 48_000
        assert soundfile.info(f"{path}.{name}").format == FORMATS[name].container


REFUSALS: list[tuple[str, int, str]] = [
    ("", 2, "no preset is named; name one"),
    ("sitra", 3, "did you mean sitar?"),
    ("sitar-string --set strin.length=1", 3, "strin"),
    ("sitar-string -o missing/a.wav", 6, "its folder does not exist"),
    ("sitar-string -o folder", 6, "is a folder; name a file in it"),
    ("sitar-string -o there.wav", 6, "exists already"),
    ("sitar-string -o a.m4a", 6, "name it .wav, .flac, .aiff, .ogg, .opus or .mp3"),
    ("sitar-string -o a.mp3 --sample-rate 96000", 6, "MP3 has no 96000 Hz, only 8000, 11025,"),
    (
        "sitar-string --format opus --sample-rate 44100",
        6,
        "sitar-string.opus: Opus has no 44100 Hz, only 8000, 12000, 16000, 24000 and",
    ),
    ("sitar-string -o a.ogg --bit-depth 16", 6, "OGG has no bit depth; leave it out, or take .wav"),
    ("sitar-string -o a.flac --bit-depth 32f", 6, "FLAC holds whole numbers only"),
    ("sitar-string tanpura-string -o a.wav", 6, "several presets need one"),
    ("sitar-string sitar-string", 6, "would be written 2 times"),
    ("sitar-string -o a.wav --report a.wav", 6, "would be written 2 times"),
    ("sitar-string --report there.wav", 6, "exists already"),
    ("sitar-string --report missing/a.json", 6, "its folder does not exist"),
    ("sitar-string --midi none.mid", 7, "none.mid: there is no such file"),
    ("sitar-string --midi folder", 7, "folder: is a folder"),
    ("sitar-string --midi there.wav", 7, "there.wav: is not a MIDI file"),
    ("sitar-string --notes C4", 7, "--notes: C4 is not a note"),
    ("sitar-string --notes C4:0:1 --channel 2", 7, "the notes: no note begins in this channel or time"),
    ("sitar-string --notes C4:0:1 --start 2", 7, "no note begins in this channel or time"),
    ("sitar-string --notes C4:99999:1", 7, "cut it with start and end"),
    ("sitar-string --channel 17", 2, "--channel = 17: must be 1 to 16"),
    ("sitar-string --start 2 --end 1", 2, "the end after the start"),
    ("sitar-string --start -1", 2, "must be 0 or more"),
    ("sitar-string --end soon", 2, "--end = soon: must be a time"),
    ("sitar-string --tail -1", 2, "tail = -1: must be 0 to"),
    ("sitar-string --seed -1", 2, "--seed = -1: must be 0 or more"),
    ("sitar-string --gain loud", 2, "--gain = loud: must be"),
    ("sitar-string --gain 2000", 2, "must be -200 to 200 dB"),
    ("sitar-string --stems key --normalize", 2, "use --gain"),
    ("sitar-string --stems key --loudness -16", 2, "use --gain"),
    ("sitar-string --limit --normalize", 2, "--normalize leaves nothing for --limit to do"),
    ("sitar-string --loudness loud", 2, "--loudness = loud: must be"),
    ("sitar-string --sample-rate 44100.5", 2, "must be a whole number"),
    ("sitar-string --sample-rate 1kg", 2, "--sample-rate = 1kg"),
    ("sitar-string --tuning nonsense", 3, "--tuning: nonsense must be equal"),
]


@pytest.mark.parametrize(("line", "code", "told"), REFUSALS)
def test_a_mistake_is_one_line_and_an_exit_code(
    line: str, code: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "there.wav").touch()
    assert jawari(*line.split()) == code
    said = capsys.readouterr()
    assert told in said.err
    assert said.err.startswith("jawari: ")
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "there.wav"]


@pytest.mark.parametrize("at", [1, 5000, 40_000])
@pytest.mark.parametrize("options", ["", "--normalize", "--stems key", "--report a.json", "-o a.flac"])
def test_an_interrupt_leaves_nothing(at: int, options: str, capsys: pytest.CaptureFixture[str]) -> None:
    FakeInstrument.interrupt_at = at
    assert jawari("sitar-string", "--notes", "C4:0:1", *options.split()) == 130
    assert list(Path().iterdir()) == []
    assert capsys.readouterr().err == "jawari: interrupted\n"


def test_the_bar_shows_where_it_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for screen in (Screen(), None):
        stream = Stream(screen)
        with progress.Progress("Sitar", 10.0, stream) as bar:  # type: ignore[arg-type]
            assert screen is None or screen.lines == ["Sitar is being set up"]
            bar.advance(0.5)
            bar.advance(2.0)
            assert bar.line(bar._began + 0.5) == "Sitar [######..................]  25%  4.0x real time"
            bar.advance(7.6)
            assert "] fading  9.6x real time" in bar.line(bar._began + 1.0)
        assert bool(stream.writes) == (screen is not None)
        assert screen is None or screen.lines == [""]


def test_everything_that_can_be_played() -> None:
    notes = [Note(60, 100, 0.0, 0.5)]
    expected = render("sitar-string", notes)
    assert expected.shape[1] == 2
    assert expected.dtype == np.float32
    assert render("sitar-string", notes, mono=True).shape[1] == 1
    messages = [mido.Message("note_on", note=60, velocity=100), mido.Message("note_off", note=60, time=0.5)]
    file = mido.MidiFile(ticks_per_beat=480)
    file.tracks.append(mido.MidiTrack([messages[0], messages[1].copy(time=480)]))
    for source in ("C4:0:.5", messages, file, iter(notes), read_score(notes)):
        np.testing.assert_array_equal(render("sitar-string", source), expected)
    for wrong in (60, [60], [notes[0], messages[0]], b"C4:0:1"):
        with pytest.raises(ScoreError, match="notes"):
            render("sitar-string", wrong)


def test_help_tells_what_it_should(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        jawari("--help")
    text = capsys.readouterr().out
    assert "examples:" in text
    assert "exit codes:" in text
    assert "None" not in text
