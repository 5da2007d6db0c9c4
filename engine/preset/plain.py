"""A preset as plain data, for files and keys of caches, and back, checked by the types of its classes."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from engine.errors import EngineError, PresetError
from engine.physics import barrier, excitation, problem, string
from engine.physics.network import parts
from engine.preset import assembly, circuit, drone, loader, playing, room, strum, tuning

_KIND = "is"
_KNOWN = {
    name: found
    for module in (
        *(barrier, excitation, parts, problem, string),
        *(assembly, circuit, drone, loader, playing, room, strum, tuning),
    )
    for name, found in vars(module).items()
    if is_dataclass(found) and isinstance(found, type)
}


def plain(value: Any) -> Any:
    """Dicts, lists, numbers and texts; a PresetError for what is no preset's, such as a barrier made in Python."""
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    if _KNOWN.get(type(value).__name__) is type(value):
        return {_KIND: type(value).__name__} | {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, bool | str | NoneType):
        return value
    if isinstance(value, int | float):
        return value if isinstance(value, int) else float(value)
    raise PresetError(f"{type(value).__name__} is made in Python: no file can hold it")


def again(data: Any, wanted: Any) -> Any:
    """The value of type `wanted` that such data are of; a PresetError if they are of none."""
    try:
        return _value(data, wanted)
    except (TypeError, ValueError, KeyError, AttributeError, EngineError) as error:
        raise PresetError(f"holds no preset ({error})") from None


def _value(data: Any, wanted: Any) -> Any:
    if get_origin(wanted) in (Union, UnionType):
        return _one_of(data, get_args(wanted))
    if get_origin(wanted) is tuple:
        entries = get_args(wanted)
        if not isinstance(data, list):
            raise TypeError("a list is missing")
        if entries[-1:] == (Ellipsis,):
            return tuple(_value(entry, entries[0]) for entry in data)
        return tuple(_value(entry, kind) for entry, kind in zip(data, entries, strict=True))
    if isinstance(data, dict):
        found = _KNOWN[data.pop(_KIND)]
        if not (wanted is found or getattr(wanted, "_is_protocol", False)):
            raise TypeError(f"{found.__name__} instead of {wanted.__name__}")
        hints = get_type_hints(found)
        return found(**{name: _value(value, hints[name]) for name, value in data.items()})
    if wanted is float and isinstance(data, int | float) and not isinstance(data, bool) and data == data:
        return float(data)
    if wanted in (int, str, bool, NoneType) and type(data) is wanted:
        return data
    raise TypeError(f"{str(data)[:40]!r} is no {getattr(wanted, '__name__', wanted)}")


def _one_of(data: Any, kinds: tuple[Any, ...]) -> Any:
    """Of the first kind that it can be."""
    errors = []
    for kind in kinds:
        try:
            return _value(dict(data) if isinstance(data, dict) else data, kind)
        except (TypeError, ValueError, KeyError, EngineError) as error:
            errors.append(str(error))
    raise TypeError(errors[-1])
