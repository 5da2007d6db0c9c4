"""States of a preset, each its whole text: undo and redo without end, two of them to compare, and the file."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Version:
    """A text, and what was done to come to it."""

    text: str
    what: str
    gesture: int = 0  # the hand's movement that it belongs to; 0: none


@dataclass
class History:
    """All states that were, the present one among them."""

    file: str  # the text as it is on disk
    _states: list[Version] = field(default_factory=list)
    _at: int = 0
    _other: str | None = None  # the text of the side that is not heard
    side: str = "A"

    def __post_init__(self) -> None:
        self._states = [Version(self.file, "opened")]

    @property
    def text(self) -> str:
        """The present one."""
        return self._states[self._at].text

    @property
    def changed(self) -> bool:
        """Whether it differs from the file."""
        return self.text != self.file

    @property
    def undoes(self) -> str:
        """What undo would take back; "" if nothing."""
        return self._states[self._at].what if self._at else ""

    @property
    def redoes(self) -> str:
        """What redo would do again; "" if nothing."""
        return self._states[self._at + 1].what if self._at + 1 < len(self._states) else ""

    def push(self, text: str, what: str, gesture: int = 0) -> None:
        """Another state; of one gesture there is one entry, and what comes to the same is none."""
        if text == self.text:
            return
        last = self._states[self._at]
        del self._states[self._at + 1 :]
        if gesture and last.gesture == gesture and self._at:
            self._states.pop()
            if self._states[-1].text == text:  # the hand went back to where it began
                self._at = len(self._states) - 1
                return
        self._states.append(Version(text, what, gesture))
        self._at = len(self._states) - 1

    def undo(self) -> str:
        """One back; what was taken back, "" if there was nothing."""
        what = self.undoes
        self._at = max(self._at - 1, 0)
        return what

    def redo(self) -> str:
        """One on again."""
        what = self.redoes
        self._at += bool(what)
        return what

    def revert(self) -> None:
        """Back to the file, which can be undone."""
        self.push(self.file, "back to the file")

    def switch(self) -> None:
        """Hear the other of two states; the first time it is the same one, to go elsewhere from."""
        here, there = self.text, self.text if self._other is None else self._other
        self._other, self.side = here, "B" if self.side == "A" else "A"
        self.push(there, f"side {self.side}")

    def saved(self, text: str) -> None:
        """This text is on disk now."""
        self.file = text
