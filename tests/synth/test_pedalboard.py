"""An instrument is called as pedalboard's are: the signature, what comes back, other rates and channels, going on."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import threading
from typing import Any

import mido
import numpy as np
import pytest
from synth.playing import RATE, SMALL, instrument, off, on, render

from engine.errors import PresetError
from engine.synth import instrument as module
from engine.synth.instrument import RELATIVES, Instrument

pytestmark = pytest.mark.usefixtures("shared_designs")

# pedalboard 0.9.26, VST3Plugin.__call__.__doc__: of its overloads, that of instruments.
RECORDED = (
    "__call__(self: pedalboard_native.VST3Plugin, midi_messages: object, duration: float, sample_rate: float, "
    "num_channels: int = 2, buffer_size: int = 8192, reset: bool = True) -> numpy.ndarray[numpy.float32]"
)
needs_pedalboard = pytest.mark.skipif(
    importlib.util.find_spec("pedalboard") is None, reason="pedalboard is not installed: pip install pedalboard"
)
MESSAGES: list[Any] = [(bytes(on(57)), 0.0), (on(62, 80), 0.0125), mido.Message("note_off", note=57, time=0.05)]
EVENTS = [(0, on(57)), (600, on(62, 80)), (2400, off(57))]


def parameters(line: str) -> list[tuple[str, Any]]:
    """Names and defaults, in order, of a signature as pybind11 writes it; all may be given by name or by place."""
    arguments = ast.parse(f"def {line}: ...").body[0].args  # type: ignore[attr-defined]
    assert not any((arguments.posonlyargs, arguments.kwonlyargs, arguments.vararg, arguments.kwarg))
    names = [argument.arg for argument in arguments.args]
    defaults = [ast.literal_eval(value) for value in arguments.defaults]
    return list(zip(names, [inspect.Parameter.empty] * (len(names) - len(defaults)) + defaults))


def test_the_signature_is_pedalboard_s() -> None:
    own = inspect.signature(Instrument.__call__).parameters.values()
    assert [(p.name, p.default) for p in own] == parameters(RECORDED)
    assert {p.kind for p in own} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}


@needs_pedalboard
def test_the_signature_is_that_of_the_pedalboard_there_is() -> None:
    import pedalboard

    kinds = [getattr(pedalboard, name) for name in ("VST3Plugin", "AudioUnitPlugin") if hasattr(pedalboard, name)]
    assert kinds
    for kind in kinds:
        overloads = re.findall(r"^\d+\. (__call__\(.*midi_messages.*)$", kind.__call__.__doc__, re.MULTILINE)
        assert [parameters(line) for line in overloads] == [parameters(RECORDED)]


@needs_pedalboard
@pytest.mark.parametrize("channels", [1, 2])
def test_pedalboard_s_effects_take_what_comes(channels: int) -> None:
    import pedalboard

    audio = instrument("modal")(MESSAGES, 0.2, RATE, channels)
    softer = pedalboard.Gain(gain_db=-6.0)(audio, RATE)
    assert softer.shape == audio.shape
    assert np.abs(softer - audio * 10.0 ** (-6.0 / 20.0)).max() <= 1e-6
    wet = pedalboard.Pedalboard([pedalboard.Gain(gain_db=-6.0), pedalboard.Reverb(room_size=0.5)])(audio, RATE)
    assert wet.shape == audio.shape
    assert np.abs(wet - softer).max() > 1e-3
    assert np.abs(pedalboard.Gain(gain_db=0.0)(audio, RATE) - audio).max() == 0.0


def test_messages_of_every_kind_sound_as_events_on_their_samples() -> None:
    audio = instrument("modal")(MESSAGES, 0.1, RATE)
    assert (audio == render(instrument("modal"), EVENTS, 4800).T).all()


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("size", [1, 100, 8192, 1 << 20])
def test_what_comes_back_is_channels_by_frames(channels: int, size: int) -> None:
    audio = instrument("modal")(MESSAGES, 0.02, RATE, channels, size)
    assert (audio.shape, audio.dtype) == ((channels, 960), np.float32)
    assert audio.flags.c_contiguous
    assert audio.flags.writeable
    assert (audio == instrument("modal")(MESSAGES, 0.02, RATE, channels)).all()
    assert audio.any()


def test_by_name_as_well() -> None:
    audio = instrument("modal")(
        midi_messages=MESSAGES, duration="100 ms", sample_rate="48 kHz", num_channels=2, buffer_size=64, reset=True
    )
    assert (audio == instrument("modal")(MESSAGES, 0.1, RATE)).all()


def test_without_reset_it_goes_on_and_with_it_it_begins_anew() -> None:
    whole = instrument("modal")(MESSAGES, 0.1, RATE)
    inst = instrument("modal")
    first = inst(MESSAGES[:1], 0.01, RATE)
    second = inst([(data, at - 0.01) for data, at in MESSAGES[1:2]], 0.03, RATE, reset=False)
    third = inst([(off(57), 0.01)], 0.06, RATE, reset=False)
    assert (np.concatenate([first, second, third], axis=1) == whole).all()
    assert (inst(MESSAGES, 0.1, RATE) == whole).all()


def test_messages_at_the_end_or_later_are_left_out() -> None:
    inst = instrument("modal")
    inst([(on(60), 0.01), (on(62), 5.0)], 0.01, RATE)
    assert inst.silent
    assert not inst([], 0.1, RATE, reset=False).any()


def test_another_rate_is_designed_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    inst = Instrument(SMALL["modal"], RATE, polyphony=4, oversample=1)
    designed = []
    design = module.designed_or_kept
    monkeypatch.setattr(module, "designed_or_kept", lambda setup: designed.append(setup) or design(setup))
    wanted = Instrument(SMALL["modal"], 44_100, polyphony=4, oversample=1)
    designed.clear()
    for _ in range(3):
        audio = inst(MESSAGES, 0.1, 44_100)
        assert (audio == render(wanted, [(round(n / RATE * 44_100), data) for n, data in EVENTS], 4410).T).all()
        wanted.reset()
        mono = inst(MESSAGES, 0.1, 44_100, 1)
        assert mono.shape == (1, 4410)
        inst(MESSAGES, 0.1, RATE)
    assert [(made.sample_rate, made.channels, made.polyphony, made.oversample) for made in designed] == [
        (44_100.0, 2, 4, 1),
        (44_100.0, 1, 4, 1),
    ]
    for rate in range(9_000, 9_000 + 2 * RELATIVES):
        inst([], 0.0, rate)
    assert len(inst._relatives) == RELATIVES
    assert (list(inst._relatives)[-1]) == (9_000 + 2 * RELATIVES - 1, 2)


def test_another_rate_begins_anew_even_without_reset() -> None:
    """As pedalboard's plugins do when they are prepared for another rate."""
    inst = Instrument(SMALL["modal"], 16_000, polyphony=2)
    wanted = inst(MESSAGES, 0.1, 22_050)
    inst(MESSAGES, 0.05, 16_000)
    assert (inst(MESSAGES, 0.1, 22_050, reset=False) == wanted).all()
    assert not (inst([], 0.1, 22_050, reset=False) == 0.0).all()


