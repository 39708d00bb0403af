"""Texts written as base64, base32 or hexadecimal digits."""

import base64
import binascii

from nacre.model.expression import expression

__all__ = ("decoded", "encoded", "from_base32", "from_base64", "from_hex")


def encoded(text: str) -> bytes:
    """The bytes of a text, those that are no UTF-8 included."""
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """A text of any bytes."""
    return data.decode("utf-8", "surrogateescape")


def from_base64(text: str) -> bytes:
    """What a text in base64 stands for; nothing if it is none."""
    text = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text[: len(text) - (len(text) % 4 == 1)] + "==")
    except (binascii.Error, ValueError):
        return b""


def from_base32(text: str) -> bytes:
    """What a text in base32 stands for; nothing if it is none."""
    text = text.rstrip("=").upper()
    try:
        return base64.b32decode(text + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        return b""


_HEX = expression(r"[0-9a-fA-F]{2}")


def from_hex(text: str) -> bytes:
    """What pairs of hexadecimal digits stand for."""
    return bytes(int(each, 16) for each in _HEX.findall(text))
