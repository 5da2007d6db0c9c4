"""Under JAWARI_GUARD=1, whatever the live tests start aborts if its audio thread breaks a rule of real time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from live import guard


@pytest.fixture(scope="module", autouse=True)
def guarded_programs() -> Iterator[None]:
    """Before any other fixture takes a copy of the environment."""
    with pytest.MonkeyPatch.context() as patch:
        if guard.ON and not guard.missing():
            patch.setenv("LD_PRELOAD", str(guard.library()))
        yield
