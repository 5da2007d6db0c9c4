"""Random playing: notes, wheels, pedals, floods of controllers, MPE zones, and parameters that mean nothing."""

from __future__ import annotations

from random import Random

Message = tuple[int, ...]
Event = tuple[int, Message]  # sample, bytes

PEDALS = (64, 66, 67)
MAPPED = (1, 20, 74)  # what random presets like to map


def random_music(chance: Random, keys: list[int], frames: int) -> list[Event]:
    """Events in the order of their samples; at least one note is struck early, so that there is something to hear."""
    channels = chance.choice(([0], [0, 1], list(range(16))))
    zone = [(0, message) for message in mpe_zone(chance)] if chance.random() < 0.3 else []
    first = [(chance.randrange(1 + frames // 20), (0x90 | channels[0], chance.choice(keys), chance.randint(1, 127)))]
    events = [
        (chance.randrange(frames), message)
        for _ in range(chance.choice((2, 10, 40)))
        for message in (gesture(chance, keys, chance.choice(channels)),)
    ]
    if chance.random() < 0.2:
        events += flood(chance, frames, chance.choice(channels))
    return zone + sorted(first + events, key=lambda event: event[0])


def gesture(chance: Random, keys: list[int], channel: int) -> Message:
    """A message, notes more often than the others."""
    key, value = chance.choice(keys), chance.choice((0, 127, chance.randrange(128)))
    match chance.randrange(12):
        case 0 | 1 | 2 | 3:
            return 0x90 | channel, key, value
        case 4 | 5:
            return 0x80 | channel, key, value
        case 6:
            return 0xE0 | channel, chance.choice((0, 127, chance.randrange(128))), value
        case 7:
            return 0xD0 | channel, value
        case 8:
            return 0xB0 | channel, chance.choice(PEDALS), value
        case 9:
            return 0xB0 | channel, chance.choice(MAPPED), value
        case 10:  # registered parameters, known or not, and their data, in any order
            return 0xB0 | channel, chance.choice((6, 38, 96, 97, 98, 99, 100, 101)), chance.choice((0, 6, value))
        case _:
            return 0xB0 | channel, chance.randrange(128), value


def mpe_zone(chance: Random) -> list[Message]:
    """A zone with some members, and the range of their bends."""
    manager = chance.choice((0, 15))
    settings = [(101, 0), (100, 6), (6, chance.randrange(16)), (101, 0), (100, 0), (6, chance.choice((2, 48, 96, 127)))]
    return [(0xB0 | manager, number, value) for number, value in settings]


def flood(chance: Random, frames: int, channel: int) -> list[Event]:
    """A controller, a wheel or a pressure that is moved all the time for a while."""
    begin, number = chance.randrange(frames), chance.choice((*MAPPED, *PEDALS))
    status = chance.choice((0xB0, 0xD0, 0xE0))
    end = min(frames, begin + frames // 4 + 1)
    times = [chance.randrange(begin, end) for _ in range(400)]
    first = {0xB0: number}.get(status)
    return [
        (at, (status | channel, chance.randrange(128) if first is None else first, chance.randrange(128)))
        for at in times
    ]
