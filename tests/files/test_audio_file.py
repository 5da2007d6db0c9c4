"""Audio files read back, byte for byte where that is promised; and the many ways in which none may appear."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import soundfile
from files.other_programs import PROGRAMS, complaints
from numpy.typing import NDArray

from engine.files.audio_file import AudioFile, Format, audio_file, check_sound_target
from engine.files.errors import FileError
from engine.files.formats import FORMATS, SUFFIXES
from engine.files.ogg import NUMBER, checksum
from engine.files.target import check_target
from engine.files.wav import LARGEST_WAV
from engine.offline.report import write_report

RATE = 48_000


def noise(frames: int = 10_000, channels: int = 2, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (frames, channels)).astype(np.float32)


def write(path: Path, audio: NDArray[np.float32], form: Format, chunk: int = 4096, frames: int = 0) -> AudioFile:
    with audio_file(path, form, frames or len(audio)) as file:
        for at in range(0, len(audio), chunk):
            file.write(audio[at : at + chunk])
    return file


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".WAV", ".aiff", ".aif"])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [8_000, 44_100, 48_000, 192_000])
def test_24_bits_are_read_back_to_the_last(tmp_path: Path, suffix: str, channels: int, rate: int) -> None:
    path, audio = tmp_path / f"sound{suffix}", noise(channels=channels)
    file = write(path, audio, Format(rate, channels))
    info = soundfile.info(path)
    assert (info.samplerate, info.channels, info.frames, info.subtype) == (rate, channels, len(audio), "PCM_24")
    back, _ = soundfile.read(path, dtype="int32", always_2d=True)
    expected = np.rint(audio.astype(float) * 2**23)
    np.testing.assert_array_equal(back >> 8, np.clip(expected, -(2**23), 2**23 - 1))
    assert file.clipped == (expected == 2**23).sum()


@pytest.mark.parametrize("name", ["sound.wav", "sound.aiff"])
def test_floats_are_read_back_exactly_even_beyond_full_scale(tmp_path: Path, name: str) -> None:
    audio = noise() * np.float32(3.0)
    file = write(tmp_path / name, audio, Format(RATE, 2, "32f"))
    back, _ = soundfile.read(tmp_path / name, dtype="float32")
    np.testing.assert_array_equal(back, audio)
    assert file.clipped == 0


KINDS = [f"{codec.suffixes[0]} {depth}" for codec in FORMATS.values() for depth in codec.depths or ("24",)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_sound_makes_the_same_bytes(tmp_path: Path, kind: str) -> None:
    audio, (suffix, depth) = noise(), kind.split()
    with pytest.MonkeyPatch.context() as later:
        write(tmp_path / f"a{suffix}", audio, Format(RATE, 2, depth))
        # A day later, in other chunks.
        import time

        now = time.time()
        later.setattr(time, "time", lambda: now + 86_400)
        write(tmp_path / f"b{suffix}", audio, Format(RATE, 2, depth), chunk=1000)
    first, second = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
    assert first == second
    header = first[:200]
    assert b"PEAK" not in header or header[header.index(b"PEAK") + 12 :][:4] == bytes(4)
    assert soundfile.info(tmp_path / f"a{suffix}").frames == len(audio)


def test_dither_is_triangular_and_follows_the_seed(tmp_path: Path) -> None:
    steady = np.full((200_000, 1), 0.3 / 2**15, np.float32)
    for seed, name in ((1, "a"), (1, "b"), (2, "c")):
        write(tmp_path / f"{name}.wav", steady, Format(RATE, 1, "16", seed))
    a, b, c = (soundfile.read(tmp_path / f"{name}.wav", dtype="int16")[0].astype(float) for name in "abc")
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()
    assert set(a) == {-1.0, 0.0, 1.0}  # one step either way, rounded
    # Neither mean nor variance of the error depends on the sound: the variance is that of TPDF and of rounding, 1/4.
    for level in (0.0, 0.3, 0.5, 0.77):
        with audio_file(tmp_path / f"{level}.wav", Format(RATE, 1, "16"), 0) as file:
            file.write(np.full((200_000, 1), level / 2**15, np.float32))
        error = soundfile.read(tmp_path / f"{level}.wav", dtype="int16")[0] - level
        assert error.mean() == pytest.approx(0.0, abs=0.005)
        assert error.var() == pytest.approx(0.25, abs=0.005)


def test_past_four_gigabytes_it_is_rf64(tmp_path: Path) -> None:
    most = LARGEST_WAV // 6
    for frames, depth, container in ((most, "24", "WAV"), (most + 1, "24", "RF64"), (most, "32f", "RF64")):
        file = write(tmp_path / f"{frames}{depth}.wav", noise(10), Format(RATE, 2, depth), frames=frames)
        assert file.container == soundfile.info(tmp_path / f"{frames}{depth}.wav").format == container
    assert write(tmp_path / "a.flac", noise(10), Format(RATE, 2), frames=10 * most).container == "FLAC"
    for depth in ("16", "24", "32f"):
        write(tmp_path / f"{depth}.wav", noise(), Format(RATE, 2, depth), frames=10 * most)
        assert (tmp_path / f"{depth}.wav").read_bytes()[:4] == b"RF64"
        assert soundfile.info(tmp_path / f"{depth}.wav").frames == 10_000
    np.testing.assert_array_equal(soundfile.read(tmp_path / "32f.wav", dtype="float32")[0], noise())


@pytest.mark.parametrize("frames", [0, 1, 999, 1000])
@pytest.mark.parametrize("depth", ["16", "24", "32f"])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_wav_is_made_of_whole_chunks_of_even_size(tmp_path: Path, frames: int, depth: str, channels: int) -> None:
    """As the format asks; libsndfile, which is forgiving, is no judge of that."""
    write(tmp_path / "a.wav", noise(frames, channels), Format(RATE, channels, depth))
    content = (tmp_path / "a.wav").read_bytes()
    whole, at, sizes = int.from_bytes(content[4:8], "little"), 12, {}
    assert (content[:4], content[8:12], whole) == (b"RIFF", b"WAVE", len(content) - 8)
    while at < len(content):
        sizes[content[at : at + 4]] = size = int.from_bytes(content[at + 4 : at + 8], "little")
        at += 8 + size + size % 2
    assert at == len(content)
    frame = channels * {"16": 2, "24": 3, "32f": 4}[depth]
    expected = (
        {b"fmt ": 18, b"fact": 4, b"data": frames * frame} if depth == "32f" else {b"fmt ": 16, b"data": frames * frame}
    )
    assert sizes == expected


# --- lossy formats ----------------------------------------------------------------------------------------------------

LOSSY = [name for name, codec in FORMATS.items() if codec.lossy]


def plucked(rate: int = RATE, seconds: float = 0.5) -> NDArray[np.float32]:
    """Something like a string: partials that die away, another pitch on each side."""
    t = np.arange(round(seconds * rate))[:, None] / rate
    partials = [np.sin(2 * np.pi * n * t * [220.0, 330.0]) * np.exp(-3.0 * n * t) / n for n in range(1, 9)]
    return (0.2 * np.sum(partials, axis=0)).astype(np.float32)


@pytest.mark.parametrize("name", LOSSY)
@pytest.mark.parametrize("channels", [1, 2])
def test_what_lossy_formats_keep(tmp_path: Path, name: str, channels: int) -> None:
    """As long as the sound was, in its place, and 30 dB below it what was lost."""
    audio = plucked()[:, :channels]
    file = write(tmp_path / f"a.{name}", audio, Format(RATE, channels))
    back, rate = soundfile.read(tmp_path / f"a.{name}", dtype="float32", always_2d=True)
    assert (rate, back.shape, file.clipped) == (RATE, audio.shape, 0)
    assert soundfile.info(tmp_path / f"a.{name}").subtype == FORMATS[name].coding
    assert np.sqrt(np.mean((back - audio) ** 2)) < 10 ** (-30 / 20) * np.sqrt(np.mean(audio**2))


@pytest.mark.parametrize("name", LOSSY)
def test_chunks_do_not_matter_to_lossy_formats_either(tmp_path: Path, name: str) -> None:
    for chunk in (1000, 4096, 10**6):
        write(tmp_path / f"{chunk}.{name}", plucked(), Format(RATE, 2), chunk)
    one, *others = [path.read_bytes() for path in tmp_path.iterdir()]
    assert all(other == one for other in others)


def test_what_a_lossy_format_cuts_off_is_counted(tmp_path: Path) -> None:
    assert (
        write(tmp_path / "a.ogg", 4.0 * plucked(), Format(RATE, 2)).clipped == (np.abs(4.0 * plucked()) > 1.0).sum() > 0
    )


@pytest.mark.parametrize("name", ["ogg", "opus"])
def test_every_page_of_an_ogg_file_has_the_same_number_and_a_right_checksum(tmp_path: Path, name: str) -> None:
    write(tmp_path / f"a.{name}", plucked(), Format(RATE, 2))
    content, at, pages = (tmp_path / f"a.{name}").read_bytes(), 0, 0
    while at < len(content):
        header = 27 + content[at + 26]
        page = content[at : at + header + sum(content[at + 27 : at + header])]
        assert (page[:4], page[14:18]) == (b"OggS", NUMBER)
        assert (
            page[22:26] == long_division(page[:22] + bytes(4) + page[26:]) == checksum(page[:22] + bytes(4) + page[26:])
        )
        at, pages = at + len(page), pages + 1
    assert pages >= 3


def long_division(data: bytes) -> bytes:
    """The remainder by Ogg's polynomial, bit by bit as RFC 3533 defines it."""
    register = 0
    for byte in data:
        register ^= byte << 24
        for _ in range(8):
            register = register << 1 ^ (0x04C11DB7 if register & 1 << 31 else 0) & 0xFFFFFFFF
            register &= 0xFFFFFFFF
    return register.to_bytes(4, "little")