def test_a_mono_instrument_gives_two_channels_when_asked() -> None:
    mono, stereo = Instrument(SMALL["bridge"], RATE, polyphony=2, mono=True), Instrument(SMALL["bridge"], RATE)
    assert (mono([(on(50), 0.0)], 0.05, RATE) == stereo([(on(50), 0.0)], 0.05, RATE)).all()
    assert mono.channels == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"duration": -1}, "duration = -1: must be 0 to 86400 s"),
        ({"duration": "2 m"}, "duration = 2 m: must be 0 to 86400 s"),
        ({"duration": float("nan")}, "duration = nan"),
        ({"duration": 48_000, "sample_rate": 2}, "sample rate = 2: must be 8000 to 384000 Hz"),
        ({"sample_rate": None}, "sample rate = None"),
        ({"sample_rate": "48 kg"}, "sample rate = 48 kg"),
        ({"num_channels": 0}, "num_channels = 0: must be a whole number, 1 to 2"),
        ({"num_channels": 6}, "num_channels = 6"),
        ({"num_channels": 1.5}, "num_channels = 1.5"),
        ({"buffer_size": 0}, "buffer_size = 0"),
    ],
)
def test_bad_arguments_get_a_line(arguments: dict[str, Any], words: str) -> None:
    inst = instrument("modal")
    inst.schedule(0, on(60))
    with pytest.raises(PresetError) as caught:
        inst(**{"midi_messages": [], "duration": 0.1, "sample_rate": RATE, **arguments})
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
    assert not inst.silent, "nothing was reset"


def test_each_thread_needs_an_instrument_of_its_own() -> None:
    """Copies are for that."""
    import copy

    inst = Instrument(SMALL["modal"], 16_000, polyphony=2)
    wanted, found = inst(MESSAGES, 0.1, 16_000), []
    twins = [inst, *(copy.copy(inst) for _ in range(3))]
    threads = [threading.Thread(target=lambda t=twin: found.append(t(MESSAGES, 0.1, 16_000))) for twin in twins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all((audio == wanted).all() for audio in found)
