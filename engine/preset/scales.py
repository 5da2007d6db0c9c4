"""Scales that have a name: temperaments, ragas, maqams. Each is what keys sound, and the notes that belong to it.

A raga is written in svaras, sargam's letters: small ones are flat (r g d n), m is the sharp Ma. Each stands for one of
the 22 shrutis, ratios of 2, 3 and 5 (`SHRUTIS`); - is the same svara a comma lower, + a comma higher. Svaras that a
raga leaves out are in just intonation on the keyboard, so that all twelve keys sound, and no string answers to them.
Players and schools differ by a comma in many of these: any of them can be written as a Scala file.
"""

from __future__ import annotations

from engine.elementary import log2

Degrees = tuple[float, ...]  # octaves above 1/1

# The 22 shrutis of an octave: a svara's own and its neighbour a comma (81/80 or 256/243 : 16/15) away.
SHRUTIS = {
    "S": (1, 1),
    "r-": (256, 243), "r": (16, 15), "R-": (10, 9), "R": (9, 8),
    "g-": (32, 27), "g": (6, 5), "G": (5, 4), "G+": (81, 64),
    "M": (4, 3), "M+": (27, 20), "m": (45, 32), "m+": (729, 512),
    "P": (3, 2),
    "d-": (128, 81), "d": (8, 5), "D": (5, 3), "D+": (27, 16),
    "n-": (16, 9), "n": (9, 5), "N": (15, 8), "N+": (243, 128),
}  # fmt: skip
SVARAS = "SrRgGMmPdDnN"  # of the twelve keys from Sa on

RAGAS = {
    # The ten thaats, by which ragas are sorted; kalyan is called by its first raga.
    "bilawal": "S R G M P D N",
    "khamaj": "S R G M P D n-",
    "kafi": "S R g- M P D n-",
    "asavari": "S R g M P d n",
    "bhairavi": "S r g M P d n",
    "bhairav": "S r G M P d N",
    "yaman": "S R G m P D+ N",
    "marwa": "S r G m D N",
    "purvi": "S r G m P d N",
    "todi": "S r- g- m P d- N",
    # Others.
    "ahir-bhairav": "S r G M P D n-",
    "bageshri": "S R g- M P D n-",
    "basant": "S r G M m P d N",
    "bhimpalasi": "S R g M P D n",
    "bhupali": "S R G P D",
    "bihag": "S R G M m P D+ N",
    "brindabani-sarang": "S R M P n- N",
    "chandrakauns": "S g- M d- N",
    "charukeshi": "S R G M P d n",
    "darbari": "S R g- M P d- n-",
    "desh": "S R G M P D n- N",
    "durga": "S R M P D+",
    "gujari-todi": "S r- g- m d- N",
    "hamsadhwani": "S R G P N",
    "jaunpuri": "S R g M P d n",
    "jog": "S g G M P n-",
    "kirwani": "S R g M P d N",
    "lalit": "S r G M m d N",
    "madhuvanti": "S R g m P D+ N",
    "malkauns": "S g- M d- n-",
    "megh": "S R M P n-",
    "multani": "S r- g- m P d- N",
    "puriya": "S r G m D N",
    "puriya-dhanashri": "S r G m P d N",
    "shivaranjani": "S R g P D+",
    "shree": "S r- G m P d- N",
    "tilang": "S G M P n- N",
}

# In cents above the first note, in quarter tones, as the Arab theory of 24 equal parts has them.
MAQAMS = {
    "bayati": (0, 150, 300, 500, 700, 800, 1000),
    "hijaz": (0, 100, 400, 500, 700, 800, 1000),
    "husayni": (0, 150, 300, 500, 700, 850, 1000),
    "nahawand": (0, 200, 300, 500, 700, 800, 1000),
    "rast": (0, 200, 350, 500, 700, 900, 1050),
    "saba": (0, 150, 300, 400, 700, 800, 1000),
}

