import re
import time
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Protocol, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nacre.render import secret_fields, secret_words
from nacre.render.redact import Redactor

# Put together here, so that no scanner takes these for real.
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7k"
KEY = "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"] * 8)


def pem(kind: str = "RSA ", body: str = KEY) -> str:
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}\nAbC=\n-----END {kind}PRIVATE KEY-----"


JWT = f"eyJ{MIXED[:20]}.eyJ{MIXED}.{MIXED[:30]}-_x"
SECRETS = [
    ("AWS access key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("AWS access key", "ASIA" + "IOSFODNN7EXAMPLE"),
    *[("GitHub token", f"gh{letter}_{MIXED[:36]}") for letter in "pousr"],
    ("GitHub token", "github_pat_" + "A" * 82),
    ("GitLab token", f"glpat-{MIXED[:20]}"),
    ("GitLab token", f"glpat-{MIXED[:27]}.01.{MIXED[:9]}"),
    ("Slack token", "xoxb-" + "1" * 20),
    ("Slack token", f"xoxp-{'1' * 12}-{'2' * 12}-{MIXED[:24]}"),
    ("Stripe key", f"sk_live_{MIXED[:24]}"),
    ("Stripe key", f"rk_test_{MIXED[:24]}"),
    ("Anthropic API key", "sk-ant-" + "a" * 30),
    ("Anthropic API key", f"sk-ant-api03-{MIXED}-{MIXED}_AA"),
    ("OpenAI API key", "sk-proj-" + "a" * 30),
    ("API key", f"sk-{MIXED[:20]}T3BlbkFJ{MIXED[:20]}"),
    ("API key", f"sk-{HEX}"),
    ("Google API key", "AIza" + MIXED[:35]),
    ("Google access token", f"ya29.{MIXED}"),
    ("npm token", f"npm_{MIXED[:36]}"),
    ("PyPI token", f"pypi-AgEIcHlwaS5vcmc{MIXED}"),
    ("JWT", JWT),
    ("Hugging Face token", f"hf_{MIXED[:34]}"),
    ("SendGrid key", f"SG.{MIXED[:22]}.{MIXED}abc"),
    ("Shopify token", f"shpat_{HEX}"),
    ("DigitalOcean token", f"dop_v1_{HEX}{HEX}"),
    ("Vault token", f"hvs.{MIXED}"),
    ("private key", pem()),
    ("private key", pem("")),
    ("private key", pem("ENCRYPTED ")),
    ("private key", pem("OPENSSH ")),
    ("private key", pem("EC ").replace("\n", "\r\n")),
    ("private key", pem("").replace("\n", "\\n")),
    ("private key", pem("RSA ", f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0AB1\n\n{KEY}")),
    (
        "private key",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{KEY}\n=aBcD\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize("frame", ["{}", "key={} end", '"{}",', "a-{}\nb", "<{}>"])
def test_a_secret_is_replaced_by_what_it_was(kind: str, secret: str, frame: str) -> None:
    if kind == "JWT" and frame.startswith("a-"):
        return
    assert Redactor({}).text(frame.format(secret)) == frame.format(f"[redacted: {kind}]")


@pytest.mark.parametrize(
    ("before", "secret", "after", "kind"),
    [
        ("postgres://app:", "s3cr3t!", "@db:5432/app", "URL password"),
        ("https://x-access-token:", "abcdef", "@github.com/a/b.git", "URL password"),
        ("redis://:", "p@ss", "@cache", "URL password"),
        ("https://", MIXED[:24], "@sentry.io/1", "URL password"),
        ("Authorization: Bearer ", MIXED, "\n", "bearer token"),
        ("bearer ", f"{MIXED[:12]}.{MIXED[:12]}", ",", "bearer token"),
        ("> Authorization: Basic ", "dXNlcjpwYXNz", "\r\n", "authorization"),
        ('"authorization": "token ', HEX, '"', "authorization"),
        ("API_KEY=", "super-secret-42", "\n", "secret"),
        ("TOKEN=", "abc123", " x", "secret"),
        ("export DB_PASSWORD='", "hunter2", "'", "secret"),
        ("AWS_SECRET_ACCESS_KEY=", f"{MIXED[:20]}/+{MIXED[:18]}", "\n", "secret"),
        ("aws_secret_access_key = ", f"{MIXED[:20]}/+{MIXED[:18]}", "\n", "secret"),
        ("//registry.npmjs.org/:_authToken=", "deadbeef-0000-1111", "\n", "secret"),
        ('"SecretAccessKey": "', f"{MIXED[:20]}/+{MIXED[:18]}", '"', "secret"),
        ('client_secret: "', MIXED, '"', "secret"),
        ("POSTGRES_PASSWORD: ", "hunter2x", "\n", "secret"),
        ("https://a.b/c?access_token=", MIXED, "&x=1", "secret"),
        ("https://hooks.slack.com/services/", f"T0123ABCD/B0123ABCD/{MIXED[:24]}", "", "webhook"),
        ("AccountKey: '", f"{MIXED}{MIXED}==", "'", "secret"),
    ],
)
def test_a_secret_is_known_by_its_surroundings(
    before: str, secret: str, after: str, kind: str
) -> None:
    assert Redactor({}).text(before + secret + after) == f"{before}[redacted: {kind}]{after}"


UNTOUCHED = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "id 123e4567-e89b-12d3-a456-426614174000",
    '"integrity": "sha512-z8d0m5b2O9McPEK1xHWQO/tBMoxfLsl1gQqPvXzZrOKFnzHZqmCMVmFUWfGYsdMHZJFHQ=="',
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q",
    "h1:yQJ6DkZ0TWmM3WfVxqkWVbyXXSb6BTTJ0FbBzqNZFhk= go.sum",
    "Compiling tree-sitter-bash v0.25.1 (/opt/src/some-very-long-path-name/with_parts-1.2.3)",
    "https://github.com/some-organisation-name/some-repository.git@v1.2.3",
    "git@github.com:owner/repository.git",
    "http://localhost:8080/user@example.com",
    "http://[::1]:8080/ and mailto://a@b",
    "postgres://user:password@localhost/db postgres://postgres:postgres@db",
    "postgres://$USER:$PASS@h and https://<user>:<pass>@h and https://u:${TOKEN}@h",
    'class="sk-toggleable__content-arrow sk-internationalization-wrapper"',
    "npm_config_cache npm_package_dependencies_something_long_enough_to_be",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQG\n",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n",
    'if text.startswith("-----BEGIN PRIVATE KEY-----"): raise',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
    "Bearer authentication is required; use a bearer token of your own",
    "token = get_token(request)\npassword = form['password']\nTOKEN=$(cat file) X_TOKEN=\"$TOKEN\"",
    "TOKEN=os.environ['TOKEN'] API_KEY=your-api-key-here SECRET=<secret> PASSWORD=changeme",
    "MAX_TOKEN=1048576 USE_TOKEN=true TOKEN=undefined TOKEN_COUNT=abcdefgh DB_PASSWORD_FILE=/run/x",
    "A_TOKEN=xoxb-... B_API_KEY=sk-ant-... C_TOKEN=ghp_*** D_API_KEY=sk-xxxxx E_KEY=ctx-your-key",
    "scheme://user[:password]@host and https://user:pass@host",
    "API_KEY=/run/secrets/api_key SECRET_NAME=production-database",
    'token: "string" "password": "test-password-1" "access_token": "a-b-c-d-e-f-g-1-2-3-4-5"',
    "PASSWORD: required, TOKEN: String, SECRET: see the manual",
    "TOKENIZERS_PARALLELISM=false tokens=12 tokenize=whitespace",
    "eyJhbGciOiJIUzI1NiJ9 alone, and a.b.c",
    "AKIA is four letters, ghp_short, glpat-x, xoxb-1, sk_live_, AIzaShort, hf_hub_download",
    "=" * 100 + "\n" + "-" * 100 + "\n" + "." * 100 + "\n" + "#" * 100,
    "\x00\x01\x02\udcff\udc80 bytes",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_is_no_secret_is_not_touched(text: str) -> None:
    assert Redactor({}).text(text) == text


def test_values_are_replaced_by_their_names() -> None:
    redactor = Redactor({"canary-value-long": "LONG_TOKEN", "canary-value": "TOKEN"})
    assert redactor.text("a canary-value-long, a canary-value.") == (
        "a [redacted: $LONG_TOKEN], a [redacted: $TOKEN]."
    )


def test_a_value_that_is_not_utf8_is_replaced_in_raw_text() -> None:
    redactor = Redactor({"caf\udce9-secret": "TOKEN"})
    assert redactor.text("x caf\udce9-secret") == "x [redacted: $TOKEN]"
    assert redactor.feed(b"x caf\xe9-secret") + redactor.finish() == b"x [redacted: $TOKEN]"


def test_a_text_that_no_bytes_make_is_redacted_too() -> None:
    assert Redactor({}).text(f"\ud800 ghp_{MIXED[:36]}") == "\ud800 [redacted: GitHub token]"


def test_secrets_that_overlap_become_one() -> None:
    secret = f"ghp_{MIXED[:36]}"
    assert Redactor({}).text(f"A_TOKEN={secret}#more") == "A_TOKEN=[redacted: GitHub token]"
    assert Redactor({secret[8:] + "#mo": "X"}).text(f"{secret}#more") == (
        "[redacted: GitHub token]re"
    )


def test_a_key_that_was_cut_off_is_replaced_as_far_as_it_goes() -> None:
    cut = pem()[:200]
    assert Redactor({}).text(f"{cut}\n...\n") == "[redacted: private key]\n...\n"


@pytest.mark.parametrize("text", [secret for _, secret in SECRETS] + UNTOUCHED)
@pytest.mark.parametrize("size", [1, 7])
def test_a_stream_is_redacted_across_its_cuts(text: str, size: int) -> None:
    text = f"before {text}\nTOKEN=abc123 after"
    data = text.encode("utf-8", "surrogateescape")
    redactor = Redactor({"canary-value": "X"})
    parts = [redactor.feed(data[at : at + size]) for at in range(0, len(data), size)]
    whole = b"".join(parts) + redactor.finish()
    assert whole.decode("utf-8", "surrogateescape") == redactor.text(text)


PIECES = [
    *(secret for _, secret in SECRETS),
    *("TOKEN", "API_KEY", "SECRET", "=", ":", '"', "'", " ", "\n", "\\n", "://", "u:", "@", "/"),
    *("Bearer ", "Authorization: Basic ", "aws_secret_access_key = ", "?token=", "-----BEGIN "),
    *("PRIVATE KEY-----", "-----END ", "-----", "eyJ", ".", "-", "_", "sk-", "ghp_", "xoxb-"),
    *(HEX, MIXED, KEY, "hunter2", "canary-", "value", "canary-canary-value", "é", "\udcff", "("),
]


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join),
    st.lists(st.integers(0, 4000), max_size=8),
)
@example("TOKEN=" + "a" * 510 + "SECRET=" + "b" * 505 + "TOKEN=" + "c" * 600, [300, 520, 1030])
@example('API_KEY: "abcdefghijklmnop";x=1', [26])
def test_cuts_never_change_what_is_redacted(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "surrogateescape")
    redactor = Redactor({"canary-value": "X", "canary-canary": "Y"})
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    streamed = b"".join(redactor.feed(data[at:end]) for at, end in pairwise(edges))
    streamed += redactor.finish()
    # As text it is the bytes that count: pieces of one character may have met.
    assert streamed.decode("utf-8", "surrogateescape") == redactor.text(
        data.decode("utf-8", "surrogateescape")
    )


@pytest.mark.parametrize(
    "text",
    ["Continue? [y/N]", "Installing", "100%", "$ ", "done.\n", "9fceb02d0ae598e95dc970b74767f193"],
)
def test_a_stream_is_not_held_back_without_need(text: str) -> None:
    assert Redactor({"canary-value": "X"}).feed(text.encode()) == text.encode()


def test_a_stream_holds_back_what_could_become_a_secret() -> None:
    redactor = Redactor({})
    assert redactor.feed(b"key gh") == b"key "
    assert redactor.feed(b"ost\n") == b"ghost\n"
    assert redactor.feed(f"ghp_{MIXED[:36]}".encode()) == b""
    assert redactor.feed(b"\n") == b"[redacted: GitHub token]\n"
    assert redactor.finish() == b""


@pytest.mark.parametrize(
    "unit",
    [
        f"TOKEN={'a' * 509}SECRET={'b' * 504}",
        KEY,
        "-----BEGIN PRIVATE KEY-----" + "A" * 100,
        "sk-",
        "eyJabcdefghij.",
        "://a:b",
        "Bearer ",
        "TOKEN=",
        "\n",
        "-",
    ],
)
def test_a_stream_never_holds_back_much(unit: str) -> None:
    redactor = Redactor({})
    _ = redactor.feed(f"-----BEGIN PRIVATE KEY-----\n{MIXED}".encode())
    for _ in range(3):
        _ = redactor.feed((unit * (32768 // len(unit))).encode())
        assert len(redactor._held) <= secret_fields.REACH + 16384


class _Parsed(Protocol):
    def getwidth(self) -> tuple[int, int]: ...


def _longest(pattern: re.Pattern[bytes]) -> int:
    parse = cast("Callable[[bytes], _Parsed]", vars(import_module("re._parser"))["parse"])
    return parse(pattern.pattern).getwidth()[1]


def test_no_pattern_looks_further_than_what_is_looked_at_again() -> None:
    assert _longest(secret_words._shapes()) < secret_words._REACH
    for trigger in secret_fields._TRIGGERS:
        private = trigger == secret_fields._PRIVATE_KEY
        reach = secret_fields.REACH if private else secret_fields._NEAR
        for field in secret_fields._fields(trigger):
            assert _longest(field.pattern) < reach


@pytest.mark.parametrize(
    "unit",
    [
        "INFO 2026-01-01T00:00:00Z GET /api/v1/users?page=2 200 12ms https://example.com/a/b\n",
        "token=12 password is required, secret santa; Compiling serde v1.0.130 (registry+https)\n",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 60,
        "TOKEN=",
        "-eyJ",
        "sk-",
        "://a:",
        "Authorization: ",
        "-",
    ],
)
def test_redacting_is_linear(unit: str) -> None:
    redactor = Redactor({"canary-value": "X"})
    text = unit * ((1 << 16) // len(unit))
    begun = time.process_time()
    _ = redactor.text(text)
    # Far from what it takes, and far from what anything quadratic would take.
    assert time.process_time() - begun < 1.5
