"""Tool interfaces that agents already know."""
