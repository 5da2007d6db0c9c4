"""The tape: exactly what the card was given, and what found no room is counted where it is missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from live.driving import Card
from synth.playing import instrument, on

from engine.files.unfinished import Unfinished
from engine.live import sound_take
from engine.live.player import Player
from engine.live.sound_take import SoundTake, head_of
from engine.live.thread.tape import Tape

RATE = 48_000


def recording(channels: int = 2, seconds: float = 0.1) -> tuple[Player, Card, Tape]:
    """A player of which a tape runs along."""
    player = Player(RATE, 128, channels)
    tape = Tape(RATE, channels, seconds)
    player.record(tape)
    return player, Card(player), tape


def emptied(tape: Tape) -> np.ndarray:
    found = []
    while len(new := tape.new()):
        found.append(new.copy())
        tape.drop(len(new))
    return np.concatenate(found) if found else np.zeros((0, tape.channels), np.float32)


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_the_tape_has_every_sample_that_the_card_got(channels: int) -> None:
    player, card, tape = recording(channels)
    assert player.change(instrument("modal"))
    rng, heard = np.random.default_rng(channels), []
    for n in range(400):
        if n % 90 == 0:
            player.send(on(50 + n // 90, 100), int(card.time))
        card.run(1, int(rng.choice([1, 17, 64, 128, 441, 1024])))
        if n % 3 == 0:
            heard.append(emptied(tape))
    got = np.concatenate([*heard, emptied(tape)])
    assert np.abs(got).max() > 0.01
    assert (got.view(np.int32) == np.concatenate(card.heard).view(np.int32)).all()
    assert (tape.lost, tape.gaps) == (0, [])


def test_without_a_tape_nothing_is_written() -> None:
    player = Player(RATE, 128)
    assert Card(player).run(3).shape == (384, 2)


def test_what_finds_no_room_is_counted_where_it_is_missing() -> None:
    _, card, tape = recording(seconds=0.02)  # 1024 frames
    card.run(8)  # full
    card.run(3)
    assert (tape.lost, tape.gaps) == (384, [(1024, 384)])
    tape.drop(512)
    card.run(5)
    assert tape.gaps == [(1024, 384), (1536, 128)]
    assert len(emptied(tape)) == 1024
    for _ in range(200):
        card.run(9)
        emptied(tape)
    assert tape.lost == 384 + 128 * 201 == sum(count for _, count in tape.gaps)
    assert tape.gaps[2] == (2560, 128)
    assert len(tape.gaps) == 64


# --- on disk ----------------------------------------------------------------------------------------------------------

SOUND = np.random.default_rng(1).standard_normal((5000, 2)).astype(np.float32)
SOUND[7] = 1e-41, np.nan


def taken(folder: Path, name: str, sound: np.ndarray = SOUND) -> SoundTake:
    """A take of this sound, all of it on disk."""
    tape = Tape(RATE, sound.shape[1])
    take = SoundTake.begin(folder / name, RATE, tape)
    for piece in np.array_split(sound, 9):
        tape._ring[: len(piece)] = piece  # as if the tape had just been turned back to its beginning
        tape._memory.written[0], tape._memory.read[0] = len(piece), 0
        take.collect()
    return take


def test_a_wav_file_has_the_very_bits(tmp_path: Path) -> None:
    take = taken(tmp_path, "take.wav")
    before = (tmp_path / "take.wav.unfinished").stat().st_ino
    take.write(tmp_path / "take.wav", force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["take.wav"]
    assert (tmp_path / "take.wav").stat().st_ino == before, "nothing is copied, so no room is needed"
    found, rate = soundfile.read(tmp_path / "take.wav", dtype="float32")
    assert rate == RATE
    assert (found.view(np.int32) == SOUND.view(np.int32)).all()
    assert soundfile.info(tmp_path / "take.wav").subtype == "FLOAT"


def test_flac_is_made_of_it(tmp_path: Path) -> None:
    sound = np.clip(np.nan_to_num(SOUND), -0.9, 0.9)
    taken(tmp_path, "take.flac", sound).write(tmp_path / "take.flac", force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["take.flac"]
    found, _ = soundfile.read(tmp_path / "take.flac")
    assert np.abs(found - sound).max() < 2.0**-23


def test_what_was_left_can_be_played_and_finished(tmp_path: Path) -> None:
    take = taken(tmp_path, "take.wav", SOUND[:, :1])
    part = take.file.path
    left = part.read_bytes() + b"\1\2\3"  # the last frame is not whole
    take.file.remove()
    part.write_bytes(left)
    assert (
        soundfile.info(
            part,
        ).channels
        == 1
    )
    file = Unfinished.left(part)
    assert file is not None
    again = SoundTake.left(file)
    assert again is not None
    assert again.length == f"{5000 / RATE:.1f} s"
    again.write(tmp_path / "take.wav", force=False)
    found, _ = soundfile.read(tmp_path / "take.wav", dtype="float32")
    assert (found.view(np.int32) == SOUND[:, 0].view(np.int32)).all()


def test_heads_of_every_size() -> None:
    for frames in (0, 1, 10**6, 2**29 - 100, 2**31, 2**40):
        head = head_of(RATE, 2, frames)
        size = 8 * frames
        assert len(head) == 94
        if size + 94 < 2**32:
            assert head[:4] == b"RIFF"
            assert int.from_bytes(head[4:8], "little") == size + 86
            assert int.from_bytes(head[-4:], "little") == size
        else:
            assert head[:4] == b"RF64"
            assert head[12:16] == b"ds64"
            assert int.from_bytes(head[20:28], "little") == size + 86
            assert int.from_bytes(head[28:36], "little") == size
            assert int.from_bytes(head[36:44], "little") == frames


def test_a_large_file_is_known_as_such(tmp_path: Path) -> None:
    """Sparse: five gigabytes of silence."""
    path, frames = tmp_path / "large.wav", 5 * 2**27
    with path.open("wb") as file:
        file.write(head_of(RATE, 2, frames))
        file.truncate(94 + 8 * frames)
    info = soundfile.info(path)
    assert (info.frames, info.format) == (frames, "RF64")


@pytest.mark.parametrize("data", [b"", b"RIFF", bytes(200), head_of(0, 2, None), head_of(RATE, 2, 7) + bytes(8)])
def test_other_files_are_none_of_ours(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.wav.unfinished").write_bytes(data)
    file = Unfinished.left(tmp_path / "x.wav.unfinished")
    assert file is not None
    assert SoundTake.left(file) is None
    file.close()
    assert sound_take.WAVES == (".wav", ".wave")
