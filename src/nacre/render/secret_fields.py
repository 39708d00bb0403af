"""Secrets that are known by what stands around them: `TOKEN=...`, `https://user:...@host`."""

import re
from collections.abc import Iterator
from functools import cache

from nacre.model.expression import expression
from nacre.model.value import dataclass
from nacre.render.found import Found

__all__ = ("REACH", "find_fields", "unfinished_field")

# As far as anything looks from where it begins; all but private keys look less far.
REACH = 48 << 10
_NEAR = 2304


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """A shape around a secret.

    It begins with a trigger, written in small letters. In `pattern` one of the
    groups `secret` and `other` is the secret, if it looks `like` this. `unfinished`
    matches everything, up to the end of the bytes, that more bytes could make a match of.
    """

    kind: str
    triggers: str
    pattern: str
    unfinished: str
    like: str = ""


def _all_of(item: str, least: int, most: int) -> str:
    """An item as often as it is there, up to `most` times: none is given back."""
    return f"(?:{item}{{{most}}}|{item}{{{least},{most - 1}}}(?!{item}))"


_BETWEEN_LINES = _all_of(r"""(?:[\s0-9:+|>\\"',]|-(?!-))""", 0, 24)
_KEY_PIECE = "[A-Za-z0-9+/=]"
_KEY_REST = _all_of(_KEY_PIECE, 0, 15)
_KEY_LINE = f"(?:{_BETWEEN_LINES}{_all_of(_KEY_PIECE, 16, 128)})"
_HEADER_TEXT = _all_of(r"[^\n\\]", 0, 128)
_KEY_HEADER = rf"(?:[\s\\nr]{{1,8}}(?:Proc-Type|DEK-Info|Version|Comment|Hash){_HEADER_TEXT})"
_KEY_BEGIN = (
    r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    f"{_all_of(_KEY_HEADER, 0, 5)}"
)

_AUTHORITY = r"""://[^\s/"'<>`]{0,400}\Z"""
_NAMES = "token secret passw passphr key"
# Written so in a file of settings; the trigger may be the second half of a name.
_SETTING = (
    r"(?:TOKEN|SECRET(?:_ACCESS_KEY|_KEY(?:_BASE)?)?|PASSW(?:OR)?D|PASSPHRASE"
    r"|(?:(?<=API_)|(?<=API)|(?<=ACCESS_)|(?<=PRIVATE_))KEY)(?:_[0-9]{1,3})?"
)
_BEFORE_KEY = (
    r"(?i:(?<=api)|(?<=access)|(?<=private)|(?<=account)"
    r"|(?<=api[_-])|(?<=access[_-])|(?<=private[_-]))"
)
_MEMBER = (
    r"(?i:token|secret(?:[_-]?access[_-]?key|[_-]?key(?:_base)?)?|passw(?:or)?d|passphrase"
    rf"|{_BEFORE_KEY}key)"
)
_BARE_START = r"(?![$<{%*(\[\\.~])"
_BARE_LETTER = r"""[^\s"'`;()\[\]\\]"""
_BARE_END = r"(?![(\[])"
_BARE = f"{_BARE_START}{_all_of(_BARE_LETTER, 6, 256)}{_BARE_END}"
_LONGER_BARE = f"{_BARE_START}{_all_of(_BARE_LETTER, 8, 256)}{_BARE_END}"
_RANDOM = r"(?=.*[0-9])(?=.*[A-Za-z])"
_ASSIGNED = (
    rf"(?:(?![Kk])|{_BEFORE_KEY})"
    r"""[A-Za-z0-9_-]{0,40}["']?[ \t]{0,3}[:=>]{0,2}[ \t]{0,3}["']?[^\s"']{0,2100}\Z"""
)

