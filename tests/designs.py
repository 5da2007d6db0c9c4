"""Designs that the tests of one process share: where strings are played, not designed, that took most of the time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.errors import PresetError
from engine.preset.plain import plain
from engine.synth import image
from engine.synth.bank import Designed, Setup

MOST = 24  # of some megabytes each
_made: OrderedDict[str, Designed] = OrderedDict()


@contextmanager
def shared() -> Iterator[None]:
    """What has been designed before is not designed again; an instrument copies all that it changes."""
    design = image.design

    def once(setup: Setup) -> Designed:
        try:
            name = repr((plain(setup.preset), plain(setup.tuning), setup[1:5], setup[6:]))
        except PresetError:  # a barrier made in Python
            return design(setup)
        if name not in _made:
            _made[name] = design(setup)
            while len(_made) > MOST:
                _made.popitem(last=False)
        _made.move_to_end(name)
        return _made[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image, "design", once)
        yield
