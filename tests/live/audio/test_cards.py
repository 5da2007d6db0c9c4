"""Choosing among sound cards, and what is said where one cannot play: with a PortAudio that we make up."""

from __future__ import annotations

import ctypes.util
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from engine.live.audio import cards as module
from engine.live.audio import portaudio
from engine.live.audio.cards import Card, cards, check, choose, refused
from engine.live.audio.libportaudio import Device, ErrorCode, HostApi, PortAudioError
from engine.live.audio.portaudio import INSTEAD, Errand, library, quiet
from engine.live.errors import DeviceError, MissingPart


class Sounds:
    """A machine's cards: rows of (name, host API, channels, the rates that it plays or the error it gives)."""

    def __init__(self, *rows: tuple[str, str, int, tuple[int, ...] | int], default: int = 0) -> None:
        self.rows, self.default = rows, default if rows else -1
        self.apis = list(dict.fromkeys(api for _, api, _, _ in rows))

    def host_apis(self) -> list[HostApi]:
        first = [next(i for i, row in enumerate(self.rows) if row[1] == api) for api in self.apis]
        return [HostApi(api, i) for api, i in zip(self.apis, first)]

    def devices(self) -> list[Device]:
        return [
            Device(i, name, self.apis.index(api), channels, 44100.0, 0.01, 0.04)
            for i, (name, api, channels, _) in enumerate(self.rows)
        ]

    def default_output(self) -> int:
        return self.default

    def check_output(self, device: int, channels: int, rate: float, latency: float) -> None:
        _, _, most, rates = self.rows[device]
        assert latency == 0.04
        if isinstance(rates, int):
            raise PortAudioError("the host's own words", rates)
        if not 1 <= channels <= most:
            raise PortAudioError("Invalid number of channels", ErrorCode.CHANNELS)
        if rate not in rates:
            raise PortAudioError("Invalid sample rate", ErrorCode.RATE)


ALSA, JACK = "ALSA", "JACK Audio Connection Kit"
USUAL = (44100, 48000, 96000)
STUDIO = Sounds(
    ("HDA Intel PCH: ALC257 Analog (hw:0,0)", ALSA, 2, USUAL),
    ("Scarlett 2i2 USB: Audio (hw:1,0)", ALSA, 2, USUAL),
    ("microphone", ALSA, 0, USUAL),
    ("default", ALSA, 32, USUAL),
    ("system", JACK, 4, (48000,)),
    ("default monitor", JACK, 2, (48000,)),
    default=3,
)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[Sounds], None]:
    """Be on a machine with these cards."""
    return lambda sounds: monkeypatch.setattr(module, "library", lambda: sounds)


# --- listing and choosing ---------------------------------------------------------------------------------------------


def test_only_what_can_play_is_listed(machine: Callable[[Sounds], None]) -> None:
    machine(STUDIO)
    assert [card.index for card in cards()] == [0, 1, 3, 4, 5]
    assert [card.index for card in cards() if card.default] == [3]
    assert cards()[3] == Card(4, "system", JACK, 4, 44100.0, False, 0.01, 0.04)


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (None, 3),
        (1, 1),
        ("4", 4),
        ("scarlett", 1),
        ("2i2 USB", 1),
        ("SYSTEM", 4),
        ("default", 3),  # the whole name comes before a part of another
        ("Default (alsa)", 3),
        ("default m", 5),
        ("jack audio connection kit sys", 4),
        (" hda ", 0),
    ],
)
def test_a_fragment_or_a_number_is_enough(
    wanted: str | int | None, index: int, machine: Callable[[Sounds], None]
) -> None:
    machine(STUDIO)
    assert choose(wanted).index == index


def test_a_wrong_name_lists_what_exists(machine: Callable[[Sounds], None]) -> None:
    machine(STUDIO)
    for wanted in ("piano", "9", -1):
        with pytest.raises(DeviceError) as refusal:
            choose(wanted)
        text = str(refusal.value)
        assert text.startswith(f"--device {wanted}: there is no such sound card; there are [0] HDA Intel PCH")
        assert f"[4] system ({JACK}), [5] default monitor ({JACK})" in text
        assert "microphone" not in text
        assert refusal.value.exit_code == 9


