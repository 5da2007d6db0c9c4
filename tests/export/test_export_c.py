"""`--format c`: a program in C plays what the engine plays, to the last bit, on every level and kind of processor."""

from __future__ import annotations
