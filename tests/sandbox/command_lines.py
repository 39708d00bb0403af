"""The command line several times over, each in a process of its own, imported once.

`command_lines.py COMMAND_LINES FOLDER`: the first is a JSON list of lists of words, in each of
which variables of ours may come first. What each prints is in the folder, by its number; the
exit codes are printed.
"""

import json
import os
import sys
from pathlib import Path

from nacre.cli import doctor, run
from nacre.cli.main import main

__all__ = ("doctor", "run")


def _become(words: list[str], output: Path) -> None:
    os.dup2(os.open(output, os.O_CREAT | os.O_WRONLY, 0o600), sys.stdout.fileno())
    os.environ |= dict(word.split("=") for word in words if word.startswith("NACRE_"))
    sys.argv = ["nacre", *(word for word in words if not word.startswith("NACRE_"))]
    main()


if __name__ == "__main__":
    children: list[int] = []
    for number, words in enumerate(json.loads(sys.argv[1])):
        children.append(os.fork())
        if children[-1] == 0:
            _become(words, Path(sys.argv[2], str(number)))
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.stdout.write(json.dumps(codes))