def test_a_name_that_fits_several_lists_those(machine: Callable[[Sounds], None]) -> None:
    machine(STUDIO)
    with pytest.raises(DeviceError) as refusal:
        choose("hw:")
    both = "[0] HDA Intel PCH: ALC257 Analog (hw:0,0) (ALSA), [1] Scarlett 2i2 USB: Audio (hw:1,0) (ALSA)"
    assert str(refusal.value) == f"--device hw:: which one? {both}; give more of its name or its number"


@pytest.mark.parametrize("sounds", [Sounds(), Sounds(("microphone", ALSA, 0, USUAL))])
@pytest.mark.parametrize("wanted", [None, "piano"])
def test_no_card_at_all_offers_the_render(
    sounds: Sounds, wanted: str | None, machine: Callable[[Sounds], None]
) -> None:
    machine(sounds)
    with pytest.raises(DeviceError, match=r"^there is no sound card; [^\n]*; or `jawari render` writes a file without"):
        choose(wanted)


def test_what_a_card_is_called_cannot_command_the_terminal(machine: Callable[[Sounds], None]) -> None:
    machine(Sounds(("bad\x1b[2J\n", ALSA, 2, USUAL)))
    with pytest.raises(DeviceError) as refusal:
        choose("other\x1b[2J")
    assert str(refusal.value).isprintable()


def test_windows_takes_its_quick_system_by_default(machine: Callable[[Sounds], None]) -> None:
    rows = [("Speakers", api, 2, USUAL) for api in ("MME", "Windows DirectSound", "Windows WASAPI", "Windows WDM-KS")]
    machine(Sounds(*rows))
    assert choose().host_api == "Windows WASAPI"
    machine(Sounds(*rows[:2]))
    assert choose().host_api == "MME"
    machine(Sounds(*rows, default=3))
    assert choose().host_api == "Windows WDM-KS"


# --- what a card can play ---------------------------------------------------------------------------------------------


