"""MIDI messages as what they do to voices: notes, pedals, bends, controllers; events from the ring."""

from __future__ import annotations

from typing import Any

from engine import messages as midi
from engine.compiled import native
from engine.synth import strips
from engine.synth.fields import *
from engine.synth.machine import Machine
from engine.synth.mts import TUNING, code_of, is_at_once
from engine.synth.ring import flagged, flagged_since, head, take
from engine.synth.voices import begin, departure, pluck, set_moving
from engine.synth.zones import hears, reset_controllers, resize, share_range


@native
def obey(m: Machine, message: Any) -> None:
    """One message: of a channel (messages.py), or of a key's tuning (mts.py)."""
    kind, channel = midi.kind(message), midi.channel(message)
    first, second = midi.first(message), midi.second(message)
    if midi.begins_note(message):
        note_on(m, channel, first, second)
    elif midi.ends_note(message):
        note_off(m, channel, first)
    elif kind == midi.CONTROL:
        control(m, channel, first, second)
    elif kind == midi.PRESSURE:
        m.channels[channel, C_PRESSURE] = first
        stir(m, channel)
    elif kind == midi.WHEEL:
        m.channels[channel, C_BEND] = midi.bend(message)
        stir(m, channel)
    elif kind == TUNING:
        retune(m, first, code_of(message), is_at_once(message))


@native
def retune(m: Machine, key: Any, code: Any, at_once: Any) -> None:
    """Strike a key at another pitch from now on; and if so wished have it glide there if it sounds."""
    m.tuned[key] = code
    for v in range(m.settings[S_VOICES]):
        if at_once and m.voice_ints[v, V_STATE] != FREE and m.voice_ints[v, V_KEY] == key:
            m.voice_floats[v, F_TUNED] = departure(m, key)
            set_moving(m, v)


@native
def stir(m: Machine, channel: Any) -> None:
    """Have the channel's voices, and its zone's, glide to where its controllers now point."""
    for v in range(m.settings[S_VOICES]):
        if hears(m, m.voice_ints[v, V_CHANNEL], channel):
            set_moving(m, v)


@native
def note_on(m: Machine, channel: Any, key: Any, velocity: Any) -> None:
    """Pluck the key's string: the one still sounding if there is one, else a free one, else a stolen one."""
    if m.key_ints[key, K_READY] == 0:
        return
    chosen = -1
    for v in range(m.settings[S_VOICES]):
        voice = m.voice_ints[v]
        ringing = voice[V_STATE] == HELD or voice[V_STATE] == RELEASED
        if ringing and voice[V_KEY] == key and voice[V_CHANNEL] == channel:
            chosen = v
    if chosen >= 0:
        m.voice_ints[chosen, V_STATE] = HELD
        m.voice_floats[chosen, F_TUNED] = departure(m, key)
        set_moving(m, chosen)
    else:
        chosen = slot(m)
        begin(m, chosen, key, channel)
    m.settings[S_BORN] += 1
    m.voice_ints[chosen, V_BORN] = m.settings[S_BORN]
    pluck(m, chosen, velocity)


@native
def slot(m: Machine) -> Any:
    """A free voice. Beyond the polyphony the quietest is sent to fade; with no slot left the faintest fade is cut."""
    sounding, quietest, faintest = 0, -1, -1
    for v in range(m.settings[S_VOICES]):
        if m.voice_ints[v, V_STATE] == FADING:
            if faintest < 0 or m.voice_floats[v, F_FADE] < m.voice_floats[faintest, F_FADE]:
                faintest = v
        elif m.voice_ints[v, V_STATE] != FREE:
            sounding += 1
            if quietest < 0 or before(m, v, quietest):
                quietest = v
    if sounding >= m.settings[S_POLYPHONY]:
        m.voice_ints[quietest, V_STATE] = FADING
        m.meters[M_STOLEN] += 1
        if faintest < 0:
            faintest = quietest
    for v in range(m.settings[S_VOICES]):
        if m.voice_ints[v, V_STATE] == FREE:
            return v
    return faintest


@native
def before(m: Machine, v: Any, other: Any) -> Any:
    """Whether v is stolen rather than the other: released before held, then the lower energy, then the older."""
    a, b = m.voice_ints[v], m.voice_ints[other]
    if a[V_STATE] != b[V_STATE]:
        return a[V_STATE] == RELEASED
    x, y = m.voice_floats[v, F_ENERGY], m.voice_floats[other, F_ENERGY]
    if x > 0.0 and y > 0.0 and x != y:
        return x < y
    return a[V_BORN] < b[V_BORN]


@native
def note_off(m: Machine, channel: Any, key: Any) -> None:
    """Let the damper down, as far as the pedals allow."""
    for v in range(m.settings[S_VOICES]):
        voice = m.voice_ints[v]
        if voice[V_STATE] == HELD and voice[V_KEY] == key and voice[V_CHANNEL] == channel:
            voice[V_STATE] = RELEASED
            set_moving(m, v)


