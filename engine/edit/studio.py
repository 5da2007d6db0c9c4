"""What is edited and played, and how each request is granted. Pages, sound card and files are others' concern.

Requests come from the server's threads: what is played from one, as it comes, all others one at a time. What happens
elsewhere is told to all pages by `tell`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import messages as midi
from engine.compiled import now
from engine.edit import frames, shelf
from engine.edit.errors import AskedError
from engine.edit.guard import MOST_PAGES
from engine.edit.history import History
from engine.edit.played import PLAYED
from engine.edit.requests import TABLE, Answer, Request
from engine.edit.scene import groups, rows, scene
from engine.edit.takes import Takes
from engine.edit.workshop import Wish, Workshop
from engine.errors import PresetError
from engine.live.player import Player
from engine.preset.build import is_there
from engine.preset.check import Values
from engine.preset.complaints import Complaints, shown
from engine.preset.document import plain_value, read_yaml
from engine.preset.files import own_file, own_folder
from engine.preset.loader import Preset, load_text
from engine.preset.overrides import made_moot
from engine.preset.parameters import PARAMETERS
from engine.preset.schema import KEYS, LISTED, REPEATED, plain
from engine.preset.splice import spliced, written
from engine.preset.tuning import Tuning
from engine.synth.bank import Setup
from engine.synth.capture import Watcher
from engine.synth.shaping import Making

FIRST_PAGE = 1  # of a player's inlets: the one before is the studio's own, each page has one, those behind are inputs'
INPUTS = FIRST_PAGE + MOST_PAGES
DESIGNED = 20.0  # s in which a preset is designed to the end, before it is recorded

Tell = Callable[[dict[str, Any]], None]


@dataclass
class Opened:
    """The preset that is being edited."""

    name: str
    path: Path
    history: History
    preset: Preset
    values: Values

    @property
    def own(self) -> bool:
        """Whether it is the user's own, so that saving may write it again."""
        return self.path.parent == own_folder()


