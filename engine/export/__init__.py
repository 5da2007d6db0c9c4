"""Out of Python: the renderer as machine code for any system, instruments as data, and what hosts want around them."""
