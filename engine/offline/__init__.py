"""The offline render: a score becomes a stream of sound, that becomes arrays or files, on as many cores as there are.

In here come scores, presets, the engine's instruments and the room of files; no sound card and no live session.
"""
