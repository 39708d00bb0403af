"""The pipeline and what it remembers between calls."""
