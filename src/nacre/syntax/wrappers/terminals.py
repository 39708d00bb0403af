"""Programs that run a command in a terminal of its own, and those that type into one."""

import re
from collections.abc import Iterator, Mapping

from nacre.model.expression import expression
from nacre.syntax.script import ViaKind
from nacre.syntax.wrappers.inner import Inner, Invocation, Reader
from nacre.syntax.wrappers.options import options, readings
from nacre.syntax.wrappers.prefix import names, subcommands

__all__ = ("TERMINALS",)

_SCREEN = options(
    "-c -e -h -p -s -S -t -T -Q", "-a -A -d -D -i -l -L -m -O -q -R -r -U -x -X", style="permuted"
)

_SENT = names("-X")
_ATTACHES = names("-d -D -r -R -x")
_STARTS = names("-m")


def _screen(invocation: Invocation) -> Iterator[Inner]:
    """`screen command words`, and `screen -X stuff text`, which types the text."""
    via = invocation.via(ViaKind.CODE)
    for reading in readings(invocation.arguments, _SCREEN):
        words = tuple(reading.operands)
        if reading.has(_SENT):
            if words and words[0].value in {"stuff", "exec"}:
                yield Inner(via=via, code=words[1:])
        elif words and (reading.has(_STARTS) or not reading.has(_ATTACHES)):
            yield Inner(via=invocation.via(ViaKind.EXEC), words=words)


_TMUX = options("-c -f -L -S -T", "-2 -C -D -l -N -u -v -V")
_TMUX_FLAGS = options(
    "-c -e -F -f -l -n -s -t -x -y",
    "-a -A -b -d -D -E -h -I -N -P -X -Z -v -k -K -R -M -r -g -O -p",
)
_KEY = expression(
    r"(?:[CMS^]-?.|Enter|KPEnter|Escape|Space|B?Tab|BSpace|Up|Down|Left|Right|Home|End|[ID]C"
    r"|[NP]Page|Page(?:Up|Down)|F\d+)$",
    re.IGNORECASE,
)


def _tmux_shell(invocation: Invocation) -> Iterator[Inner]:
    via = invocation.via(ViaKind.CODE)
    for reading in readings(invocation.arguments, _TMUX_FLAGS):
        if reading.operands:
            yield Inner(via=via, code=tuple(reading.operands))


def _tmux_keys(invocation: Invocation) -> Iterator[Inner]:
    """Keys typed into a pane, which most likely is a shell."""
    via = invocation.via(ViaKind.CODE)
    for reading in readings(invocation.arguments, _TMUX_FLAGS):
        typed = tuple(word for word in reading.operands if not _KEY.match(word.templates[0]))
        if typed:
            yield Inner(via=via, code=typed)


_NEW_WINDOW = dict.fromkeys(
    names(
        "new new-session neww new-window splitw split-window respawnp respawn-pane respawnw"
        " respawn-window run run-shell if if-shell pipep pipe-pane popup display-popup"
    ),
    _tmux_shell,
)
_TERMINAL = names("-e -x --command --execute --")


def _terminal(invocation: Invocation) -> Iterator[Inner]:
    """`xterm -e command words`; one word is a text for a shell."""
    words = invocation.arguments
    for at, word in enumerate(words):
        if word.value in _TERMINAL and words[at + 1 :]:
            via, rest = invocation.via(ViaKind.EXEC), words[at + 1 :]
            alone = len(rest) == 1 and word.value != "--"
            yield Inner(via=via, code=rest) if alone else Inner(via=via, words=rest)
            return


TERMINALS: Mapping[str, Reader] = {
    **dict.fromkeys(
        names("xterm gnome-terminal konsole alacritty xfce4-terminal urxvt st foot"), _terminal
    ),
    "screen": _screen,
    "tmux": subcommands(_TMUX, _NEW_WINDOW | dict.fromkeys(("send", "send-keys"), _tmux_keys)),
}