class Studio:
    """One preset, one player, any number of pages."""

    def __init__(self, path: Path, player: Player, tell: Tell) -> None:
        self._player, self._tell = player, tell
        self.watcher = Watcher()
        player.watch(self.watcher)
        self._asking = threading.RLock()
        self._opened = opened_from(path.stem, path)
        self.workshop = Workshop(player, self._setup, tell)
        self.workshop.begin(self._opened.history.text, self._opened.preset)
        self.takes = Takes(player)
        self._learning = ""
        self._pages = set[int]()  # that are open
        self._answers: Mapping[str, Callable[..., Answer | None]] = {
            word: getattr(self, f"_{word}")
            for word in TABLE.keys() - PLAYED.keys() - {"sound", "hear"}  # which the session grants
        }

    def _setup(self, preset: Preset) -> Setup:
        mono = self._player.channels == 1
        return Setup(
            preset, self._player.sample_rate, preset.oversample, preset.polyphony, 1 if mono else 2, preset.tuning
        )

    # --- requests -----------------------------------------------------------------------------------------------------

    def answer(self, request: Request, page: int = 0) -> Answer:
        """Grant a request of a page; an EngineError says why not."""
        if request.word in PLAYED:  # which waits for nothing that takes long
            for data in PLAYED[request.word](**request.fields):
                self._player.send(data, 0, FIRST_PAGE + page)
            return {}
        if request.word == "record" and request.fields["on"]:  # waits by itself: nobody else is kept waiting meanwhile
            self.workshop.settled.wait(DESIGNED)
        with self._asking:
            return self._answers[request.word](**request.fields) or {}

    def hello(self) -> dict[str, Any]:
        """What a page is told first."""
        return {
            "event": "hello",
            "rows": rows(),
            "groups": groups(),
            "frames": frames.layout(),
            "movable": {p.key: {"name": p.name, "effect": p.effect} for p in PARAMETERS.values()},
            "controllers": {str(number): name for number, name in midi.CONTROLLERS.items()},
            "state": self.state(),
        }

    def state(self) -> dict[str, Any]:
        """The preset as it stands."""
        with self._asking:
            o, h = self._opened, self._opened.history
            return {
                "event": "state",
                "name": o.name,
                "own": o.own,
                "title": o.preset.name,
                "about": o.preset.about,
                **facts(o.preset, o.values),
                "changed": h.changed,
                "undo": h.undoes,
                "redo": h.redoes,
                "side": h.side,
                "learning": self._learning,
                "recording": self.takes.running,
            }

    def _set(self, path: str, value: str, gesture: int) -> Answer:
        if plain(path) not in KEYS:
            raise AskedError(f"there is no key {shown(path)}")
        o = self._opened
        given = o.values.texts
        changes: dict[str, object] = {moot: None for moot in made_moot(path, value) if moot in given}
        if plain(path) == "barrier.profile":
            changes |= _begun(value, given, path.removesuffix("barrier.profile"))
        changes[path] = _read_list(value) if KEYS[plain(path)].kind in _LISTS and value.startswith("[") else value
        self._become(spliced(o.history.text, changes), path, gesture)
        return {"path": path}

    def _remove(self, path: str) -> Answer:
        self._become(spliced(self._opened.history.text, {path: None}), f"{path} removed")
        return {"path": path}

    def _add(self, path: str, value: str, like: int) -> Answer:
        """One more of a list: the schema's own example, what is asked for, or another one again."""
        o = self._opened
        if path == "map" and like < 0 and not value:
            return self._map_another()
        if plain(path) not in REPEATED:
            raise AskedError(f"there is no list {shown(path)}")
        new = value or _EXAMPLES.get(path) or REPEATED[plain(path)][3]
        item = o.values.item(f"{path}.{like}") if like >= 0 else _read_list(new)
        if item is None:
            raise AskedError(f"there is no {shown(f'{path}.{like}')}")
        count = o.values.counts.get(path, 0)
        self._become(spliced(o.history.text, {f"{path}.{count}": item} if count else {path: [item]}), f"{path} added")
        return {"path": f"{path}.{count}"}

    def _map_another(self) -> Answer:
        """One more controller, the first that moves nothing yet, for the first key that nothing moves."""
        maps, values = self._opened.preset.controllers, self._opened.values
        moved = {c.to for c in maps}
        free = next((path for path, p in PARAMETERS.items() if path not in moved and is_there(values, p.needs)), None)
        if free is None:
            raise AskedError("everything that can move is moved by a controller already")
        self._map(free, next(n for n in range(20, midi.SUSTAIN) if f"cc{n}" not in {c.source for c in maps}))
        return {"path": f"map.{len(maps)}"}

    def _become(self, text: str, what: str, gesture: int = 0) -> None:
        """Another text, if it is a preset; its sound follows."""
        o, since = self._opened, now()
        preset, values = load_text(text, o.path.name, o.path.parent)
        o.history.push(text, what, gesture)
        self._sound(preset, values, since)

    def _sound(self, preset: Preset, values: Values, since: int) -> None:
        o = self._opened
        ears = _ears(preset) != _ears(o.preset)
        o.preset, o.values = preset, values
        self.workshop.wish(Wish(o.history.text, preset, since, ears))
        self._tell(self.state())

    def _again(self) -> None:
        """The history has moved: what it shows now is loaded and heard."""
        o, since = self._opened, now()
        self._sound(*load_text(o.history.text, o.path.name, o.path.parent), since)

    def _undo(self) -> Answer:
        what = self._opened.history.undo()
        self._again()
        return {"what": what}

    def _redo(self) -> Answer:
        what = self._opened.history.redo()
        self._again()
        return {"what": what}

    def _revert(self) -> None:
        self._opened.history.revert()
        self._again()

    def _switch(self) -> Answer:
        self._opened.history.switch()
        self._again()
        return {"side": self._opened.history.side}

    def _learn(self, path: str, on: bool) -> None:
        if path not in PARAMETERS:
            raise AskedError(f"{shown(path)} cannot move while it sounds; what can: {', '.join(PARAMETERS)}")
        self._learning = path if on else ""
        self._tell(self.state())

    def moved(self, number: int) -> None:
        """A controller was moved somewhere: the key that waits for one is mapped to it."""
        with self._asking:
            path, self._learning = self._learning, ""
            if not path:
                return
            try:
                self._map(path, number)
            except PresetError as error:
                self._tell({"event": "refused", "error": str(error)})
                self._tell(self.state())

    def _map(self, path: str, number: int) -> None:
        """The controller moves the key from where it is: over its usual way, a map that is there keeps its range."""
        o, source = self._opened, f"cc{number}"
        maps = o.preset.controllers
        for n, controller in enumerate(maps):
            if controller.to == path:
                self._become(spliced(o.history.text, {f"map.{n}.source": source}), f"{path} learnt {source}")
                return
        own, unit = PARAMETERS[path].own(o.preset), KEYS[path].unit
        item = {"source": source, "to": path, "range": [f"{end:.4g} {unit}".strip() for end in _way(path, own)]}
        entry: object = item if maps or o.values.given("map") else [item]
        where = f"map.{len(maps)}" if maps or o.values.given("map") else "map"
        self._become(spliced(o.history.text, {where: entry}), f"{path} learnt {source}")

    def _presets(self) -> Answer:
        return {"presets": shelf.listing()}

    def _open(self, name: str, lose: bool) -> Answer:
        if self._opened.history.changed and not lose:
            return {"ask": f"{self._opened.preset.name} has changes that are not saved"}
        if self.takes.running:
            raise AskedError("a take is being recorded; stop it first")
        opened = opened_from(name, shelf.find(name))
        self._opened = opened
        self.workshop.wish(Wish(opened.history.text, opened.preset, now(), other_ears=True, another=True))
        self._tell(self.state())
        return {}

    def _save(self, name: str, replace: bool) -> Answer:
        o = self._opened
        same = o.own and name == o.name
        if not same and not replace and own_file(name).exists():
            return {"ask": f"{name} exists already; replace it?"}
        path = shelf.save(name, o.history.text, o.path.parent, replace or same)
        o.name, o.path = name, path
        o.history.saved(o.history.text)
        self._tell(self.state())
        return {"saved": name, "path": str(path)}

    def _text(self) -> Answer:
        return {"name": f"{self._opened.name}.yaml", "text": self._opened.history.text}

    def _record(self, on: bool) -> Answer:
        if on:
            o, made = self._opened, self.workshop
            if not made.settled.is_set() or made.instrument is None or made.making != Making(o.history.text):
                raise AskedError("the preset is still being designed; try again in a moment")
            path = self.takes.begin(o.name, o.history.text, made.instrument, o.path.parent)
            answer: Answer = {"recording": path.name}
        else:
            said, files = self.takes.end()
            answer = {"said": said, "folder": str(files[0].parent), "files": [file.name for file in files]}
        self._tell(self.state())
        return answer

    def come(self, page: int) -> None:
        """A page is open."""
        self._pages.add(page)
        self.watcher.watch(True)

    def gone(self, page: int) -> None:
        """It is not any more: what it holds, keys, pedals and wheels, is let go."""
        self._pages.discard(page)
        self.watcher.watch(bool(self._pages))
        self._player.let_go(FIRST_PAGE + page)

    def _focus(self, key: int, string: int, pace: float) -> None:
        seen = self.watcher.memory
        seen.focus, seen.string, seen.pace = key, string, pace

    def _strobe(self, slip: float) -> None:
        self.watcher.memory.slip = slip

    def _film(self, length: int) -> Answer:
        return {"armed": self.watcher.arm(length)}

    def close(self) -> None:
        """The end of a session."""
        self.takes.close()
        self.workshop.close()


