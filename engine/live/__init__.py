"""Live play: PortAudio's thread calls compiled code, MIDI comes in through rings, meters leave through arrays."""
