"""MIDI from outside: three ways in behind one interface, and ports that come and go while one plays."""
