"""Leaf: what comes from outside, as text that a terminal shows and does not obey."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text on one line, with line breaks, escapes and all else that does not print written out: ESC is \\x1b."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
