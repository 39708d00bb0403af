"""What the fixtures hold: a picture, a sound, and resources of every kind."""

import base64
import json
import re
import struct
import zlib

from mcp.types import (
    BlobResourceContents,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

__all__ = ("PNG", "RESOURCES", "TEMPLATE", "WAV", "read")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _red_dot() -> bytes:
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\xff\x00\x00")
    parts = (b"IHDR", header), (b"IDAT", pixel), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _silence() -> bytes:
    samples = bytes(8)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return struct.pack("<4sI", b"RIFF", len(body)) + body


PNG = base64.b64encode(_red_dot()).decode()
WAV = base64.b64encode(_silence()).decode()

RESOURCES = [
    Resource(
        uri="test://static-text",
        name="static text",
        description="A text that stays the same.",
        mime_type="text/plain",
    ),
    Resource(
        uri="test://static-binary",
        name="static picture",
        description="A picture that stays the same.",
        mime_type="image/png",
    ),
]
TEMPLATE = ResourceTemplate(
    uri_template="test://template/{id}/data",
    name="data by id",
    description="Says which id it was asked for.",
    mime_type="application/json",
)
_BY_ID = re.compile(r"test://template/(?P<id>[^/]+)/data")


def read(uri: str) -> ReadResourceResult | None:
    """What a resource of the fixtures holds; None if it is none of them."""
    if uri == "test://static-text":
        text = "This is the content of the static text resource."
        part = TextResourceContents(uri=uri, mime_type="text/plain", text=text)
        return ReadResourceResult(contents=[part])
    if uri == "test://static-binary":
        blob = BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        return ReadResourceResult(contents=[blob])
    if found := _BY_ID.fullmatch(uri):
        data = {"id": found["id"], "templateTest": True, "data": f"Data for ID: {found['id']}"}
        part = TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
        return ReadResourceResult(contents=[part])
    return None
