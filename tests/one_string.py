"""The shipped presets of one string, which most of the engine's tests play: whole instruments take longer."""

ONE_STRING = ("sitar-string", "tanpura-string", "slap-bass", "prepared", "plain")
