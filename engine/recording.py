"""`engine.recording`, where `record` has always been found; it lives in `engine/study/recording.py`."""

from __future__ import annotations

from engine.study.recording import Summary as Summary
from engine.study.recording import record as record
from engine.study.recording import summarise as summarise
