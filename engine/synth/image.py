"""A designed instrument as a file: kept in the user's cache, so that it is designed once, or saved to be taken along.

    line of magic | sha256 of all that follows | compressed: size of the head, head (JSON), arrays one after the other

Nothing in a file is believed that the renderer's memory hangs on: it is laid out anew, from shapes that have been
checked. A file that does not fit is refused in one line, and nothing in it is ever run.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from engine import cache
from engine.errors import EngineError, Exit, PresetError
from engine.layout import fingerprint, seen_rows
from engine.physics.network.memory import Strand
from engine.preset.loader import Preset
from engine.preset.plain import again, plain
from engine.preset.tuning import Tuning
from engine.synth import decimate, memory, strings
from engine.synth.bank import Designed, Setup, columns_of, design, model_of, pickups_of
from engine.synth.budget import MOST_BYTES
from engine.synth.standing import check_lines, lines_of

MAGIC = b"jawari, an instrument 1\n"
FOLDER, MOST_KEPT = "instruments", 64  # of the cache
MOST_POLYPHONY, MOST_RETUNED = 256, 0.5
_FAST, _SMALL = 1, 9  # of zlib


class ImageError(EngineError):
    """A file that holds no instrument, or none of this version."""

    exit_code = Exit.PRESET


def layout() -> str:
    """What the memory looks like: files of another one are refused."""
    memories = fingerprint(memory.Machine, memory.Choir, Strand, *strings.GROUPS)
    return hashlib.sha256(f"{memories} {Designed._fields}".encode()).hexdigest()


def packed(setup: Setup, designed: Designed, effort: int = _SMALL) -> bytes:
    """The file of an instrument."""
    own = designed.strings
    arrays: dict[str, Any] = {
        "keys": designed.keys,
        "words": own.words,
        "block": own.block,
        "resting": designed.resting,
    }
    head = {
        "layout": layout(),
        "preset": plain(setup.preset),
        "tuning": plain(setup.tuning),
        "sample_rate": setup.sample_rate,
        "oversample": setup.oversample,
        "channels": setup.channels,
        "polyphony": designed.polyphony,
        "silent": designed.silent,
        "dearest": designed.dearest,
        "retuned": [[*name, times] for name, times in designed.retuned.items()],
        "sizes": {name: array.nbytes for name, array in arrays.items()},
    }
    text = json.dumps(head).encode()
    content = b"".join([len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in arrays.values())])
    whole = zlib.compress(content, effort)
    return MAGIC + hashlib.sha256(whole).digest() + whole


def unpacked(data: bytes, where: str) -> tuple[Setup, Designed]:
    """The instrument in a file; an ImageError names the file and says why there is none."""
    whole = data[len(MAGIC) + 32 :]
    if not data.startswith(MAGIC):
        raise ImageError(f"{where}: is no saved instrument; make one with Instrument.save")
    if hashlib.sha256(whole).digest() != data[len(MAGIC) : len(MAGIC) + 32]:
        raise ImageError(f"{where}: is damaged; save it again")
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(whole, 2 * MOST_BYTES)
        size = int.from_bytes(content[:8], "little")
        head = json.loads(content[8 : 8 + size])
        if head["layout"] != layout():
            raise ImageError(f"{where}: was saved by another version of jawari; save it again with this one")
        return _checked(head, content[8 + size :])
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError, PresetError, RecursionError) as error:
        raise ImageError(f"{where}: holds no instrument that can be played ({error}); save it again") from None


def _checked(head: dict[str, Any], content: bytes) -> tuple[Setup, Designed]:
    """The parts of a file, none of them believed."""
    preset, tuning = again(head["preset"], Preset), again(head["tuning"], Tuning)
    rate, channels, polyphony = float(head["sample_rate"]), head["channels"], head["polyphony"]
    if not 1e3 <= rate <= 1e6 or channels not in (1, 2) or not isinstance(polyphony, int):
        raise ValueError(f"{rate:g} Hz, {channels} channels")
    if not 1 <= polyphony <= MOST_POLYPHONY or head["oversample"] not in decimate.FACTORS:
        raise ValueError(f"{polyphony} strings, oversampled {head['oversample']} times")
    parts, at = {}, 0
    for name, size in head["sizes"].items():
        if not isinstance(size, int) or not 0 <= size <= len(content) - at:
            raise ValueError(f"{name} of {size} bytes")
        parts[name] = np.frombuffer(content, np.uint8, size, at).copy()
        at += size
    model, pickups, columns = model_of(preset), pickups_of(preset), columns_of(preset)
    keys = seen_rows(memory.KeyRow, parts["keys"])
    words = parts["words"].view(np.int64).reshape(keys.size, strings.words_in(model))
    resting = parts["resting"].view(np.float64).reshape(keys.size, columns)
    own = strings.KeyStrings(words, parts["block"])
    if keys.size < memory.KEYS or not np.isfinite([keys.gain, keys.length, keys.tension, keys.position]).all():
        raise ValueError("keys")
    for number in np.flatnonzero(keys.ready):
        strings.check(model, own, int(number), pickups, columns)
    check_lines(keys, own, lines_of(preset.assembly).size if preset.assembly else 0)
    silent = {int(number): str(reason) for number, reason in head["silent"].items()}
    retuned = {(int(key), int(part), int(course)): float(times) for key, part, course, times in head["retuned"]}
    if not all(abs(times - 1.0) < MOST_RETUNED for times in retuned.values()):
        raise ValueError("pitches")
    designed = Designed(keys, own, resting, silent, float(head["dearest"]), polyphony, retuned)
    return Setup(preset, rate, head["oversample"], polyphony, channels, tuning), designed


def designed_or_kept(setup: Setup) -> Designed:
    """The design of an instrument, from the cache if it was made before from the same preset by the same sources."""
    name = _name(setup)
    found = cache.read(name) if name else None
    if found is not None:
        try:
            return unpacked(found, name)[1]
        except ImageError:
            cache.discard(name)
    made = design(setup)
    if name:
        cache.write(name, packed(setup, made, _FAST))
        cache.thin_out(FOLDER, MOST_KEPT)
    return made


def _name(setup: Setup) -> str:
    """Of a preset that is a file; what is made up in a program is made up anew the next time, perhaps differently."""
    if not setup.preset.source.endswith((".yaml", ".yml")):
        return ""
    try:
        facts = plain(setup.preset), plain(setup.tuning), setup[1:5], setup.needed, sources()
    except PresetError:
        return ""
    return f"{FOLDER}/{hashlib.sha256(repr(facts).encode()).hexdigest()[:32]}.jawari"


def sources() -> str:
    """Changes with everything that a design depends on."""
    package, digest = Path(__file__).parent.parent, hashlib.sha256()
    rooms = [sorted((package / room).glob("*.py")) for room in (".", "physics", "physics/network", "preset", "synth")]
    for file in (file for room in rooms for file in room):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    digest.update(f"{np.__version__}".encode())
    return digest.hexdigest()
