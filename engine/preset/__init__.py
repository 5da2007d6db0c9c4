"""Presets: YAML in, physics out. `schema` holds every key, `loader` the way in."""
