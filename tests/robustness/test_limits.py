"""Presets that would eat the machine are refused before they do, and say so in one line."""

from __future__ import annotations
