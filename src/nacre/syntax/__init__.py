"""Bash read, never run."""