def test_rates_are_what_the_library_takes(tmp_path: Path) -> None:
    """Every rate that a lossy format is said to have, and no other of those in use."""
    for name in LOSSY:
        for rate in (8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 192_000):
            path = tmp_path / f"{rate}.{name}"
            if rate in FORMATS[name].rates:
                write(path, plucked(rate, 0.1), Format(rate, 2))
                assert soundfile.info(path).samplerate == rate
            else:
                with pytest.raises(FileError, match=f"{FORMATS[name].title} has no {rate} Hz, only 8000"):
                    check_sound_target(path, Format(rate, 2), False)
                with pytest.raises(soundfile.LibsndfileError):
                    soundfile.write(
                        path, plucked(rate, 0.1), rate, FORMATS[name].coding, format=FORMATS[name].container
                    )


def test_a_library_that_lacks_a_format_is_told_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soundfile, "check_format", lambda *_: False)
    with pytest.raises(FileError, match=r"a\.mp3: libsndfile .* has no MP3; pip install -U soundfile, or take \.wav"):
        check_sound_target(tmp_path / "a.mp3", Format(RATE, 2), False)
    monkeypatch.setitem(sys.modules, "soundfile", None)
    check_sound_target(tmp_path / "a.wav", Format(RATE, 2), False)
    write(tmp_path / "a.wav", noise(), Format(RATE, 2))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_sound_of_no_length_is_a_file_or_a_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    if SUFFIXES[suffix].title in ("WAV", "AIFF"):
        write(path, noise(0), Format(RATE, 2))
        assert soundfile.info(path).frames == 0
        return
    with pytest.raises(FileError, match="cannot hold a sound of no length"):
        write(path, noise(0), Format(RATE, 2))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", KINDS)