def _ears(preset: Preset) -> tuple[object, ...]:
    """What hears: where it is another, an old gain may be a thousand times wrong."""
    body = preset.assembly.body if preset.assembly else None
    return preset.problem.pickups, preset.model, body


def facts(preset: Preset, values: Values) -> dict[str, Any]:
    """What a page shows of a preset, and drags."""
    return {
        "texts": {path: _said(text) for path, text in values.texts.items()},
        "values": {path: _number(value) for path, value in values.accepted.items()},
        "derived": _derived(preset),
        "counts": {"pickups": 0 if preset.assembly else len(preset.problem.pickups), **values.counts},
        "scene": scene(preset, values),
        "map": [
            {"source": c.source, "to": c.to, "low": c.low, "high": c.high, "unit": KEYS[c.to].unit}
            for c in preset.controllers
        ],
    }


def opened_from(name: str, path: Path) -> Opened:
    """The preset in a file, as it is there."""
    text = shelf.text_of(path)
    preset, values = load_text(text, str(path), path.parent)
    return Opened(name, path, History(text), preset, values)


# --- what is said of values -------------------------------------------------------------------------------------------

# What a profile begins with that needs more than its name: something to hear, and to drag elsewhere.
_STARTS: dict[str, dict[str, object]] = {
    "parabola": {"barrier.curvature": "0.75 1/m"},
    "polynomial": {"barrier.coefficients": ["0 mm", "0", "-0.75 1/m"]},
    "table": {
        "barrier.table": [["0 mm", "0 mm"], ["10 mm", "-0.05 mm"], ["30 mm", "-0.6 mm"]],
        **dict.fromkeys(("barrier.from", "barrier.to")),
    },
    "points": {"barrier.at": [["5 mm", "0 mm"]], **dict.fromkeys(("barrier.from", "barrier.to"))},
}


