"""The renderer's memory, by name: its tables' columns as plain numbers, which compiled code sees as constants.

The renderer is given one address, that of a table of addresses (`T_...`). Everything it reads or changes hangs off it:
tables of integers and floats for keys, voices and channels, whose rows hold addresses of the larger arrays.
"""

from __future__ import annotations

CHANNELS, KEYS = 16, 128
TICK = 64  # base-rate samples between looks at a voice's energy; on the absolute clock, so blocks do not matter
GLIDE = 16  # base-rate samples between steps of a moving parameter
PULSES = 4  # plucks that may overlap on one string
SPARE_VOICES = 8  # slots in which stolen voices fade out

MODAL, GRID = range(2)  # models
FREE, HELD, RELEASED, FADING = range(4)  # a voice's states

# The table of addresses.
(
    T_SETTINGS,
    T_NUMBERS,
    T_KEY_INTS,
    T_KEY_FLOATS,
    T_VOICE_INTS,
    T_VOICE_FLOATS,
    T_CHANNELS,
    T_TUNED,
    T_MAP_INTS,
    T_MAP_FLOATS,
    T_RING,
    T_LATE,
    T_METERS,
    T_FORCE,
    T_OUT,
    T_BUS,
    T_LAST,
    T_PANS,
    T_SCRATCH,
    T_STEREO,
    T_BASE,
    T_TAPS,
    T_HISTORY,
    T_OLDEST,
    T_MEAN,
    T_VOLUME,
    T_WANTED,
    TABLE,
) = range(28)

# T_SETTINGS: integers.
(
    S_MODEL,
    S_VOICES,
    S_POLYPHONY,
    S_PICKUPS,
    S_OVERSAMPLE,
    S_MAPS,
    S_SCRATCH,
    S_TAPS,
    S_LATENCY,
    S_CHANNELS,
    S_SHAPE,
    S_CLOCK,
    S_BORN,
    S_IDLE,  # 1: no voice sounds, the filters are empty, and silence is all that comes out until a note begins
    S_QUIET,  # 1 as long as nothing but silence has come out since the last tick
    S_STRIP,  # which of BY_... are the channel strip's; the preset's map has the others
    S_APART,  # 1: some strip has been moved, so each voice goes through its own one
    SETTINGS,
) = range(18)
BY_VOLUME, BY_EXPRESSION, BY_PAN = 1, 2, 4

# T_NUMBERS: floats.
(
    N_RATE,
    N_FORCE_POWER,
    N_DURATION_POWER,
    N_GLIDE,
    N_FADE,
    N_DRIFT,
    N_OUTPUT_GLIDE,
    N_SCALE,
    N_VOLUME,
    N_TURN,
    NUMBERS,
) = range(11)

# T_KEY_INTS: [KEYS, KEY_INTS].
(
    K_READY,
    K_SIZE,
    K_POINTS,
    K_FORM,
    K_INTERVALS,
    K_WIDE,
    K_FIRST,
    K_OBSTACLES,
    K_ROWS,
    K_SLOPE,
    K_HEIGHT,
    K_REST,
    K_REST_PSI,
    K_REST_HEARD,
    K_BEND,
    K_PULL,
    K_DECAY,
    K_SHRINK,
    K_STRIKE,
    K_WAVE,
    K_LOSS,
    K_WEIGHTS,
    K_PICKUP_NODE,
    K_PICKUP,
    K_OBSTACLE_NODE,
    K_OBSTACLE,
    K_BACKWARD,
    K_FORWARD,
    K_BACKWARD_TAPS,
    K_SPREAD,
    K_SPRING,
    K_RESPONSE,
    KEY_INTS,
) = range(33)

# T_KEY_FLOATS: [KEYS, KEY_FLOATS].
(
    Y_TENSION,
    Y_STIFFENING,
    Y_HIGHEST,
    Y_GAIN,
    Y_MASS,
    Y_STEP,
    Y_POWER,
    Y_SECANT,
    Y_DRAG,
    Y_DECAY,
    Y_ANSWER,
    Y_INERTIA,
    Y_STRETCH,
    Y_BEND,
    Y_CENTRED,
    Y_LENGTH,
    Y_ANGLE,
    Y_DESIGNED_ANSWER,
    Y_MILDEST,
    Y_GAP,
    Y_FORCE,
    Y_DURATION,
    Y_POSITION,
    Y_RELEASE,
    Y_PITCH,  # as designed, in semitones: 69 is 440 Hz
    KEY_FLOATS,
) = range(26)

