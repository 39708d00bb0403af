"""Secrets that are one word, known by how it begins.

Every shape has a prefix that its issuer chose to be found by, at least twenty
characters in all, and an end: what goes on for longer than any such secret is
redacted as far as the longest.
"""

import re
from collections.abc import Iterator
from functools import cache

from nacre.render.found import Found

__all__ = ("find_words", "unfinished_word")

# Runs of these bytes are words; all others become blanks, so that long words are found fast.
_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_WORDS = bytes(ord("w") if byte in _CHARACTERS else ord(" ") for byte in range(256))
_REACH = 12500  # bytes; no shape is longer
_LONG = b"w" * 20

# kind, prefixes, and the rest as a pattern. No pattern matches with less than it can take.
_SHAPES = (
    ("AWS access key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{36,255}"),
    ("GitHub token", "github_pat_", r"[A-Za-z0-9_]{30,255}"),
    (
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- gloas-",
        r"[A-Za-z0-9_-]{20,255}(?:\.[A-Za-z0-9_-]{1,64}){0,3}",
    ),
    (
        "Slack token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-",
        r"[A-Za-z0-9-]{15,255}",
    ),
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[A-Za-z0-9]{16,255}"),
    ("Stripe webhook secret", "whsec_", r"[A-Za-z0-9]{24,64}"),
    ("Anthropic API key", "sk-ant-", r"[A-Za-z0-9_-]{20,255}"),
    ("OpenAI API key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[A-Za-z0-9_-]{20,255}"),
    ("OpenRouter API key", "sk-or-v1-", r"[A-Za-z0-9]{20,255}"),
    # Of words that begin so, most are names of styles: they have hyphens, and no digit.
    (
        "API key",
        "sk-",
        r"(?=[A-Za-z0-9]{32}|[A-Za-z]{0,19}[0-9])[A-Za-z0-9]{20,255}(?![A-Za-z0-9_-])",
    ),
    ("Google API key", "AIza", r"[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("Google access token", "ya29.", r"[A-Za-z0-9_-]{20,1024}"),
    ("Google client secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,64}"),
    ("npm token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9_])"),
    ("PyPI token", "pypi-AgE", r"[A-Za-z0-9_-]{16,1024}"),
    (
        "JWT",
        "eyJ",
        r"[A-Za-z0-9_-]{10,2048}\.[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{10,2048}",
    ),
    ("Hugging Face token", "hf_", r"[A-Za-z0-9]{30,64}(?![A-Za-z0-9_])"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
    ("SendGrid key", "SG.", r"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"[A-Fa-f0-9]{32}"),
    ("Docker token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{20,64}"),
    ("Grafana token", "glsa_", r"[A-Za-z0-9_]{32,255}"),
    ("Groq API key", "gsk_", r"[A-Za-z0-9]{40,64}"),
    ("xAI API key", "xai-", r"[A-Za-z0-9]{60,128}"),
    ("Replicate token", "r8_", r"[A-Za-z0-9]{37,40}(?![A-Za-z0-9_])"),
    ("Linear API key", "lin_api_", r"[A-Za-z0-9]{32,64}"),
    ("Vault token", "hvs. hvb.", r"[A-Za-z0-9_-]{24,512}"),
    ("age secret key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    ("Databricks token", "dapi", r"[a-f0-9]{32}(?![A-Za-z0-9])"),
    ("Tailscale key", "tskey-", r"[A-Za-z0-9-]{20,128}"),
    ("Atlassian token", "ATATT3", r"[A-Za-z0-9_-]{50,512}"),
    ("Figma token", "figd_", r"[A-Za-z0-9_-]{40,64}"),
    ("Postman key", "PMAK-", r"[A-Za-z0-9-]{40,80}"),
    ("Supabase token", "sbp_", r"[a-f0-9]{40}"),
    ("RubyGems key", "rubygems_", r"[a-f0-9]{48}"),
)
_BOUNDARY = r"(?<![A-Za-z0-9])(?=[A-Za-z])"
_PLAIN_START = r"(?<![_.-])"  # base64 of JSON is everywhere in longer words


def find_words(data: bytes, start: int) -> Iterator[Found]:
    """Find the secrets in the words that begin at `start` or later."""
    words = data.translate(_WORDS)
    at = words.find(_LONG, start)
    while at >= 0:
        begin = max(start, words.rfind(b" ", start, at) + 1)
        end = words.find(b" ", at)
        end = len(data) if end < 0 else end
        for match in _shapes().finditer(data, begin, end):
            kind = _SHAPES[(match.lastindex or 1) - 1][0]
            yield Found(anchor=match.start(), start=match.start(), end=match.end(), kind=kind)
        at = words.find(_LONG, end)


def unfinished_word(data: bytes, start: int) -> int:
    """Where a secret could begin that more bytes would finish; the end if nowhere."""
    near = max(start, len(data) - _REACH)
    begin = near + data[near:].translate(_WORDS).rfind(b" ") + 1
    match = _beginnings().search(data, begin)
    return match.start() if match else len(data)


@cache
def _shapes() -> re.Pattern[bytes]:
    choices = (
        f"({_PLAIN_START if kind == 'JWT' else ''}(?:{_any_of(prefixes.split())}){rest})"
        for kind, prefixes, rest in _SHAPES
    )
    return re.compile(f"{_BOUNDARY}(?:{'|'.join(choices)})".encode())


@cache
def _beginnings() -> re.Pattern[bytes]:
    prefixes = [prefix for _, several, _ in _SHAPES for prefix in several.split()]
    parts = sorted({prefix[:size] for prefix in prefixes for size in range(1, len(prefix))})
    return re.compile(f"{_BOUNDARY}(?:{_any_of(prefixes)}|(?:{_any_of(parts)})\\Z)".encode())


def _any_of(words: list[str]) -> str:
    return "|".join(map(re.escape, words))