def message(call: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(DeviceError) as refusal:
        call(*arguments)
    return str(refusal.value)


def test_what_a_card_can_play_is_offered(machine: Callable[[Sounds], None]) -> None:
    machine(STUDIO)
    system = choose("system")
    check(system, 48000, 1)
    check(system, 48000.0, 4)
    say = f"system ({JACK}): cannot play"
    assert message(check, system, 44100, 2) == f"{say} at 44100 Hz; take --sample-rate 48000, or another --device"
    counts = "take --channels 1, 2, 3 or 4, or another --device"
    assert message(check, system, 48000, 5) == f"{say} 5 channels; {counts}"
    assert message(check, system, 44100, 5) == f"{say} 5 channels; {counts}"
    default = choose("default")
    rates = "take --sample-rate 44100, 48000 or 96000, or another --device"
    assert message(check, default, 12345.0, 2) == f"default (ALSA): cannot play at 12345 Hz; {rates}"


def test_a_card_that_refuses_everything_says_why(machine: Callable[[Sounds], None]) -> None:
    machine(
        Sounds(
            ("usb", ALSA, 2, ErrorCode.UNAVAILABLE),
            ("old", "OSS", 2, ErrorCode.HOST),
            ("mono", ALSA, 1, ErrorCode.CHANNELS),
        )
    )
    busy = "usb (ALSA): is in use by another program, or gone; end that program, or take another --device"
    assert message(check, choose(0), 48000, 2) == busy
    words = "old (OSS): cannot be opened (the host's own words); take another --device"
    assert message(check, choose(1), 48000, 2) == words
    assert message(check, choose(2), 48000, 1).startswith("mono (ALSA): cannot play so many --channels; ")


@pytest.mark.parametrize("code", [*ErrorCode, -9986, 0])
def test_every_error_is_one_line_with_a_remedy(code: int) -> None:
    card = Card(0, "usb", ALSA, 2, 48000.0, True, 0.01, 0.04)
    text = str(refused(PortAudioError("it is so\n", code), card))
    assert text.startswith("usb (ALSA): ")
    assert "; " in text
    assert text.isprintable()
    if code in (ErrorCode.HOST, -9986, 0):
        assert text == "usb (ALSA): cannot be opened (it is so\\n); take another --device"


# --- the library ------------------------------------------------------------------------------------------------------


def libc() -> str:
    """A library that is not PortAudio."""
    return "msvcrt" if sys.platform == "win32" else ctypes.util.find_library("c") or "libc.so.6"


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A program that has not asked for PortAudio yet."""
    monkeypatch.setattr(portaudio, "_state", portaudio._State())
    monkeypatch.setattr(portaudio.atexit, "register", lambda call: None)
    return monkeypatch


def test_without_portaudio_the_remedy_is_that_of_the_system(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise AssertionError('only its library is of use')\n")
    (tmp_path / "empty").write_bytes(b"")
    fresh.syspath_prepend(str(tmp_path))
    fresh.setattr(portaudio, "places", lambda: [str(tmp_path / "absent"), str(tmp_path / "empty"), libc()])
    for system, remedy in (("linux", "apt install libportaudio2"), ("darwin", "brew install portaudio"), ("win32", "")):
        fresh.setattr(sys, "platform", system)
        with pytest.raises(MissingPart) as refusal:
            library()
        text = str(refusal.value)
        assert text.startswith(f"live play needs the library PortAudio; {remedy}")
        assert text.endswith(INSTEAD)
        assert text.isprintable()
        assert refusal.value.exit_code == 11


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_where_sounddevice_would_bring_it_it_is_said_how_to_install_that(
    system: str, fresh: pytest.MonkeyPatch
) -> None:
    fresh.setattr(portaudio, "places", list)
    fresh.setattr(sys, "platform", system)
    fresh.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(MissingPart, match=r"^live play needs sounddevice; pip install sounddevice, or `jawari ren"):
        library()


def test_a_portaudio_that_does_not_begin_is_one_line(fresh: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, file: str) -> None:
            assert file == "here"

        def name_client(self, name: bytes) -> None:
            assert name == b"jawari"

        def begin(self) -> None:
            raise PortAudioError("no", -10000)

    fresh.setattr(portaudio, "places", lambda: ["here"])
    fresh.setattr(portaudio, "PortAudio", Broken)
    for _ in range(2):  # it is tried again
        with pytest.raises(
            DeviceError, match=r"^PortAudio does not begin \(no\); restart the sound system, or `jawari"
        ):
            library()


def test_quiet_is_quiet_and_ends(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAWARI_DEBUG", raising=False)
    with suppress(KeyError), quiet():
        os.write(2, b"noise\n")
        with quiet():
            os.write(2, b"more noise\n")
        os.write(2, b"and more\n")
        raise KeyError
    os.write(2, b"word\n")
    monkeypatch.setenv("JAWARI_DEBUG", "1")
    with quiet():
        os.write(2, b"noise that is wanted\n")
    assert capfd.readouterr().err == "word\nnoise that is wanted\n"


def test_an_errand_gives_its_answer_or_its_error_and_need_not_end() -> None:
    errand = Errand(lambda: 42)
    assert errand.done(5.0)
    assert errand.answer() == 42
    failing = Errand(lambda: 1 // 0)
    assert failing.done(5.0)
    with pytest.raises(ZeroDivisionError):
        failing.answer()
    gate, begun = threading.Event(), time.monotonic()
    assert not Errand(lambda: gate.wait(10.0)).done(0.05)
    assert time.monotonic() - begun < 5.0
    gate.set()


def test_an_errand_is_run_even_where_no_thread_can_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(portaudio.threading.Thread, "start", refuse)
    errand = Errand(lambda: 42)
    assert errand.done(1.0)
    assert errand.answer() == 42