# T_VOICE_INTS: [voices, VOICE_INTS]; from V_FORWARD on addresses.
V_STATE, V_KEY, V_CHANNEL, V_BORN, V_SOSTENUTO, V_MOVING, V_FORCED, V_CALM, V_NODE, V_TURNED, V_PULSE = range(11)
(
    V_FORWARD,
    V_BACKWARD,
    V_SPREAD,
    V_INJECT,
    V_SPRING,
    V_STRIKE,
    V_RESPONSE,
    V_HEIGHT,
    V_LEVEL0,
    V_LEVEL1,
    V_LEVEL2,
    V_FREE,
    V_NOW,
    V_BEFORE,
    V_PSI,
    V_PUSH,
    V_PUSHED,
    V_LOST,
    V_CLOCK,
    V_HEARD,
    VOICE_INTS,
) = range(V_PULSE + PULSES, V_PULSE + PULSES + 21)
# V_MOVING: 0, or 1 + the remainder of the clock by GLIDE at which the voice takes its steps, which is an event's.
# V_PULSE: steps since each pluck began, -1 when it is over.
# V_TURNED: the sample at which its sides began to go from F_LEFT, F_RIGHT to the next ones.
# V_HEARD: what each of its pickups last added.

# T_VOICE_FLOATS: [voices, VOICE_FLOATS].
(
    F_SEMITONES,
    F_DAMPING,
    F_LIFT,
    F_NEXT_LIFT,
    F_GAIN,
    F_NEXT_GAIN,
    F_FADE,
    F_ENERGY,
    F_PEAK,
    F_ANSWER,
    F_TENSION,
    F_LEFT,
    F_RIGHT,
    F_NEXT_LEFT,
    F_NEXT_RIGHT,
    F_TUNED,  # semitones by which MIDI's tuning standard has moved the voice's key
    F_PULSE,
) = range(17)
VOICE_FLOATS = F_PULSE + 2 * PULSES  # F_PULSE: peak force and duration (steps) of each pluck

# T_CHANNELS: [CHANNELS, CHANNEL_INTS]; the 128 controllers, then:
C_PRESSURE, C_BEND, C_RANGE, C_MANAGER, C_STRIP, CHANNEL_INTS = range(128, 134)  # bend -8192..8191; its range, cents
# C_STRIP: which of BY_... have ever been where they change the sound.
UNMOVED = -1  # a controller that has not been touched yet

# T_TUNED: [KEYS], where MIDI's tuning standard has each key, in 2^-14 semitones (69 << 14 is 440 Hz), or:
AS_DESIGNED = -1

# T_MAP_INTS: [maps, 2] source controller and number of the parameter; T_MAP_FLOATS: [maps, 2] values at 0 and 127.

# T_RING: counts in cache lines of their own, then rows of (sample, message).
RING_SIZE = 4096
R_WRITTEN, R_READ, R_ROWS = 0, 8, 16
# T_LATE: what a full ring may not lose. How many, the ring's count at the last of them, how many the renderer has
# seen; then for each channel the number of the last loss for each of its keys, all its sound, and all its notes.
L_COUNT, L_AFTER, L_SEEN, L_FLAGS = 0, 1, 2, 8
ALL_SOUND, ALL_NOTES, ENDS = KEYS, KEYS + 1, KEYS + 2
LATE = L_FLAGS + CHANNELS * ENDS

# T_METERS: integers that drivers read.
M_STOLEN, M_WATCHDOG, M_LOST, M_SOUNDING, M_MOST, METERS = range(6)

# An ensemble: instruments that share a clock, a way in and a way out. Its table of addresses:
PARTS = 128  # instruments that it may hold, by the number of their part
PROGRAMS = 1024  # that can be chosen; a bank select counts 128 of them
E_SETTINGS, E_PARTS, E_GAINS, E_ROUTES, E_PROGRAMS, E_LISTENER, E_MIX, ENSEMBLE = range(8)
# E_SETTINGS: channels of its sound, samples played, the part that last began a note or was chosen (-1: none yet).
D_CHANNELS, D_CLOCK, D_LATEST, ENSEMBLE_SETTINGS = range(4)
# E_PARTS: [PARTS, PART_INTS]. Python fills an absent part and says that it has arrived; from then on only who plays
# writes U_STATE. U_DELAY: samples by which its events are late, so that all are heard together. Two wishes of Python's:
# U_ALL: every channel should begin its notes on it; U_ASKED: it should go as soon as nobody hears it.
U_STATE, U_TABLE, U_CHANNELS, U_DELAY, U_ALL, U_ASKED, PART_INTS = range(7)
ABSENT, ARRIVED, PLAYING = range(3)
# E_GAINS: [PARTS, 2], left and right. E_ROUTES: for each channel the part that its notes begin on, or -1.
# E_PROGRAMS: for each program its part, or -1.
MIXED = 1024  # frames that are rendered at a time where instruments are mixed
