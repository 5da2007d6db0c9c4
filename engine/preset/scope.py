"""What a preset says of one of its strings: first what the string has of its own, then what is said for all of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any, TypeVar

from engine.errors import PhysicsError
from engine.preset.check import Values
from engine.preset.network_keys import ANGLE, OF_A_BARRIER, OF_A_STRING
from engine.preset.overrides import made_moot
from engine.preset.schema import KEYS, OWN, REPEATED, TABLE, plain

T = TypeVar("T")

# What makes an instrument of a preset: groups, where they are given, and keys, where they say anything but the default.
_GROUPS = ("strings", "exciter", "knock", "damper", "ports", "planes", "courses", "registers", "body")
_SINGLE = (*(key.name for key in (*OF_A_STRING, *OF_A_BARRIER, ANGLE)), "coupling")


def network_key(values: Values) -> str:
    """The first key that a string by itself would know nothing of; "" if there is none."""
    given = (group for group in _GROUPS if values.given(group))
    other = (name for name in _SINGLE if values.accepted.get(name, KEYS[name].default) != KEYS[name].default)
    return next(chain(given, other), "")


def parts(values: Values) -> list[str]:
    """Of whom scopes are made: each of several strings, or the preset itself."""
    return values.instances("strings") or [""]


class Scope:
    """Lookup by the names of the table for one string, `own` being strings.2, or for the preset itself, where it is "".

    What a string has of its own makes moot what is said for all, as an override would: a diameter the density, another
    profile the curvature of the old one.
    """

    def __init__(self, values: Values, own: str = "") -> None:
        self.values, self.own = values, own
        self._moot: set[str] = set()
        if not own:
            return
        for path, value in values.accepted.items():
            if path.startswith(f"{own}."):
                self._moot |= set(made_moot(plain(path), value))
        wound = values.given(f"{own}.string.density") and not self.given("string.diameter")
        self._moot |= {"string.material"} if wound else set()

    def path(self, name: str) -> str:
        """Where a key or a group stands, or would, if it were the string's own; an item's key says where it stands."""
        group = name.partition(".")[0]
        if not self.own or group not in OWN or plain(name) != name:
            return name
        mine = f"{self.own}.{name}"
        mine_only = name in self._moot or self.values.given(mine) or not self.values.given(name)
        return mine if mine_only else name

    def given(self, name: str) -> bool:
        """Whether anything is said of this key or inside this group."""
        return self.values.given(self.path(name))

    def __getitem__(self, name: str) -> Any:
        return self.values[self.path(name)]

    def refused(self, name: str) -> bool:
        """Whether this key, or a group around it, was complained about."""
        return self.values.refused(self.path(name))

    def refuse(self, name: str, message: str, *, physical: bool = False) -> None:
        """Complain about a key; what needs its value is left out."""
        self.values.refuse(self.path(name), message, physical=physical)

    def instances(self, group: str) -> list[str]:
        """The paths of a group: its name, or an item each where it is a list."""
        return self.values.instances(self.path(group)) if group in REPEATED else [group]

    @property
    def sympathetic(self) -> bool:
        """Whether these are strings that nobody plays."""
        return bool(self.own) and self.values.given(f"{self.own}.sympathetic")

    @property
    def pitches(self) -> tuple[float, ...]:
        """Those of strings that nobody plays, Hz."""
        return tuple(self.values[f"{self.own}.sympathetic"]) if self.sympathetic else ()

    @property
    def own_keys(self) -> tuple[str, ...]:
        """Those that it has of its own, so that what is said for all does not reach it."""
        if not self.own:
            return ()
        names = (key.name for key in TABLE if key.name.partition(".")[0] in OWN and plain(key.name) == key.name)
        return tuple(name for name in names if name in self._moot or self.values.given(f"{self.own}.{name}"))

    def attempt(self, build: Callable[[Scope], T]) -> T | None:
        """What `build` makes of the values; None, with a complaint, where the physics refuses them."""

        def built(_: Values) -> T:
            try:
                return build(self)
            except PhysicsError as error:
                path = self.path(error.key) if error.key in KEYS else error.key
                raise PhysicsError(path, error.value, error.limit, error.remedy) from None

        return self.values.attempt(built)