_PRIVATE_KEY = b"-----begin"
_FIELDS = (
    _Field(
        kind="private key",
        triggers=_PRIVATE_KEY.decode(),
        pattern=rf"(?P<secret>{_KEY_BEGIN}{_KEY_LINE}{{1,256}}(?:{_BETWEEN_LINES}{_KEY_REST}"
        r"[\s\\nr]{0,8}[0-9:+|>]{0,8}-----END [A-Z0-9 ]{0,72}-----)?)",
        unfinished=r"-----BEGIN[ A-Z0-9]{0,90}-{0,5}\Z"
        rf"|{_KEY_BEGIN}{_all_of(_KEY_LINE, 0, 256)}{_BETWEEN_LINES}"
        rf"(?:{_KEY_REST}[\s\\nr]{{0,8}})?[^\n]{{0,240}}\Z",
    ),
    _Field(
        kind="URL password",
        triggers="://",
        pattern=r"""://(?:(?P<user>[^\s/?#@:"'<>`\\\[]{0,128}):"""
        r"""(?P<secret>(?![$<{%*\[])[^\s/"'<>`]{1,256})@|(?P<other>[A-Za-z0-9_-]{20,256})@)""",
        unfinished=_AUTHORITY,
    ),
    _Field(
        kind="webhook",
        triggers="://",
        pattern=r"://(?:hooks\.slack\.com/services/"
        r"(?P<secret>T[A-Za-z0-9]{6,16}/B[A-Za-z0-9]{6,16}/[A-Za-z0-9]{16,48})"
        r"|discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/(?P<other>[A-Za-z0-9_-]{40,100}))",
        unfinished=r"://(?:h[a-z.]{0,14}|d[a-z.]{0,13})(?:/[A-Za-z0-9/_-]{0,180})?\Z",
    ),
    _Field(
        kind="bearer token",
        triggers="bearer",
        pattern=r"(?<![A-Za-z0-9])(?i:bearer)[ \t]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{20,2048})",
        unfinished=r"(?i:bearer)(?:[ \t]{1,4}[A-Za-z0-9._~+/=-]{0,2048})?\Z",
        like=r"(?=.*[0-9])",
    ),
    _Field(
        kind="authorization",
        triggers="authorization",
        pattern=r"""(?i:authorization)["']?[ \t]{0,2}[:=][ \t]{0,4}["']?(?i:basic|token|bearer)"""
        r"""[ \t]{1,4}(?P<secret>[^\s"',]{8,2048})""",
        unfinished=r"""(?i:authorization)["']?[ \t]{0,2}[:=]?[ \t]{0,4}["']?[A-Za-z]{0,6}"""
        r"""[ \t]{0,4}[^\s"',]{0,2100}\Z""",
        like=r"(?=.*(?:[0-9=]|[a-z][A-Z]))",
    ),
    _Field(
        kind="secret",
        triggers=_NAMES,
        pattern=rf"""(?<![a-z]){_SETTING}=(?:(?P<quote>["'])(?P<secret>(?![$<{{])"""
        rf"""[^"'\s]{{6,256}})(?P=quote)|(?P<other>{_BARE}))""",
        unfinished=_ASSIGNED,
    ),
    _Field(
        kind="secret",
        triggers=_NAMES,
        pattern=rf"(?<![a-z]){_SETTING}:[ \t]{{1,3}}(?P<secret>{_LONGER_BARE})",
        unfinished=_ASSIGNED,
        like=_RANDOM,
    ),
    _Field(
        kind="secret",
        triggers=_NAMES,
        pattern=rf"""{_MEMBER}["']?[ \t]{{0,3}}(?:=>|:=|[:=])[ \t]{{0,3}}(?P<quote>["'])"""
        r"(?P<secret>[A-Za-z0-9+/=_.~!@#%^&*-]{16,512})(?P=quote)",
        unfinished=_ASSIGNED,
        like=rf"{_RANDOM}(?=.*[A-Za-z0-9+/]{{16}})",
    ),
    _Field(
        kind="secret",
        triggers="token secret passw",
        pattern=r"(?:(?<=aws_)secret_access_key|(?<=aws_session_)token|(?<=_auth)Token"
        r"|(?<=:_)password)[ \t]{0,3}=[ \t]{0,3}(?P<secret>(?![$<{])[A-Za-z0-9+/=_.-]{8,2048})",
        unfinished=_ASSIGNED,
    ),
    _Field(
        kind="secret",
        triggers="token secret key",
        pattern=r"(?:(?:(?<=[?&])|(?<=[?&]access_)|(?<=[?&]auth_)|(?<=[?&]id_)|(?<=[?&]refresh_))"
        r"token|(?<=[?&]client_)secret|(?:(?<=[?&]api)|(?<=[?&]api_))key)="
        r"(?P<secret>[A-Za-z0-9%_.~+/-]{16,2048})",
        unfinished=_ASSIGNED,
        like=_RANDOM,
    ),
)
_TRIGGERS = tuple({word.encode(): None for field in _FIELDS for word in field.triggers.split()})
_LONGEST = max(map(len, _TRIGGERS))
# Said for a secret where it is explained how to give one.
_PLACEHOLDER = expression(
    rb"(?:example|changeme|change[_-]me|placeholder|dummy|replace|insert|todo|redacted|undefined"
    rb"|required|optional|&lt;).*"
    rb"|.*(?:your[_-]|\.\.\.|\*\*\*|[_-]xxx|xxxx).*|xxx"
    rb"|pass|password|passwd|pwd|postgres|secret|token|none|null|true|false|[0-9.,:_-]*|(.)\1*"
    rb"|/(?:usr|etc|home|tmp|var|opt|run|root|app|mnt|srv|dev|proc|secrets?)/.*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compiled:
    rank: int
    kind: str
    pattern: re.Pattern[bytes]
    unfinished: re.Pattern[bytes]
    like: re.Pattern[bytes]

    def found(self, data: bytes, at: int) -> Found | None:
        match = self.pattern.match(data, at)
        if match is None:
            return None
        group = "other" if match["secret"] is None else "secret"
        secret = match[group]
        if _PLACEHOLDER.fullmatch(secret) or match.groupdict().get("user") == secret:
            return None
        if not self.like.match(secret):
            return None
        start, end = match.span(group)
        return Found(anchor=at, start=start, end=end, kind=self.kind, rank=self.rank)


def find_fields(data: bytes, start: int) -> Iterator[Found]:
    """Find the secrets whose surroundings begin at `start` or later."""
    low = data.lower()
    for trigger in _TRIGGERS:
        names = trigger.decode() in _NAMES.split()
        for at in _places(low, trigger, start):
            if names and not _is_assigned().match(data, at):
                continue
            for field in _fields(trigger):
                found = field.found(data, at)
                if found:
                    yield found


def unfinished_field(data: bytes, start: int) -> int:
    """Where a secret's surroundings could begin that more bytes would finish; else the end."""
    near = max(start, len(data) - _NEAR)
    low = data[near:].lower()
    places = [
        (at, trigger)
        for trigger in _TRIGGERS
        for at in _places(low, trigger, 0, near)
        if trigger != _PRIVATE_KEY
    ]
    far = max(start, len(data) - REACH)
    places += ((at, _PRIVATE_KEY) for at in _places(data, _PRIVATE_KEY.upper(), far))
    first = min((at for at, trigger in places if _is_unfinished(data, trigger, at)), default=None)
    for size in range(min(_LONGEST - 1, len(low)), 0, -1):
        if low[-size:] in _trigger_parts():
            part = len(data) - size
            return part if first is None else min(first, part)
    return len(data) if first is None else first


def _places(data: bytes, trigger: bytes, start: int, offset: int = 0) -> Iterator[int]:
    at = data.find(trigger, start)
    while at >= 0:
        yield at + offset
        at = data.find(trigger, at + 1)


def _is_unfinished(data: bytes, trigger: bytes, at: int) -> bool:
    return any(pattern.match(data, at) for pattern in _endings(trigger))


@cache
def _fields(trigger: bytes) -> tuple[_Compiled, ...]:
    return tuple(
        _Compiled(
            rank=rank,
            kind=field.kind,
            pattern=re.compile(field.pattern.encode()),
            unfinished=re.compile(field.unfinished.encode()),
            like=re.compile(field.like.encode(), re.DOTALL),
        )
        for rank, field in enumerate(_FIELDS)
        if trigger.decode() in field.triggers.split()
    )


@cache
def _endings(trigger: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple({field.unfinished: None for field in _fields(trigger)})


@cache
def _is_assigned() -> re.Pattern[bytes]:
    return re.compile(rb"""[A-Za-z0-9_-]{0,40}["']?[ \t]{0,3}[:=]""")


@cache
def _trigger_parts() -> frozenset[bytes]:
    return frozenset(trigger[:size] for trigger in _TRIGGERS for size in range(1, len(trigger)))
