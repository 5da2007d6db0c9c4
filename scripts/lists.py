"""Lists of the documents that follow from what is shipped: presets, their gallery, scales."""

from __future__ import annotations

from engine.commands.presets import by_family
from engine.preset.files import shipped
from engine.preset.loader import Preset, load_preset
from engine.preset.scales import MAQAMS, RAGAS, TEMPERAMENTS
from engine.units import hz_to_key, key_to_note


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of Markdown; columns of figures are told by their heads' last character being a blank."""
    rule = "|".join("--:" if word.endswith(" ") else "---" for word in head)
    lines = ["| " + " | ".join(row) + " |" for row in [tuple(word.strip() for word in head), *rows]]
    return "\n".join([lines[0], f"|{rule}|", *lines[1:]]) + "\n"


def presets() -> str:
    """A row for each shipped preset."""
    rows = []
    for name in shipped():
        preset = load_preset(name)
        wheel = next((f"{c.to}" for c in preset.controllers if c.source == "cc1"), "")
        rows.append((f"`{name}`", preset.about, _model(preset), f"`{wheel}`" if wheel else ""))
    return table(("preset", "what it is", "model", "the wheel moves"), rows)


def _model(preset: Preset) -> str:
    string = preset.problem.string
    note = key_to_note(round(hz_to_key(string.pitch)))
    return f"{'modes' if preset.model == 'modal' else 'finite differences'} ×{preset.oversample}, {note}"


def gallery() -> str:
    """Every shipped preset by its family: a sentence, and its contact sheet."""
    parts = []
    for family, members in by_family({name: load_preset(name) for name in shipped()}).items():
        parts.append(f"## {family or 'Others'}\n")
        for name, preset in members.items():
            drone = " `--drone` strums it." if preset.drone else ""
            parts.append(f"### [{name}]({name}.yaml)\n\n{preset.about}{drone} *{', '.join(preset.tags)}*\n")
            parts.append(f"![{preset.name}: its phrase, and its string](../scripts/pictures/sheets/{name}.png)\n")
    return "\n".join(parts)


def scales() -> str:
    """The tunings that have a name."""
    kinds = (("temperaments", TEMPERAMENTS), ("ragas", RAGAS), ("maqams", MAQAMS))
    rows = [(kind, ", ".join(f"`{name}`" for name in names)) for kind, names in kinds]
    return table(("kind", "names"), rows)
