"""What runs without the interpreter: code that the sound card's and MIDI's own threads call, and the memory it uses.

In here come compiled functions, the memory that they declare, and what reads it. No lock, no file, no system call,
nothing that allocates while it plays.
"""
