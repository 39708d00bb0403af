"""Looks for scripts that can tell a spare from a plain bash.

    python -m twins [--scripts N] [--sandbox NAME] [--seed N]

Real scripts from the shared corpora run in a room without network, in a folder that is thrown away.
Exits 1 if a spare made of one what no plain bash did.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from pathlib import Path

import anyio

from nacre.process.spares import may_tell
from nacre.sandbox.probe import probe_bwrap
from twins.twins import twins

_SHARED = Path(__file__).parents[3] / "shared" / "corpus"
_LONGEST = 8000
# These would only use up their time, tell random numbers, or show folders that each engine has for itself.
_UNFIT = re.compile(
    r"\b(?:sleep|watch|tail -[fF]|top|yes|ping|nc|read|cat$|vim?|less|more|pip3?|npm|curl|wget)\b"
    r"|\b(?:mktemp|openssl|ssh-keygen|gpg|shuf|uuidgen)\b|find (?:/var|/tmp|~/)"
    r"|/dev/(?:zero|u?random)|\b(?:find|du|grep|ls|chmod|chown|tar)\b[^|;&]* /(?: |$)"
)


def scripts(seed: int, count: int) -> list[str]:
    """Some of the real scripts that may have a spare; none where there are no corpora."""
    found: list[str] = []
    for path in sorted(_SHARED.glob("*")):
        text = path.read_text("utf-8")
        if path.suffix == ".json":
            found += json.loads(text)
        elif path.name == "nl2bash.txt":
            found += text.splitlines()
    found = [
        each
        for each in found
        if len(each) < _LONGEST
        and "\0" not in each
        and not _UNFIT.search(each)
        and not may_tell(each)
    ]
    random.Random(seed).shuffle(found)  # noqa: S311
    return found[:count]


async def main(options: argparse.Namespace) -> int:
    """Try them all, and say what differs."""
    chosen = scripts(options.seed, options.scripts)
    different = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "workspace")
        folder.mkdir()
        async with twins(options.sandbox, folder, Path(place, "state")) as pair:
            for number, script in enumerate(chosen, 1):
                if found := await pair.differ(script):
                    different += 1
                    mine, theirs = found
                    _say(f"--- {script}\nspare: {mine}\nplain: {theirs}\n")
                if number % 500 == 0:
                    _say(f"{number} scripts, {different} told the difference")
    _say(f"{len(chosen)} scripts, {different} told the difference")
    return 1 if different or not chosen else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="twins", description=__doc__)
    parser.add_argument("--scripts", type=int, default=3500)
    parser.add_argument("--sandbox", default="bubblewrap")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if why_not := probe_bwrap(())[1]:
        _say(f"cannot be done here: {why_not}")
        sys.exit(2)
    sys.exit(anyio.run(main, given))