def test_other_programs_read_it_without_a_word(tmp_path: Path, kind: str, program: str) -> None:
    suffix, depth = kind.split()
    if (program, suffix) == ("sox", ".opus"):
        pytest.skip("few builds of sox have Opus")
    write(tmp_path / f"a{suffix}", plucked(), Format(RATE, 2, depth))
    assert complaints(program, str(tmp_path / f"a{suffix}")) == []


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, MemoryError])
@pytest.mark.parametrize("name", ["sound.wav", "sound.flac", "sound.ogg", "sound.mp3", "sound.aiff"])
def test_after_an_error_nothing_is_left(tmp_path: Path, error: type[BaseException], name: str) -> None:
    def fail() -> None:
        with audio_file(tmp_path / name, Format(RATE, 2), 100) as file:
            file.write(noise())
            assert len(list(tmp_path.iterdir())) == 1
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "sound.wav"
    write(path, noise(), Format(RATE, 2))
    before = path.read_bytes()

    def fail() -> None:
        with audio_file(path, Format(RATE, 2), 100, force=True) as file:
            file.write(noise(seed=1))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == before
    with audio_file(path, Format(RATE, 2), 100, force=True) as file:
        file.write(noise(seed=1))
        assert path.read_bytes() == before
    assert path.read_bytes() != before
    assert list(tmp_path.iterdir()) == [path]


