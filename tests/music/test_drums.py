"""Channel 10 of MIDI files: drums, that no string can play, unless somebody says that they are notes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import mido
import numpy as np
import pytest
import soundfile
from offline.fake_instrument import use_fakes

from engine import cli
from engine.music.errors import ScoreError
from engine.music.midi_file import midi_bytes, parse_midi
from engine.music.note import Note
from engine.music.score import Score
from engine.music.sources import read_score
from engine.offline.render import render

DRUMS = 9


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_fakes(monkeypatch)
    monkeypatch.chdir(tmp_path)


def song(channels: Sequence[int] = (0, DRUMS), first: Sequence[mido.Message | mido.MetaMessage] = ()) -> mido.MidiFile:
    """Two notes on each channel."""
    file = mido.MidiFile(type=0)
    track = file.add_track()
    track.extend(first)
    for channel in channels:
        for _ in range(2):
            track.append(mido.Message("note_on", channel=channel, note=40 + channel))
            track.append(mido.Message("note_off", channel=channel, note=40 + channel, time=100))
    return file


def control(channel: int, number: int, value: int) -> mido.Message:
    return mido.Message("control_change", channel=channel, control=number, value=value)


MPE = [control(0, 101, 0), control(0, 100, 6), control(0, 6, 15)]
TAKE = [mido.MetaMessage("text", text='jawari {"preset": "sitar-string"}')]


def skipped(file: mido.MidiFile) -> Score:
    return parse_midi(midi_bytes(file)).without_drums()


def test_they_are_left_out_with_a_remark() -> None:
    score = skipped(song())
    assert score.keys == [40]
    assert score.remarks == ("channel 10 is drums: 2 notes skipped; --drums plays them",)
    assert score.length == parse_midi(midi_bytes(song())).length


@pytest.mark.parametrize("first", [MPE, TAKE], ids=["MPE", "take"])
def test_but_not_where_the_channel_is_like_any_other(first: list[mido.Message]) -> None:
    score = skipped(song(first=first))
    assert score.keys == [40, 49]
    assert score.remarks == ()


def test_a_file_without_them_has_no_remark() -> None:
    assert skipped(song([0, 3])).remarks == ()
    assert skipped(song([0], [control(DRUMS, 7, 9)])).remarks == ()


def test_only_files_have_drums(tmp_path: Path) -> None:
    """Whoever writes a note of channel 10 by hand means it."""
    file = song()
    file.save(tmp_path / "song.mid")
    for source in (file, tmp_path / "song.mid", str(tmp_path / "song.mid")):
        assert read_score(source).keys == [40]
        assert read_score(source, drums=True).keys == [40, 49]
    now, messages = 0.0, []
    for message in file:
        now += message.time
        messages.append(message.copy(time=now))
    assert read_score(messages).keys == [40, 49]
    assert read_score([Note(49, channel=DRUMS)]).keys == [49]


def test_render_plays_them_if_asked() -> None:
    whole, without = render("sitar-string", song(), drums=True, tail=0.0), render("sitar-string", song(), tail=0.0)
    assert (without == render("sitar-string", song([0]), tail=0.4)[: len(without)]).all()
    assert np.abs(whole - without).max() > 0.0
    with pytest.raises(ScoreError, match=r"channel 10 only.*drums=True"):
        render("sitar-string", song([DRUMS]))


def jawari(*arguments: object) -> int:
    return cli.main(["render", "sitar-string", "-o", "out.wav", "--force", *map(str, arguments)])


def test_the_command_says_so_and_plays_them_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    song().save("song.mid")
    assert jawari("--midi", "song.mid") == 0
    without = soundfile.read("out.wav")[0]
    told = "jawari: note: song.mid: channel 10 is drums: 2 notes skipped; --drums plays them\n"
    assert capsys.readouterr().err == told
    for asked in (["--drums"], ["--channel", 10, "--channel", 1]):
        assert jawari("--midi", "song.mid", *asked) == 0
        assert capsys.readouterr().err == ""
        whole = soundfile.read("out.wav")[0]
        assert np.abs(whole[: len(without)] - without[: len(whole)]).max() > 0.0


def test_a_file_of_nothing_else_is_refused_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    song([DRUMS]).save("drums.mid")
    assert jawari("--midi", "drums.mid") == 7
    said = capsys.readouterr().err.strip()
    assert said.count("\n") == 0
    assert "no note begins (channel 10 is drums: 2 notes skipped; --drums plays them); nothing to render" in said
    assert not Path("out.wav").exists()
