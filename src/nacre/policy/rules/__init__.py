"""Rules that people write, and the files they write them in."""
