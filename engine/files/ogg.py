"""Ogg's pages with a number that is always the same: libsndfile draws the one by which streams are told apart.

A page is "OggS", version, flags, position (8 bytes), the stream's number (4), the page's (4), a checksum (4), how many
segments there are, their lengths, and the segments (RFC 3533).
"""

from __future__ import annotations

import zlib
from pathlib import Path

NUMBER = b"jwri"
_HEADER, _NUMBER, _CHECKSUM, _SEGMENTS = 27, slice(14, 18), slice(22, 26), 26  # bytes of a page, and places in it
_MIRROR = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_NONE_YET = 0xFFFFFFFF  # what zlib's sum of bytes so far looks like if its register is to begin with 0


def settle_number(path: Path) -> None:
    """Give every page of a file of one stream the same number, whenever it was written."""
    with path.open("rb+") as file:
        while page := bytearray(file.read(_HEADER)):
            lengths = file.read(page[_SEGMENTS])
            page += lengths + file.read(sum(lengths))
            page[_NUMBER] = NUMBER
            page[_CHECKSUM] = bytes(4)
            page[_CHECKSUM] = checksum(page)
            file.seek(-len(page), 1)
            file.write(page)


def checksum(page: bytes | bytearray) -> bytes:
    """Ogg's CRC, little end first: that of zlib (whose bits run the other way), begun with 0 and left as it is."""
    mirrored = zlib.crc32(page.translate(_MIRROR), _NONE_YET) ^ _NONE_YET
    return mirrored.to_bytes(4, "big").translate(_MIRROR)
