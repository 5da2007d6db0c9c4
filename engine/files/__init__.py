"""How something is written: files that appear whole or grow safely, sinks, and the formats of sound.

In here come bytes, arrays of samples, names and rates. It knows no presets and no notes, and what it cannot write is a
`FileError`; all but WAV is packed by libsndfile, which is loaded when it is needed.
"""
