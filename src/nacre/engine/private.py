"""Folders that are nobody else's business."""

from pathlib import Path

__all__ = ("make_private",)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner only.

    `Path.mkdir(parents=True)` gives the mode to the last one alone.
    """
    if not folder.exists():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
