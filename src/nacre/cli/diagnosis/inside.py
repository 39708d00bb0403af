"""The script that is run in a container: what it could do there, with nothing but bash."""

from importlib.resources import files

__all__ = ("attempts_of", "script")

_CAME_THROUGH = {b"open": True, b"held": False}


def script() -> str:
    """The script; for each protection it tries, it says a line `NAME open` or `NAME held`."""
    return files("nacre.cli.diagnosis").joinpath("inside.sh").read_text("utf-8")


def attempts_of(output: bytes) -> dict[str, bool]:
    """Which protections the script tried, and whether it came through, from what it said."""
    pairs = (line.partition(b" ") for line in output.splitlines())
    return {
        name.decode("utf-8", "replace"): _CAME_THROUGH[word]
        for name, _, word in pairs
        if word in _CAME_THROUGH
    }
