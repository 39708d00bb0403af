"""The agentrail dialect: milliseconds, and the background instead of a kill at the timeout."""
