"""The commands of `jawari`, a file each: `add` declares one, with all that its --help says."""
