"""Presets: YAML in, physics out. `schema` holds every key, `parameters` what may move, `loader` the way in."""
