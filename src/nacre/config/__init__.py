"""Settings turned into values."""
