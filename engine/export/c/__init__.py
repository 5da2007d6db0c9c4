"""The format c: an object file, a header and an image, for any program that can call C."""

from __future__ import annotations

from pathlib import Path

from engine.export.header import header
from engine.export.job import CODE, IMAGE, ROOM, Export, described, licence

BUILD = {
    "linux": "cc -O2 -o example example.c jawari.o -lm\n./example jawari.image {rate:g} notes.wav",
    "macos": "cc -O2 -o example example.c jawari.o\n./example jawari.image {rate:g} notes.wav",
    "windows": "gcc -O2 -o example.exe example.c jawari.o\nexample jawari.image {rate:g} notes.wav",
}


def write(order: Export, folder: Path) -> None:
    """Fill a folder."""
    (folder / CODE).write_bytes(order.code)
    (folder / IMAGE).write_bytes(order.image)
    (folder / "jawari.h").write_text(header(order.rack, order.dials, order.rates), encoding="utf-8")
    (folder / "example.c").write_bytes((ROOM / "c" / "example.c").read_bytes())
    (folder / "LICENSE").write_text(licence(), encoding="utf-8")
    (folder / "README.md").write_text(readme(order), encoding="utf-8")


def readme(order: Export) -> str:
    """How to build with it."""
    target = order.target
    build = BUILD[target.name.partition("-")[0]].format(rate=order.rates[0] if order.rates else 48_000)
    levels = ", ".join(target.levels)
    several = f", for {levels};\n  the processor decides which is used, and the sound is the same bits"
    chosen = several if len(target.levels) > 1 else f" for {levels}"
    return f"""# {order.rack.name}, for programs in C

The renderer of Jawari as machine code for {target.name} ({target.tried}), and instruments for it as a file.
No Python is in it; what it plays is what `jawari render` plays, to the last bit.

```
{build}
```

- `{CODE}`: the code{chosen}.
  It has the functions of `jawari.h` and no other symbol, and needs memset and fmod of the C library.
- `{IMAGE}`: the instruments, as they lie in memory at rest. It opens with this code only, and is checked for
  damage, not for malice: take one from where you would take a program. Read it, or put it into the program.
- `jawari.h`: everything that can be called. `example.c`: three notes into a WAV file.

{described(order, called=True)}

Free to use by the terms in LICENSE.
"""
