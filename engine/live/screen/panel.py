"""The live panel as lines of text: nothing but a reading and what the terminal can show goes into it."""

from __future__ import annotations

from typing import NamedTuple

from engine.live.meter import SILENCE, Level, Reading, SoundingString
from engine.printable import printable
from engine.terminal import cells, coloured, cut

EIGHTHS = "▏▎▍▌▋▊▉█"
BLOCKS, ASCII = ("█", "▒", "·", "│"), ("#", "=", ".", "|")  # a bar's filled and hatched cells, the others, its mark
BLOCK_CHARACTERS = EIGHTHS + "".join(BLOCKS)
BOLD, DIM, RED, YELLOW = "1", "2", "31", "33"
HIGH = 0.7  # of the time that a block has: above this a machine's own noise makes blocks late
RANGE = 60.0  # dB that bars show
LABEL, TEXT, WIDEST = 9, 38, 40  # columns: left of a bar, right of it, and its own
STRING_ROWS, STRING_BAR = 3, 4


class Look(NamedTuple):
    """What the terminal can show."""

    width: int
    blocks: bool = True
    colours: bool = True


Span = tuple[str, str]  # a text and its colour, "" for none
Line = list[Span]


def draw(r: Reading, look: Look) -> list[str]:
    """The panel's lines, none wider than the look's width."""
    names = ("level",) if len(r.levels) == 1 else ("left", "right")
    lines = [
        _title(r, look.width),
        _load(r, look),
        _blocks(r),
        _gauge("voices", f"{len(r.strings):3d} of {r.polyphony}, {r.stolen} stolen", _voices(r, look), look),
        *(_level(name, level, look) for name, level in zip(names, r.levels)),
        [("notes".ljust(LABEL), ""), ("  ".join(_note(*note) for note in reversed(r.notes)), "")],
        *_strings(r.strings, look),
        [("MIDI".ljust(LABEL), ""), (", ".join(r.ports) or "no input", "" if r.ports else DIM)],
        *_faults(r),
    ]
    if r.hint:
        lines.append([(r.hint, DIM)])
    return [_finish(line, look) for line in lines]


def bar(width: int, share: float, further: float = 0.0, mark: float = -1.0, blocks: bool = True) -> str:
    """A bar filled from 0 to `share` of its width, hatched from there to `further`, with a line at `mark`."""
    full, hatch, empty, line = BLOCKS if blocks else ASCII
    steps = 8 if blocks else 1
    whole, part = divmod(round(steps * width * min(max(share, 0.0), 1.0)), steps)
    filled = full * whole + (EIGHTHS[part - 1] if part else "")
    until = round(width * min(max(further, 0.0), 1.0))
    drawn = filled.ljust(until, hatch).ljust(width, empty)
    if mark >= 0.0 and width > 0:
        at = int(width * min(mark, 1.0 - 1e-9))
        drawn = drawn[:at] + line + drawn[at + 1 :]
    return drawn


def _gauge(label: str, text: str, drawn: str, look: Look, colour: str = "") -> Line:
    gap = "  " if drawn else ""
    return [(label.ljust(LABEL), ""), (drawn, colour), (gap + text, colour)]


def _bar_width(look: Look) -> int:
    """Columns for a bar; none rather than a stump."""
    room = min(look.width - LABEL - TEXT - 2, WIDEST)
    return room if room >= 6 else 0


def _title(r: Reading, width: int) -> Line:
    facts = f"{r.rate:.0f} Hz, {r.block_size} frames, {1e3 * r.latency:.1f} ms"
    preset, device = printable(r.preset) or "no preset", printable(r.device) or "no device"
    room = max(width - cells(preset) - cells(facts) - 4, 8)
    return [(preset, BOLD), (f"  {cut(device, room)}  {facts}", "")]


def _load(r: Reading, look: Look) -> Line:
    if r.load is None:
        return _gauge("load", "the sound card asks for nothing", bar(_bar_width(look), 0.0, blocks=look.blocks), look)
    mean, p99, most = r.load
    text = f"mean {mean:4.0%}  p99 {p99:4.0%}  max {most:4.0%}"
    drawn = bar(_bar_width(look), mean, p99, most, look.blocks)
    return _gauge("load", text, drawn, look, YELLOW if p99 > HIGH else "")


def _blocks(r: Reading) -> Line:
    lost = f"{r.lost} lost"
    rest = f", {r.long} too long, {r.underflows} underflows, {duration(r.seconds)} played"
    return [("blocks".ljust(LABEL), ""), (lost, RED if r.lost else ""), (rest, "")]


def _voices(r: Reading, look: Look) -> str:
    return bar(_bar_width(look), len(r.strings) / max(r.polyphony, 1), blocks=look.blocks)


def _level(name: str, level: Level, look: Look) -> Line:
    now, held = (f"{db:5.1f}" if db > SILENCE else " -inf" for db in level[:2])
    limited = f" limited {level.held_lowered:.1f} dB" if level.held_lowered > 0.05 else ""
    text = f"{now} dBFS, peak {held}{limited}"
    drawn = bar(_bar_width(look), 1.0 + level.now / RANGE, mark=1.0 + level.held / RANGE, blocks=look.blocks)
    return _gauge(name, text, drawn, look, YELLOW if level.lowered > 0.05 else "")


def _note(name: str, velocity: int, channel: int) -> str:
    return f"{name} {velocity}" + (f" ch{channel + 1}" if channel else "")


def _strings(strings: tuple[SoundingString, ...], look: Look) -> list[Line]:
    """How far each string has died away, in rows of equal columns; always as many rows, so that nothing jumps."""
    each = 5 + STRING_BAR + 1 + 3
    columns = max((look.width - LABEL + 2) // (each + 2), 1)
    places = columns * STRING_ROWS
    spans = [_string(string, look.blocks) for string in strings]
    if len(spans) > places:
        spans[places - 1 :] = [(f"and {len(spans) - places + 1} more".ljust(each), DIM)]
    rows = []
    for row in range(STRING_ROWS):
        line: Line = [(("" if row else "strings").ljust(LABEL), "")]
        for text, colour in spans[row * columns : (row + 1) * columns]:
            line += [(text, colour), ("  ", "")]
        rows.append(line)
    return rows


def _string(string: SoundingString, blocks: bool) -> Span:
    drawn = bar(STRING_BAR, 1.0 + string.energy / RANGE, blocks=blocks)
    return f"{string.name:<5}{drawn} {max(string.energy, -99.0):3.0f}", "" if string.held else DIM


def _faults(r: Reading) -> list[Line]:
    """A line that is there only if something went wrong."""
    counts = {"silenced by the watchdog": r.watchdog, "events lost": r.events_lost, "notes too old": r.stale}
    found = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return [[("faults".ljust(LABEL), ""), (found, RED)]] if found else []


def duration(seconds: float) -> str:
    """1:02:03, or 2:03 below an hour."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _finish(line: Line, look: Look) -> str:
    """Cut to the width and coloured."""
    room, texts = look.width, []
    for text, colour in line:
        text = cut(printable(text), room)
        room -= cells(text)
        texts.append(coloured(text, colour) if colour and text.strip() and look.colours else text)
    return "".join(texts).rstrip()
