"""The stream and its watch, on a real PortAudio with a JACK server of the test's own as its sound card."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from live.jack import Server, jack_server, needs_jack, read_recording
from live.program import program

from engine.synth.instrument import Instrument

pytestmark = needs_jack

PLAYER = """
player = Player(48000, 128)
player.change(Instrument("{preset}", 48000, 128, polyphony=4))
"""
SITAR, PLAIN = PLAYER.format(preset="sitar-string"), PLAYER.format(preset="plain")


def rendered(preset: str, events: list[list[int]], frames: int) -> np.ndarray:
    """The same events through an instrument, as jack_rec writes it in 24 bits."""
    instrument = Instrument(preset, 48000, 128, polyphony=4)
    for sample, message in events:
        assert instrument.schedule(sample, [message & 0xFF, message >> 8 & 0x7F, message >> 16 & 0x7F])
    out = np.zeros((frames, 2), np.float32)
    instrument.run(out)
    return np.rint(out * np.float32(0x7FFFFF)).astype(np.int32)


PLAYING = (
    SITAR
    + """
stream = Stream(player, choose(), 128)
assert not stream.active and stream.cpu_load == 0.0
begun = time.perf_counter()
stream.start()
for message in ([0x90, 57, 100], [0x90, 64, 70], [0xE0, 0, 80], [0x80, 57, 0], [0xB0, 64, 127], [0x80, 64, 0]):
    time.sleep(0.25)
    player.send(message)
time.sleep(0.25)
active, load, latency = stream.active, stream.cpu_load, stream.latency
stream.stop()
seconds = time.perf_counter() - begun
assert not stream.active
stream.close()
tell(
    events=player.new_events().tolist(), frames=int(player.stage.clock.sample), gauges=player.gauges._asdict(),
    sizes=player.new_blocks()[:, 2].tolist(), seconds=seconds, active=active, load=load, latency=latency,
)
"""
)


def test_the_card_plays_what_is_rendered_and_blocks_keep_up_with_the_clock(tmp_path: Path) -> None:
    out = tmp_path / "out.wav"
    with jack_server(tmp_path) as server, server.recorded(out), program(server.environment, PLAYING) as playing:
        told = playing.told()
        playing.ends_well()
    assert len(told["events"]) == 6
    expected, heard = rendered("sitar-string", told["events"], told["frames"]), read_recording(out)
    assert np.abs(expected).max() > 2**16
    begin = int(np.flatnonzero(heard.any(axis=1))[0]) - int(np.flatnonzero(expected.any(axis=1))[0])
    np.testing.assert_array_equal(heard[begin : begin + len(expected)], expected)

    assert told["active"]
    assert 0.0 < told["load"] < 1.0
    assert 0.0 <= told["latency"] <= 128 / 48000
    assert set(told["sizes"]) == {128}
    blocks = told["gauges"]["blocks"]
    assert blocks == len(told["sizes"])
    assert 128 * blocks == told["frames"]
    # A server that waits for its clients may be slower than the clock, never faster; test_stress.py counts exactly.
    assert 0.5 < (blocks + told["gauges"]["lost"]) / (told["seconds"] * 48000 / 128) < 1.03


WATCHING = (
    PLAIN
    + """
def held():
    return (player.instrument.machine.voices.state == memory.HELD).any()

def say(line):
    tell(line=line, at=time.time())

watch = Watch(choose(), lambda card: Stream(player, card, 128), player, say)
for message in ([0xB0, 64, 127], [0x90, 60, 100], [0x90, 64, 100], [0x80, 64, 0]):
    player.send(message)
until(held, watch.tick)
tell(held=True)
until(lambda: watch.lost, watch.tick, 0.25)
until(lambda: not watch.lost, watch.tick, 0.25)
until(lambda: not held(), watch.tick)
player.new_events()
player.send([0x90, 72, 100])
until(held, watch.tick)
time.sleep(0.3)
player.send([0x80, 72, 0])
until(lambda: player.instrument.silent, watch.tick)
watch.close()
tell(events=player.new_events().tolist(), lost=player.gauges.lost)
"""
)


@pytest.mark.parametrize("fate", ["ends", "hangs and is killed", "hangs and goes on"])
def test_a_server_that_dies_is_noticed_and_played_on_again(fate: str, tmp_path: Path) -> None:
    with jack_server(tmp_path) as server, program(server.environment, WATCHING) as playing:
        assert playing.told()["held"]
        struck = time.time()
        if fate == "ends":
            server.stop()
        else:
            server.freeze()
        loss = playing.told()
        assert loss["line"] == "no sound from system (JACK Audio Connection Kit) any more; waiting for it"
        assert loss["at"] - struck < 2.0
        time.sleep(1.0)
        if fate == "hangs and goes on":
            server.thaw()
        else:
            server.stop(signal.SIGKILL)
            server.start()
        with server.recorded(tmp_path / "out.wav"):
            assert playing.told()["line"] == "sound again, from system (JACK Audio Connection Kit)"
            # One note after the loss, and it has ended like those before: nothing hangs.
            told = playing.told()
            assert [message & 0xF0 for _, message in told["events"]] == [0x90, 0x80]
            assert told["lost"] < 200  # the pause is none of the player's blocks
            playing.ends_well()
    heard = read_recording(tmp_path / "out.wav")
    assert np.abs(heard).max() > 2**16
    assert not heard[-1].any()


LEAVING = (
    PLAIN
    + """
