"""Offline rendering: notes and MIDI files become a score, a score becomes a stream of sound, that becomes a file."""