@native
def control(m: Machine, channel: Any, number: Any, value: Any) -> None:
    """Pedals, registered parameters, mode messages; everything else is kept for whoever maps it."""
    own = m.channels[channel]
    earlier, own[number] = own[number], value
    if number == midi.SOSTENUTO:
        for v in range(m.settings[S_VOICES]):
            voice = m.voice_ints[v]
            if hears(m, voice[V_CHANNEL], channel):
                if value >= 64 and earlier < 64:
                    voice[V_SOSTENUTO] = voice[V_STATE] == HELD
                elif value < 64:
                    voice[V_SOSTENUTO] = 0
    elif number in (midi.NRPN, midi.NRPN_FINE):
        own[midi.RPN] = own[midi.RPN_FINE] = UNMOVED  # data that follow are not for a registered parameter
    elif number in (midi.DATA, midi.DATA_FINE) and own[midi.RPN] == 0:
        set_parameter(m, channel, number, value)
    elif number == midi.ALL_SOUND_OFF:
        silence(m, channel)
    elif number == midi.RESET_CONTROLLERS:
        for other in range(CHANNELS):
            if hears(m, other, channel):
                reset_controllers(m.channels[other])
        for v in range(m.settings[S_VOICES]):
            if hears(m, m.voice_ints[v, V_CHANNEL], channel):
                m.voice_ints[v, V_SOSTENUTO] = 0
    elif number >= midi.ALL_NOTES_OFF:
        let_go(m, channel)
    if moves_strings(m, number):
        stir(m, channel)
    if number in (midi.VOLUME, midi.PAN, midi.EXPRESSION, midi.RESET_CONTROLLERS):
        strips.turn_all(m)


@native
def set_parameter(m: Machine, channel: Any, number: Any, value: Any) -> None:
    """The bend's range, in semitones and cents, or the number of a zone's members."""
    own = m.channels[channel]
    if own[midi.RPN_FINE] == midi.BEND_RANGE:
        coarse, fine = own[C_RANGE] // 100, own[C_RANGE] % 100
        own[C_RANGE] = value * 100 + fine if number == midi.DATA else coarse * 100 + min(value, 99)
        share_range(m, channel)
        stir(m, own[C_MANAGER])
    elif own[midi.RPN_FINE] == midi.ZONE and number == midi.DATA and channel in midi.MANAGERS and value < CHANNELS:
        begin_anew(m, channel, resize(m, channel, value))
        strips.turn_all(m)
        own[midi.RPN], own[midi.RPN_FINE] = 0, midi.ZONE  # still chosen: only controllers were reset


@native
def begin_anew(m: Machine, manager: Any, reach: Any) -> None:
    """Let go all keys of channels up to so far from a manager: who held them has another channel now."""
    for v in range(m.settings[S_VOICES]):
        voice = m.voice_ints[v]
        if abs(voice[V_CHANNEL] - manager) <= reach:
            voice[V_SOSTENUTO] = 0
            if voice[V_STATE] == HELD:
                voice[V_STATE] = RELEASED
            set_moving(m, v)


@native
def let_go(m: Machine, channel: Any) -> None:
    """Let all dampers of a channel and its zone down, as far as the pedals allow."""
    for v in range(m.settings[S_VOICES]):
        voice = m.voice_ints[v]
        if voice[V_STATE] == HELD and hears(m, voice[V_CHANNEL], channel):
            voice[V_STATE] = RELEASED
            set_moving(m, v)


@native
def moves_strings(m: Machine, number: Any) -> Any:
    """Whether a controller can change what a sounding string should be; the others must cost nothing."""
    mapped = 0
    for r in range(m.settings[S_MAPS]):
        mapped |= m.map_ints[r, 0] == number
    own = (midi.SUSTAIN, midi.SOSTENUTO, midi.DATA, midi.DATA_FINE)
    return mapped or number in own or number >= midi.MODES


@native
def silence(m: Machine, channel: Any) -> None:
    """Have every voice of a channel and its zone fade out now, whatever the pedals say."""
    for v in range(m.settings[S_VOICES]):
        if hears(m, m.voice_ints[v, V_CHANNEL], channel) and m.voice_ints[v, V_STATE] != FREE:
            m.voice_ints[v, V_STATE] = FADING


@native
def take_events(m: Machine) -> None:
    """Obey everything that is due, and in its turn what a full ring could not hold."""
    while head(m.ring) <= m.settings[S_CLOCK]:
        take_late(m)  # flags are up before what comes after them is queued: they must not end a later note
        obey(m, take(m.ring))
    take_late(m)


@native
def take_late(m: Machine) -> None:
    """End the notes whose end found the ring full, as soon as everything that was queued before has been obeyed."""
    seen = flagged_since(m.ring, m.late)
    if seen < 0:
        return
    for channel in range(CHANNELS):
        for end in range(ENDS):
            message = flagged(m.late, seen, channel, end)
            if message >= 0:
                obey(m, message)
