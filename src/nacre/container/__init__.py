"""Containers: what is asked of an engine, and what is said to the bash inside. Nothing runs here."""
