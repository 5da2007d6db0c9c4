"""Instruments come and go while the audio thread plays: who fills a stage, who may empty it, and what is passed on.

Python puts an instrument on an empty stage and names it as the next; the audio thread takes the last one named. A stage
is Python's again when the audio thread has said that it is empty, or has taken a later one without ever touching it.
"""

from __future__ import annotations

from typing import Any

from engine.compiled import guarded, integer_rows, integers, load_acquire, native, pasted, store_release
from engine.live.fields import *
from engine.synth import fields as f
from engine.synth.idle import adopt
from engine.synth.ring import NEVER, head


@guarded
def name_next(address: Any, s: Any) -> None:
    """From Python: the stage is whole, let it be played from the next block on."""
    store_release(integers(integers(address, PLAYER)[P_SETTINGS], X_SETTINGS), X_NEXT, s)


@guarded
def vacant(address: Any, s: Any) -> Any:
    """From Python: whether the audio thread will not touch this stage unless it is named."""
    t = integers(address, PLAYER)
    settings, stages = integers(t[P_SETTINGS], X_SETTINGS), integer_rows(t[P_STAGES], STAGES, STAGE_INTS)
    played = load_acquire(settings, X_PLAYED)
    # As long as the last one named is not taken, an earlier one may just be.
    return played == settings[X_NEXT] and played != s and load_acquire(stages[s], G_STATE) == EMPTY


@native
def change_instrument(settings: Any, stages: Any) -> None:
    """Take the stage that Python has named, with pedals and wheels as they are; the other rings out."""
    wanted, played = load_acquire(settings, X_NEXT), settings[X_PLAYED]
    if wanted == played:
        return
    if played >= 0:
        stages[played, G_STATE] = RINGING
        adopt(stages[wanted, G_TABLE], 0, stages[played, G_TABLE])
    stages[wanted, G_OFFSET] = settings[X_CLOCK]
    stages[wanted, G_STATE] = PLAYED
    store_release(settings, X_PLAYED, wanted)


@pasted
def events_of(table: Any) -> Any:
    return integers(integers(table, f.TABLE)[f.T_RING], f.R_ROWS + 2 * f.RING_SIZE)


@native
def room(stages: Any) -> Any:
    """Whether every instrument can hold one more event."""
    for s in range(STAGES):
        if stages[s, G_STATE] != EMPTY:
            ring = events_of(stages[s, G_TABLE])
            if ring[f.R_WRITTEN] - ring[f.R_READ] >= f.RING_SIZE:
                return False
    return True


@native
def silent(table: Any) -> Any:
    """No string of the instrument moves, and nothing waits to be obeyed."""
    t = integers(table, f.TABLE)
    voices = integers(t[f.T_SETTINGS], f.SETTINGS)[f.S_VOICES]
    rows = integer_rows(t[f.T_VOICE_INTS], voices, f.VOICE_INTS)
    busy = head(events_of(table)) != NEVER
    for v in range(voices):
        busy |= rows[v, f.V_STATE] != f.FREE
    return not busy
