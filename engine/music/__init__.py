"""What is played: notes, scores and MIDI files, and takes, which are MIDI files of what was played.

In here come text, Python's objects and the bytes of MIDI files, broken ones too; out come events in time order. Nothing
sounds in here: no sample is made and no sound file written, and what cannot be understood is a `ScoreError`.
"""
