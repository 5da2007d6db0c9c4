"""A reading to draw and to change."""

from __future__ import annotations

from engine.live.meter import SILENCE, BegunNote, Level, Load, Reading, SoundingString

READING = Reading(
    preset="sitar-string",
    device="USB Audio",
    rate=48_000.0,
    block_size=128,
    latency=0.0053,
    ports=("Keystation 49", "nanoKEY2"),
    hint="? help, q quit",
    load=Load(0.125, 0.25, 0.5),
    mean_load=0.11,
    worst_load=0.62,
    seconds=3723.9,
    blocks=1_396_462,
    lost=0,
    long=1,
    underflows=2,
    levels=(Level(-30.0, -12.0), Level(SILENCE, -3.0, 0.0, 1.5)),
    bent=0,
    lowered=0.0,
    polyphony=16,
    strings=(SoundingString("C3", -15.0, True), SoundingString("A#-1", -99.9, False)),
    notes=(BegunNote("C3", 90, 0), BegunNote("E3", 85, 2)),
    notes_played=42,
    stolen=3,
    watchdog=0,
    events_lost=0,
    stale=0,
)