FULL_DISK = """
import resource, sys
import numpy as np
from pathlib import Path
from engine.files.audio_file import Format, audio_file
from engine.files.errors import FileError
from engine.offline.levels import Spool

most = int(sys.argv[3])
with Spool(Path("."), 48_000, 2):
    pass  # what has to be compiled is, and kept, before the disk is full
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
audio = np.random.default_rng(0).uniform(-1.0, 1.0, (4096, 2)).astype(np.float32)
path = Path(sys.argv[1])
try:
    chunks = [audio] * 20
    with Spool(path, 48_000, 2) as spool, audio_file(path, Format(48_000, 2, sys.argv[2]), 10_000) as file:
        if len(sys.argv) > 4:
            spool.fill(chunks * 20)
            chunks = spool.chunks()
        for chunk in chunks:
            file.write(chunk)
except FileError as error:
    print(error)
"""


@pytest.mark.parametrize("most", [0, 10, 44, 50_000, 491_540])
@pytest.mark.parametrize(
    ("name", "depth"), [("a.wav", "24"), ("a.flac", "24"), ("a.wav", "32f"), ("a.flac", "16"), ("a.aiff", "24")]
)
def test_a_full_disk_is_told_in_a_line_and_nothing_is_left(tmp_path: Path, name: str, depth: str, most: int) -> None:
    if depth == "16":
        most = min(most, 200_000)
    done = full_disk(tmp_path, name, depth, str(most))
    assert "cannot be written" in done.stdout
    assert done.stdout.count("\n") == 1
    assert (done.stderr, done.returncode, list(tmp_path.iterdir())) == ("", 0, [])


@pytest.mark.parametrize("most", [0, 10, 2000, 20_000])
@pytest.mark.parametrize("name", ["a.ogg", "a.opus", "a.mp3"])
def test_nor_is_anything_left_of_a_lossy_file(tmp_path: Path, name: str, most: int) -> None:
    done = full_disk(tmp_path, name, "24", str(most))
    assert "cannot be written" in done.stdout
    assert done.stdout.count("\n") == 1
    assert (done.stderr, done.returncode, list(tmp_path.iterdir())) == ("", 0, [])


def test_a_disk_full_of_sound_that_waits_is_told_too(tmp_path: Path) -> None:
    done = full_disk(tmp_path, "a.wav", "16", "400000", "waits")
    assert "cannot be written" in done.stdout
    assert (done.stderr, done.returncode, list(tmp_path.iterdir())) == ("", 0, [])


def full_disk(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", textwrap.dedent(FULL_DISK), str(folder / name), *arguments]
    return subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)


def test_impossible_places_are_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "there.wav").touch()
    (tmp_path / "folder.wav").mkdir()
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "loop.wav").symlink_to(tmp_path / "loop.wav")
    told = {
        "there.wav": "exists already; choose another name, or --force",
        "folder.wav": "is a folder",
        "pipe.wav": "is not a regular file",
        "loop.wav": "cannot be written",
        "missing/a.wav": "its folder does not exist",
        "there.wav/a.wav": "its folder does not exist",
        "x" * 300 + ".wav": "cannot be written",
        "nul\0.wav": "cannot be written",
    }
    for name, words in told.items():
        with pytest.raises(FileError, match=words) as error:
            check_target(tmp_path / name, force=False)
        assert str(error.value).isprintable()
    for name in ("folder.wav", "pipe.wav"):
        with pytest.raises(FileError):
            check_target(tmp_path / name, force=True)
    with pytest.raises(FileError, match="not a regular file"):
        check_target(Path("/dev/null"), force=True)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="no permission"):
        check_target(tmp_path / "a.wav", force=False)


