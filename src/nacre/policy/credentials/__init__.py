"""The guards that keep secrets where they are."""
