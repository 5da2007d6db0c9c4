"""What every block costs: music is played by compiled drivers that read the clock, and statistics are made of it."""