_FIVE_LIMIT = ((16, 15), (9, 8), (6, 5), (5, 4), (4, 3), (45, 32), (3, 2), (8, 5), (5, 3), (9, 5), (15, 8), (2, 1))
_FIFTH = log2(3 / 2)
_PYTHAGOREAN, _SYNTONIC = 12.0 * _FIFTH - 7.0, log2(81 / 80)  # commas
_FLATS, _SHARPS = (-1, -2, -3, -4), range(1, 8)  # fifths of a circle below and above its C: to A flat, to C sharp


def _octaves(*ratios: tuple[int, int]) -> Degrees:
    return tuple(log2(above / below) for above, below in ratios)


def _fifths(size: float) -> Degrees:
    """The twelve notes of a chain of fifths from E flat to G sharp, folded into the octave above C; and the octave."""
    return (*sorted(k * size % 1.0 for k in (-3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8)), 1.0)


def _circle(*narrowed: float, below: float = 0.0) -> Degrees:
    """A temperament by what the fifths above C are narrowed by, C-G first, and the one below; all others are pure."""
    above = [(k * _FIFTH - sum(narrowed[:k])) % 1.0 for k in _SHARPS]
    return (*sorted([*above, *((k * _FIFTH + below) % 1.0 for k in _FLATS)]), 1.0)


def _keys_of(svaras: str) -> Degrees:
    """What twelve keys sound in a raga."""
    given = {svara[0]: log2(SHRUTIS[svara][0] / SHRUTIS[svara][1]) for svara in svaras.split()}
    just = dict(zip(SVARAS[1:], _octaves(*_FIVE_LIMIT)))
    return (*(given.get(svara, just[svara]) for svara in SVARAS[1:]), 1.0)


def _keys_of_maqam(cents: tuple[int, ...]) -> Degrees:
    """What twelve keys sound in a maqam: a quarter tone is on the key above it, whose note it is half flat."""
    places = {(note + 50) // 100: note for note in cents}
    return (*(places.get(key, 100 * key) / 1200.0 for key in range(1, 12)), 1.0)


# Degrees 1, 2 ... in octaves above degree 0; the last is the period.
TEMPERAMENTS = {
    "equal": tuple(degree / 12 for degree in range(1, 13)),
    "just": _octaves(*_FIVE_LIMIT),
    "pythagorean": _fifths(_FIFTH),
    "meantone": _fifths(log2(5) / 4),  # of a quarter comma: four fifths make a pure third
    # Werckmeister 1691: C-G, G-D, D-A and B-F# a quarter of a comma narrow.
    "werckmeister": _circle(*(_PYTHAGOREAN / 4 * narrow for narrow in (1, 1, 1, 0, 0, 1, 0))),
    # Kirnberger's third: C-G-D-A-E make a pure third, and F#-C# takes the rest.
    "kirnberger": _circle(*(_SYNTONIC / 4 * narrow for narrow in (1, 1, 1, 1, 0, 0)), _PYTHAGOREAN - _SYNTONIC),
    # Vallotti: the fifths of the white keys, F to B, each a sixth of a comma narrow.
    "vallotti": _circle(*5 * [_PYTHAGOREAN / 6], below=_PYTHAGOREAN / 6),
    "shruti": (*_octaves(*SHRUTIS.values())[1:], 1.0),
}

SCALES = (
    TEMPERAMENTS
    | {name: _keys_of(svaras) for name, svaras in RAGAS.items()}
    | {name: _keys_of_maqam(cents) for name, cents in MAQAMS.items()}
)
ROOTED = {"shruti", *RAGAS, *MAQAMS}  # whose 1/1 keeps the pitch that it has in equal temperament: the drone's


def notes_of(name: str) -> Degrees:
    """The notes that belong to a scale, in octaves above its 1/1, from it on: of a raga its svaras alone."""
    if name in RAGAS:
        return _octaves(*(SHRUTIS[svara] for svara in RAGAS[name].split()))
    if name in MAQAMS:
        return tuple(note / 1200.0 for note in MAQAMS[name])
    return (0.0, *SCALES[name][:-1])
