"""LV2 bundles for tests, around images that other tests have, too."""

from __future__ import annotations

from pathlib import Path

from export.exporting import RATE, image_of, rack

from engine.export import lv2
from engine.export.job import Export
from engine.export.targets import target_of


class Ready(Export):
    """An order whose image is made already."""

    @property
    def image(self) -> bytes:  # type: ignore[override]
        return image_of(*(part.label for part in self.rack.parts))


def order(*names: str) -> Export:
    return Ready(rack(*names), (float(RATE),), target_of(None), print)


def bundle_for_all(folder: Path, *names: str) -> Path:
    """For all sample rates."""
    made = folder / f"{'-'.join(names)}-any.lv2"
    if not made.exists():
        made.mkdir()
        lv2.write(Export(rack(*names), (), target_of(None), print), made)
    return made


def bundle(folder: Path, *names: str) -> Path:
    made = folder / f"{'-'.join(names)}.lv2"
    if not made.exists():
        made.mkdir()
        lv2.write(order(*names), made)
    return made
