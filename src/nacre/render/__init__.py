"""A transcript cut and cleaned for a model to read."""