def test_formats_that_cannot_be_are_refused_in_a_line(tmp_path: Path) -> None:
    for name, form, words in [
        ("a.m4a", Format(RATE, 2), "name it .wav, .flac, .aiff, .ogg, .opus or .mp3"),
        ("a", Format(RATE, 2), "name it .wav, .flac, .aiff, .ogg, .opus or .mp3"),
        ("a.flac", Format(RATE, 2, "32f"), "FLAC holds whole numbers only"),
        ("a.flac", Format(3_000_000, 2), "FLAC has no 3000000 Hz, only 1 to 655350 Hz; take another rate, or .wav"),
        ("a.mp3", Format(RATE, 2, "16"), "MP3 has no bit depth; leave it out, or take .wav"),
        ("a.ogg", Format(RATE, 2, "32f"), "OGG has no bit depth"),
        ("a.mp3", Format(96_000, 2), "MP3 has no 96000 Hz, only 8000, 11025, .* 44100 and 48000 Hz"),
        ("a.mp3", Format(RATE, 3), "libsndfile has no MP3 with 3 channels at 48000 Hz"),
    ]:
        with pytest.raises(FileError, match=words), audio_file(tmp_path / name, form, 100):
            pass
    assert list(tmp_path.iterdir()) == []


def test_names_of_any_kind_are_kept(tmp_path: Path) -> None:
    names = ["ragā – रागः.wav", "x" * 251 + ".wav", " leading and trailing .wav", "-o.wav", "new\nline.wav"]
    for name in names:
        write(tmp_path / name, noise(100), Format(RATE, 2))
    bytes_name = os.fsencode(tmp_path) + b"/\xff\xfe/"
    os.mkdir(bytes_name)
    write(Path(os.fsdecode(bytes_name + b"\xfd.wav")), noise(100), Format(RATE, 2))
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir() if path.is_file())
    assert os.listdir(bytes_name) == [b"\xfd.wav"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.wav").symlink_to(tmp_path / "real.wav")
    write(tmp_path / "link.wav", noise(100), Format(RATE, 2))
    assert (tmp_path / "link.wav").is_symlink()
    assert soundfile.info(tmp_path / "real.wav").frames == 100


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"

    def be_late() -> None:
        with audio_file(path, Format(RATE, 2), 100) as file:
            file.write(noise(100))
            path.write_text("mine")

    with pytest.raises(FileError, match="exists by now"):
        be_late()
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="pipes and links are POSIX")
@pytest.mark.parametrize("what", ["pipe", "link", "link to a device"])
def test_what_is_no_file_is_not_replaced_even_if_it_appears_meanwhile(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.wav"

    def be_late() -> None:
        with audio_file(path, Format(RATE, 2), 100, force=True) as file:
            file.write(noise(100))
            if what == "pipe":
                os.mkfifo(path)
            else:
                path.symlink_to("/dev/full" if what == "link to a device" else tmp_path / "victim")

    with pytest.raises(FileError, match="is not a regular file by now"):
        be_late()
    assert not path.is_file()
    assert list(tmp_path.iterdir()) == [path]


def test_files_have_the_permissions_of_new_files(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write(tmp_path / "a.wav", noise(100), Format(RATE, 2))
    write_report(tmp_path / "a.json", {}, force=False)
    for name in ("a.wav", "a.json"):
        assert (tmp_path / name).stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_report_is_whole_or_not_there(tmp_path: Path) -> None:
    write_report(tmp_path / "a.json", {"peak": -1.5, "none": None}, force=False)
    assert (tmp_path / "a.json").read_text() == '{\n  "peak": -1.5,\n  "none": null\n}\n'
    with pytest.raises(FileError, match="exists already"):
        write_report(tmp_path / "a.json", {}, force=False)
    with pytest.raises(ValueError, match="JSON"):
        write_report(tmp_path / "b.json", {"peak": float("nan")}, force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