def _begun(profile: str, given: Mapping[str, object], own: str = "") -> dict[str, object]:
    """The keys of a profile that was just chosen, for all strings or for an `own` one; and the contact's stiffness,
    whose unit follows it, without one.
    """
    starts = {f"{own}{key}": value for key, value in _STARTS.get(profile, {}).items()}
    changes = {path: value for path, value in starts.items() if value is not None or path in given}
    lumped = given.get(f"{own}barrier.profile", given.get("barrier.profile")) == "points"
    where = f"{own}contact.stiffness" if f"{own}contact.stiffness" in given else "contact.stiffness"
    stiffness = given.get(where)
    if isinstance(stiffness, str) and (profile == "points") != lumped:
        changes[f"{own}contact.stiffness"] = stiffness.split()[0]
    return changes


_EXAMPLES = {"strings": "{played: C0-G9}"}  # of the first string all keys, else nothing but its own would be heard
_LISTS = (*LISTED, "span", "words")


def _read_list(value: str) -> object:
    """A list as it was typed, or drawn: [[0 mm, 0 mm], [30 mm, -1 mm]]."""
    complaints = Complaints()
    found = plain_value(read_yaml(value, "value", complaints, key="value"))
    complaints.raise_if_any()
    return found


def _said(text: object) -> str:
    return text if isinstance(text, str) else written(text)


def _number(value: Any) -> Any:
    """What JSON can say of a value; None where only its text says what it is."""
    if isinstance(value, Tuning):
        return value.name
    if isinstance(value, tuple):
        return [_number(item) for item in value]
    return value if isinstance(value, str | int | float) else None


def _derived(preset: Preset) -> dict[str, float]:
    """What follows for keys that are not given."""
    s = preset.problem.string
    return {
        "string.tension": s.tension,
        "string.density": s.density,
        "string.stiffness": s.stiffness,
        "string.tuned": s.pitch,
        **{f"string.loss.{term}": value for term, value in vars(s.loss).items()},
    }


def _way(path: str, own: float) -> tuple[float, float]:
    """From where a key is to where a controller may bring it, if nobody says otherwise."""
    low, high = KEYS[path].low, KEYS[path].high
    if path == "barrier.height":
        return own, own + 2e-4
    if path == "excitation.position":
        return own, 1.0 - own if abs(own - 0.5) > 0.1 else 0.1
    if path == "gain":
        return max(own - 24.0, low), own
    return own, min(max(8.0 * own, 1.0 if own == 0.0 else 0.0), high)
