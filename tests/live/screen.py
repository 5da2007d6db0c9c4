"""A terminal in a few lines: what is on the screen after text and the escapes that the panel uses."""

from __future__ import annotations

import io
import re

TOKEN = re.compile(r"\x1b\[(\??)([0-9]*)([A-Za-z])|(.)", re.DOTALL)


class Screen:
    """Rows of text that wrap at the width, scroll at the height, and are wrapped anew when the width changes."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self.columns, self.rows = columns, rows
        self.text, self.wrapped = [""], [False]  # a row, and whether it goes on from the one above
        self.row = self.column = 0
        self.cursor = True

    def feed(self, text: str) -> None:
        for private, number, letter, character in TOKEN.findall(text):
            if character:
                self._put(character)
            elif letter == "A":
                self.row = max(self.row - int(number), len(self.text) - self.rows, 0)
            elif letter == "K":
                self.text[self.row] = self.text[self.row][: self.column]
                self.wrapped[self.row + 1 : self.row + 2] = [False] * (self.row + 1 < len(self.text))
            elif letter == "J":
                self.text[self.row] = self.text[self.row][: self.column]
                del self.text[self.row + 1 :], self.wrapped[self.row + 1 :]
            elif private and number == "25":
                self.cursor = letter == "h"
            else:
                assert letter == "m", f"no such escape: {letter}"

    def _put(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":  # the terminal's driver puts a return before it
            self._down(False)
        else:
            assert character.isprintable()
            if self.column == self.columns:
                self._down(True)
            row = self.text[self.row].ljust(self.column)
            self.text[self.row] = row[: self.column] + character + row[self.column + 1 :]
            self.column += 1

    def _down(self, wrapped: bool) -> None:
        self.row, self.column = self.row + 1, 0
        if self.row == len(self.text):
            self.text.append("")
            self.wrapped.append(wrapped)

    def resize(self, columns: int) -> None:
        """The cursor is at the start of an empty last row, as the panel leaves it."""
        assert (self.row, self.column, self.text[-1]) == (len(self.text) - 1, 0, "")
        whole: list[str] = []
        for text, wrapped in zip(self.text, self.wrapped, strict=True):
            whole[len(whole) - wrapped :] = [whole[-1] + text] if wrapped else [text]
        self.text, self.wrapped, self.columns = [], [], columns
        for text in whole:
            pieces = [text[i : i + columns] for i in range(0, len(text), columns)] or [""]
            self.text += pieces
            self.wrapped += [i > 0 for i in range(len(pieces))]
        self.row = len(self.text) - 1

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.text]


class Stream(io.StringIO):
    """A stream that a screen shows; `writes` tells how often it was written to."""

    encoding = "utf-8"

    def __init__(self, screen: Screen | None = None, encoding: str = "utf-8") -> None:
        super().__init__()
        self.screen, self.writes = screen, 0
        self.encoding = encoding  # type: ignore[misc]

    def isatty(self) -> bool:
        return self.screen is not None

    def fileno(self) -> int:
        return 1

    def write(self, text: str) -> int:
        text.encode(self.encoding)  # or an error, as from a real one
        self.writes += 1
        if self.screen:
            self.screen.feed(text)
        return super().write(text)
