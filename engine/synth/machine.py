"""From one address to the renderer's arrays, and from a row of addresses to a voice's coefficients and state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine.compiled import float_rows, floats, integer_rows, integers, pasted
from engine.physics import finite_difference as fd
from engine.physics import modal
from engine.physics.contact import Law, Touch
from engine.physics.grid import REACH
from engine.physics.retune import GridTuning, ModalTuning
from engine.synth import decimate, output
from engine.synth.fields import *

GRAIN = float(1e4 * np.finfo(np.float64).eps)


class Machine(NamedTuple):
    """Everything that one instrument is made of while it plays."""

    settings: Any
    numbers: Any
    key_ints: Any
    key_floats: Any
    voice_ints: Any
    voice_floats: Any
    channels: Any
    tuned: Any
    map_ints: Any
    map_floats: Any
    ring: Any
    late: Any
    meters: Any
    force: Any
    out: Any
    bus: Any
    last: Any
    pans: Any
    scratch: Any
    stereo: Any
    base: Any
    filter: decimate.Decimator
    filtered: decimate.State
    output: output.Output
    finished: output.State


@pasted
def machine(address: Any) -> Any:
    """The arrays behind the table at `address`."""
    t = integers(address, TABLE)
    settings = integers(t[T_SETTINGS], SETTINGS)
    voices, pickups = settings[S_VOICES], settings[S_PICKUPS]
    longest, taps, channels = TICK * settings[S_OVERSAMPLE], settings[S_TAPS], settings[S_CHANNELS]
    numbers = floats(t[T_NUMBERS], NUMBERS)
    return Machine(
        settings,
        numbers,
        integer_rows(t[T_KEY_INTS], KEYS, KEY_INTS),
        float_rows(t[T_KEY_FLOATS], KEYS, KEY_FLOATS),
        integer_rows(t[T_VOICE_INTS], voices, VOICE_INTS),
        float_rows(t[T_VOICE_FLOATS], voices, VOICE_FLOATS),
        integer_rows(t[T_CHANNELS], CHANNELS, CHANNEL_INTS),
        integers(t[T_TUNED], KEYS),
        integer_rows(t[T_MAP_INTS], settings[S_MAPS], 2),
        float_rows(t[T_MAP_FLOATS], settings[S_MAPS], 2),
        integers(t[T_RING], R_ROWS + 2 * RING_SIZE),
        integers(t[T_LATE], LATE),
        integers(t[T_METERS], METERS),
        floats(t[T_FORCE], longest),
        float_rows(t[T_OUT], longest, pickups),
        float_rows(t[T_BUS], longest, pickups),
        floats(t[T_LAST], pickups),
        float_rows(t[T_PANS], pickups, 3),
        floats(t[T_SCRATCH], settings[S_SCRATCH]),
        float_rows(t[T_STEREO], longest, 2),
        float_rows(t[T_BASE], TICK, 2),
        decimate.Decimator(float_rows(t[T_TAPS], 1, taps), settings[S_OVERSAMPLE], settings[S_LATENCY]),
        decimate.State(float_rows(t[T_HISTORY], 2, 2 * taps), integers(t[T_OLDEST], 1)),
        output.Output(
            numbers[N_DRIFT], numbers[N_OUTPUT_GLIDE], numbers[N_SCALE], numbers[N_VOLUME], settings[S_CHANNELS]
        ),
        output.State(floats(t[T_MEAN], channels + 1), floats(t[T_VOLUME], 1), floats(t[T_WANTED], 1)),
    )


@pasted
def law_of(ints: Any, numbers: Any) -> Any:
    return Law(
        floats(ints[K_SLOPE], ints[K_POINTS]),
        numbers[Y_POWER],
        ints[K_FORM],
        numbers[Y_SECANT],
        numbers[Y_DRAG],
        0.0,
        0.5,
        1.0,
        GRAIN,
        0,
    )


@pasted
def touch_of(v: Any, points: Any) -> Any:
    return Touch(
        floats(v[V_NOW], points),
        floats(v[V_BEFORE], points),
        floats(v[V_PSI], points),
        floats(v[V_PUSH], points),
        integers(v[V_PUSHED], points),
        floats(v[V_LOST], 1),
    )


@pasted
def modal_coefficients(ints: Any, numbers: Any, v: Any, pickups: Any) -> Any:
    """A voice's coefficients: its own where it can be retuned, its key's elsewhere."""
    size, points = ints[K_SIZE], ints[K_POINTS]
    spread = floats(v[V_SPREAD], size)
    return modal.Coefficients(
        floats(v[V_FORWARD], size),
        floats(v[V_BACKWARD], size),
        floats(v[V_INJECT], size),
        spread,
        float_rows(ints[K_ROWS], points + pickups, size),
        float_rows(v[V_RESPONSE], points, points + pickups),
        floats(v[V_HEIGHT], points),
        law_of(ints, numbers),
        numbers[Y_INERTIA : Y_INERTIA + 1],
        floats(v[V_SPRING], size),
        spread,  # resistance: metered in research runs only
        floats(ints[K_REST], size),
        floats(ints[K_REST_PSI], points),
    )


@pasted
def modal_state(ints: Any, v: Any, pickups: Any) -> Any:
    size, points = ints[K_SIZE], ints[K_POINTS]
    return modal.State(
        floats(v[V_LEVEL0], size),
        floats(v[V_LEVEL1], size),
        floats(v[V_FREE], points + pickups),
        touch_of(v, points),
        integers(v[V_CLOCK], 1),
    )


@pasted
def modal_recipe(ints: Any, numbers: Any, v: Any) -> Any:
    size = ints[K_SIZE]
    return ModalTuning(
        floats(ints[K_BEND], size),
        floats(ints[K_PULL], size),
        floats(ints[K_DECAY], size),
        floats(ints[K_SHRINK], size),
        floats(v[V_STRIKE], size),
        numbers[Y_MASS],
        numbers[Y_STEP],
    )


@pasted
def grid_coefficients(ints: Any, numbers: Any, v: Any, own: Any, pickups: Any) -> Any:
    """A voice's coefficients on a grid; `own` are the voice's floats."""
    points, obstacles = ints[K_POINTS], ints[K_OBSTACLES]
    return fd.Coefficients(
        fd.Stencil(
            ints[K_INTERVALS], ints[K_WIDE] != 0, floats(v[V_FORWARD], REACH + 1), floats(v[V_BACKWARD], REACH + 1)
        ),
        fd.Ports(
            v[V_NODE],
            floats(v[V_INJECT], fd.TAPS),
            integers(ints[K_PICKUP_NODE], pickups),
            float_rows(ints[K_PICKUP], pickups, fd.TAPS),
        ),
        fd.Surface(
            floats(v[V_HEIGHT], points),
            law_of(ints, numbers),
            own[F_ANSWER],
            ints[K_FIRST],
            integers(ints[K_OBSTACLE_NODE], obstacles),
            float_rows(ints[K_OBSTACLE], obstacles, 2),
            float_rows(v[V_RESPONSE], obstacles, obstacles),
        ),
        fd.Meter(
            numbers[Y_INERTIA],
            numbers[Y_STRETCH] * own[F_TENSION],
            numbers[Y_BEND],
            numbers[Y_CENTRED],
            floats(ints[K_BACKWARD], REACH + 1),
        ),
        floats(ints[K_REST], ints[K_SIZE]),
        floats(ints[K_REST_PSI], points),
    )


@pasted
def grid_state(ints: Any, v: Any) -> Any:
    size, points = ints[K_SIZE], ints[K_POINTS]
    return fd.State(
        floats(v[V_LEVEL0], size),
        floats(v[V_LEVEL1], size),
        floats(v[V_LEVEL2], size),
        floats(v[V_FREE], points),
        touch_of(v, points),
        integers(v[V_CLOCK], 1),
    )


@pasted
def grid_recipe(ints: Any, numbers: Any, v: Any) -> Any:
    obstacles = ints[K_OBSTACLES]
    return GridTuning(
        floats(ints[K_PULL], REACH + 1),
        floats(ints[K_BEND], REACH + 1),
        floats(ints[K_LOSS], REACH + 1),
        float_rows(ints[K_WEIGHTS], obstacles, obstacles),
        floats(v[V_STRIKE], fd.TAPS),
        numbers[Y_DECAY],
        numbers[Y_ANSWER],
        numbers[Y_STEP],
    )
