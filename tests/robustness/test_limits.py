"""Presets that would eat the machine are refused before they do, and say so in one line."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from robustness_parts.cases import _fresh_memory, _most_memory
from robustness_parts.random_presets import few_keys, keys_of

from engine.errors import EngineError
from engine.preset.loader import load_preset
from engine.simulate import simulate
from engine.synth.instrument import Instrument
