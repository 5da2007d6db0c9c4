"""Leaf: the versions of the engine and of what it is built on."""

from __future__ import annotations

from importlib import metadata

VERSION = "0.1.0"


def version_of(distribution: str) -> str:
    """The version of a package; the engine knows its own, installed or not."""
    if distribution == "jawari":
        return VERSION
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # it came another way
        return "unknown"
