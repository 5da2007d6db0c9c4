"""All sound off: silence within the fade, whatever the DC blocker held; in blocks of any size, the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synth.playing import RATE, SMALL

from engine.synth.bank import FADE_TIME
from engine.synth.instrument import Instrument

pytestmark = pytest.mark.usefixtures("shared_designs")

OFF = RATE  # the sample at which all sound goes off, after a second on a barrier that has lifted the string
LIFTED = [{"source": "wheel", "to": "barrier.height", "range": ["0 mm", "20 mm"]}]
EVENTS = [(0, [0x90, 45, 100]), (2_000, [0xB0, 1, 127]), (OFF, [0xB0, 120, 0])]


def lifted(oversample: int, mono: bool = False, model: str = "bridge") -> Instrument:
    heard = [{"at": 0.1, "pan": -0.6}, {"at": 0.37, "pan": 0.5}]
    preset: dict[str, Any] = {**SMALL[model], "map": LIFTED, "pickups": heard, "oversample": oversample}
    made = Instrument(preset, RATE, mono=mono)
    for sample, data in EVENTS:
        made.schedule(sample, data)
    return made


def play(made: Instrument, frames: int, block: int = 480) -> Any:
    out = np.zeros((frames, made.channels), np.float32)
    for at in range(0, frames, block):
        made.run(out[at : at + block])
    return out


@pytest.mark.parametrize(("oversample", "mono", "model"), [
    (1, False, "bridge"), (4, True, "bridge"), (2, False, "grid bridge"),
])  # fmt: skip
def test_all_sound_off_is_silence_within_the_fade(oversample: int, mono: bool, model: str) -> None:
    """A barrier mapped to centimetres leaves the string far from its rest: nothing of that is heard when it goes."""
    made = lifted(oversample, mono, model)
    before = play(made, OFF)
    held = np.abs(made.machine.finished.mean[: made.channels]).max()
    after = play(made, RATE // 2)
    fade = round(FADE_TIME * RATE) + 2 * made.latency + 2
    assert held > 1e-3
    assert (after[fade:] == 0.0).all()
    assert np.abs(after).max() <= np.abs(before[OFF // 2 :]).max(), "what fades is what was heard before"


def test_others_go_on_as_they_were() -> None:
    """Only where nobody is left sounding is the blocker drained: on another channel a string sounds on, undisturbed."""
    for others, left in (([(100, [0x91, 57, 100])], 1.0), ([], 0.0)):
        made = Instrument({**SMALL["bridge"], "map": LIFTED}, RATE)
        for sample, data in sorted([*EVENTS, *others]):
            made.schedule(sample, data)
        play(made, OFF)
        assert abs(made.machine.finished.mean[0]) > 0.0
        play(made, 480)
        *means, share = made.machine.finished.mean
        assert min(share, 1.0) == left
        assert any(means) == bool(others)


def test_a_note_in_the_fade_and_one_after_it() -> None:
    """The blocker begins anew with it, in blocks of any size alike."""
    heard = []
    for block in (1, 7, 64, 1000):
        made = lifted(2)
        for sample in (OFF + 100, OFF + 700):
            made.schedule(sample, [0x90, 50, 100])
            made.schedule(sample + 400, [0xB0, 120, 0])
        play(made, OFF - 3)
        heard.append(play(made, 2_000, block))
    for other in heard[1:]:
        np.testing.assert_array_equal(other, heard[0])
    assert np.abs(heard[0][150:400]).max() > 0.0
    assert np.abs(heard[0][1_600:]).max() == 0.0
