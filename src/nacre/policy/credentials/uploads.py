"""Local files sent over the network."""

import re
from collections.abc import Iterator

from nacre.model.expression import expression
from nacre.policy.credentials.known_programs import named
from nacre.policy.guards.guard import Hit
from nacre.syntax.script import Command, Script
from nacre.syntax.word import HOME

__all__ = (
    "HTTPIE",
    "opens_socket",
    "uploads_with_curl",
    "uploads_with_httpie",
    "uploads_with_wget",
)

HTTPIE = frozenset({"http", "https", "xh", "xhs"})

_CURL_VALUED = frozenset("AbcCdDeEFHhKmoPQrtTuUwxXyYz")
_CURL_SENDING = frozenset({"T", "d", "F"})
_CURL_VALUED_LONG = named("""
    abstract-unix-socket cacert capath cert ciphers config connect-timeout connect-to cookie
    cookie-jar crlfile data-raw dump-header engine form-string header hostpubmd5 interface key
    limit-rate local-port max-filesize max-redirs max-time netrc-file noproxy output
    output-dir pass pinnedpubkey proxy proxy-user quote range rate referer request
    request-target resolve retry retry-delay retry-max-time socks5 socks5-hostname speed-limit
    speed-time stderr tlsuser trace trace-ascii unix-socket user user-agent write-out
""")
_CURL_SENDING_LONG = (
    "upload-file",
    "data-urlencode",
    "data-binary",
    "data-ascii",
    "data",
    "form",
    "json",
    "url-query",
)
# Of several names that a shortened one could mean, curl takes none.
_SHORTEST = 3
# `@file` and `name=@file`; an address of somebody, `to=me@example.com`, is none.
_FROM_FILE = expression(r"@|[^=@\s]*=[@<]")
_ENCODED_FROM_FILE = expression(r"[^=@\s]*@")
_FROM_INPUT = expression(r"(?:.*[@<])?-")
_HERE = r"(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|0\.0\.0\.0)"
_HERE_URL = expression(rf"(?:https?://)?(?:[^/@]*@)?{_HERE}(?:[:/?].*)?", re.DOTALL)
_SOCKET = expression(r"/dev/(?:tcp|udp)/")
_HERE_SOCKET = expression(rf"/dev/(?:tcp|udp)/{_HERE}/")
_FIELD_FROM_FILE = expression(rf"(?:[\w.\-\[\]]+:?=)?@.|[\w.\-\[\]]+@[~./{HOME}]")


def uploads_with_curl(command: Command, script: Script) -> Hit | None:
    """Find curl where it sends a file, or what it is piped, to another machine."""
    del script
    addresses: list[str] = []
    sent: list[str] = []
    for option, value in _curl_arguments([word.templates[0] for word in command.words[1:]]):
        if not option or option == "url":
            addresses.append(value)
        elif _sends(option, value) and not (_FROM_INPUT.fullmatch(value) and _says_it(command)):
            sent.append(value)
    if not sent or (addresses and all(_HERE_URL.fullmatch(each) for each in addresses)):
        return None
    return Hit(command.span, sent[0])


def _curl_arguments(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Options with their values, and addresses under no name."""
    words = iter(texts)
    for text in words:
        if text.startswith("--"):
            name, joined, value = text[2:].partition("=")
            name = _full(name)
            takes = name in _CURL_VALUED_LONG or name in _CURL_SENDING_LONG or name == "url"
            yield name, value if joined or not takes else next(words, "")
        elif text.startswith("-") and len(text) > 1:
            for at, letter in enumerate(text[1:], start=2):
                if letter in _CURL_VALUED:
                    yield letter, text[at:] or next(words, "")
                    break
        else:
            yield "", text


def _full(name: str) -> str:
    """The option that a shortened name stands for, if it is one that sends."""
    if name in _CURL_VALUED_LONG or name in _CURL_SENDING_LONG or len(name) < _SHORTEST:
        return name
    return next((each for each in _CURL_SENDING_LONG if each.startswith(name)), name)


def _sends(option: str, value: str) -> bool:
    if option in {"T", "upload-file"}:
        return bool(value)
    if option not in _CURL_SENDING and option not in _CURL_SENDING_LONG:
        return False
    pattern = _ENCODED_FROM_FILE if option in {"data-urlencode", "url-query"} else _FROM_FILE
    return pattern.match(value) is not None


def _says_it(command: Command) -> bool:
    """Whether what it reads is written in the script."""
    return any(each.body or each.operator == "<<<" for each in command.redirections)


def uploads_with_wget(command: Command, script: Script) -> Hit | None:
    """Find wget where it sends a file."""
    del script
    for word in command.words[1:]:
        if word.templates[0].startswith(("--post-file", "--body-file")):
            return Hit(command.span, word.templates[0])
    return None


def uploads_with_httpie(command: Command, script: Script) -> Hit | None:
    """Find HTTPie where a field is a file."""
    del script
    texts = [word.templates[0] for word in command.words[1:]]
    if any(_HERE_URL.fullmatch(text) or text.startswith(":") for text in texts):
        return None
    for text in texts:
        if _FIELD_FROM_FILE.match(text):
            return Hit(command.span, text)
    return None


def opens_socket(command: Command, script: Script) -> Hit | None:
    """Find bash's own sockets in redirections, unless they lead back to this machine."""
    del script
    for each in command.redirections:
        if each.target is None:
            continue
        for template in each.target.templates:
            if _SOCKET.match(template) and not _HERE_SOCKET.match(template):
                return Hit(command.span, template)
    return None