stream = Stream(player, choose(), 128)
stream.start()
until(lambda: player.gauges.blocks)
tell(playing=True)
input()
"""
)


@pytest.mark.parametrize("server_lives", [True, False])
def test_a_program_that_closes_nothing_ends_well(server_lives: bool, tmp_path: Path) -> None:
    with jack_server(tmp_path) as server, program(server.environment, LEAVING) as playing:
        assert playing.told()["playing"]
        assert {"jawari:out_0", "jawari:out_1"} <= set(server.ports())
        if not server_lives:
            server.stop()
        playing.go_on()
        playing.ends_well()


ASKING = """
def error_of(call, *arguments):
    try:
        return str(call(*arguments))
    except EngineError as error:
        return str(error)

card = choose()
check(card, 48000, 2)
tell(
    card=str(card), rate=card.rate, channels=card.channels, default=card.default,
    rates=error_of(check, card, 44100, 2), many=error_of(check, card, 48000, 3), none=error_of(check, card, 48000, 0),
    unknown=error_of(choose, "piano"), same=choose("syst") == choose("jack aud") == choose(0) == card,
    gone=error_of(Stream, Player(44100, 128), card, 128),
)
"""
SYSTEM = "system (JACK Audio Connection Kit)"


def test_refusals_say_what_is_possible(tmp_path: Path) -> None:
    with jack_server(tmp_path) as server, program(server.environment, ASKING) as asking:
        told = asking.told()
        asking.ends_well()
    assert (told["card"], told["rate"], told["channels"], told["default"]) == (SYSTEM, 48000.0, 2, True)
    assert told["same"]
    assert told["rates"] == f"{SYSTEM}: cannot play at 44100 Hz; take --sample-rate 48000, or another --device"
    assert told["many"] == f"{SYSTEM}: cannot play 3 channels; take --channels 1 or 2, or another --device"
    assert told["none"] == f"{SYSTEM}: cannot play 0 channels; take --channels 1 or 2, or another --device"
    assert told["gone"] == f"{SYSTEM}: cannot play at this --sample-rate; see what it can with `jawari devices`"
    assert told["unknown"].startswith(f"--device piano: there is no such sound card; there are [0] {SYSTEM}")


def test_without_a_card_there_is_one_line(tmp_path: Path) -> None:
    code = ASKING.split("card = ")[0] + "tell(found=list(map(str, cards())), error=error_of(choose))"
    with program(Server(tmp_path).environment, code) as asking:
        told = asking.told()
        asking.ends_well()
    if told["found"]:
        pytest.skip(f"this machine has a sound card: {told['found'][0]}")
    assert told["error"].startswith("there is no sound card; plug one in, or ")
    assert told["error"].endswith("or `jawari render` writes a file without it")
    assert "\n" not in told["error"]


HURRYING = (
    PLAIN
    + """
latencies = []
for wish in ("low", "high", 0.002):
    stream = Stream(player, choose("default (ALSA)"), 128, wish)
    latencies.append(stream.latency)
    stream.close()
stream = Stream(player, choose("alsa"), 128)
stream.start()
until(lambda: player.gauges.blocks)
policies = [os.sched_getscheduler(int(thread)) for thread in os.listdir("/proc/self/task")]
stream.close()
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    permitted = True
except PermissionError:
    permitted = False
tell(latencies=latencies, hurries=os.SCHED_FIFO in policies, permitted=permitted)
"""
)


@pytest.mark.skipif(sys.platform != "linux", reason="ALSA is a part of Linux")
def test_alsa_is_asked_for_a_latency_and_for_a_thread_that_comes_first(tmp_path: Path) -> None:
    (tmp_path / "asound.conf").write_text("pcm.!default { type null }\n")
    silent = {**Server(tmp_path).environment, "ALSA_CONFIG_PATH": str(tmp_path / "asound.conf")}
    with program(silent, HURRYING) as hurrying:
        told = hurrying.told()
        hurrying.ends_well()
    low, high, wished = told["latencies"]
    assert wished < low < high
    assert told["hurries"] == told["permitted"]
