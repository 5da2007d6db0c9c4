"""Live play: a session around the renderer that offline renders use, with a sound card, MIDI and a terminal.

`thread/` is what runs without the interpreter, `audio/` the sound card, `midi/` what comes in, `screen/` the terminal.
These know the player and their own neighbours' errors, not each other; the files beside them put a session together.
"""
