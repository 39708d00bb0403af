"""What the origins' own tests assert comes out equal, or is listed with its reason.

A case is put to the highest door that shows it: a verdict to `nacre check`'s policy, a call to
`Bash.call`. A case of an origin's inner function is restated: a timeout by what the call
is read as, a variable by what a script sees.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import anyio
import pytest

from conformance.seed_cases import Case, deliberate, dialect_of, load
from nacre import Bash, Reply, ToolContext
from nacre.config.policy import policy_for
from nacre.config.rules import layer_of_rules, layer_of_text
from nacre.dialects.select import select
from nacre.dialects.wayland.network import looks_networked
from nacre.errors import CallError, RuleError
from nacre.model.call import OnTimeout, Run
from nacre.model.confinement import Network
from nacre.model.verdict import Verdict
from nacre.policy.credentials.listed_patterns import unquoted
from nacre.process.environ import environ_of
from nacre.syntax.display import display
from nacre.syntax.read import read
from nacre.syntax.script import Surroundings

CASES = load()
LISTED = deliberate()
KNOWN = {str(case["id"]) for case in CASES}
Given = Mapping[str, object]


def given(case: Case) -> Given:
    value = case["input"]
    return cast("Given", value) if isinstance(value, dict) else {"script": value}


def wanted(case: Case) -> Given:
    return cast("Given", case["expected"])


def some(*keys: str) -> list[object]:
    """The cases whose input has all of these keys, and which are not listed."""
    return [
        pytest.param(case, id=str(case["id"]))
        for case in CASES
        if case["id"] not in LISTED and {*keys} <= {*given(case)}
    ]


def of(dialect: str, *keys: str, kinds: tuple[str, ...] = ()) -> list[object]:
    """Those of one dialect, and of some kinds."""
    return [
        each
        for each in some(*keys)
        if dialect_of(_case(each)) == dialect and (not kinds or _case(each)["kind"] in kinds)
    ]


def _case(parameter: object) -> Case:
    return cast("tuple[Case]", getattr(parameter, "values"))[0]  # noqa: B009 (pytest does not type it)


def verdict(dialect: str, script: str, *layers: object, contained: bool = False) -> Verdict:
    policy = policy_for(dialect, cast("tuple[()]", layers), contained=contained)
    return policy.check(read(script, Surroundings(cwd="/srv/app", home="/srv/home")))


VERDICTS = [each for each in some("script") if _case(each)["kind"] in {"denylist", "safety"}]


@pytest.mark.skipif(not CASES, reason="the file of cases is not here")
def test_every_case_is_tried_or_listed() -> None:
    tried = {str(_case(each)["id"]) for each in TRIED}
    assert not tried & {*LISTED}
    untried = KNOWN - tried - {*LISTED}
    assert untried == set()


@pytest.mark.skipif(not CASES, reason="the file of cases is not here")
def test_what_is_listed_has_a_reason() -> None:
    assert all(reason.endswith(".") for reason in LISTED.values())


@pytest.mark.parametrize("case", VERDICTS)
def test_a_script_is_judged_as_its_origin_judges_it(case: Case) -> None:
    found = verdict(dialect_of(case), str(case["input"]))
    expected = wanted(case)
    if "tree_sitter" in expected:  # of its two checkers, the one that the document names
        expected = {"verdict": str(expected["tree_sitter"]).partition(" ")[0]}
    assert found.decision.name.lower() == expected["verdict"]
    said = expected.get("error") or expected.get("reason")
    assert expected["verdict"] == "allow" or said in {None, found.reason}


DISPLAYS = of("phoenix", "command", "cwd", kinds=("display",))


@pytest.mark.parametrize("case", DISPLAYS)
def test_a_command_is_displayed_as_its_origin_displays_it(case: Case) -> None:
    cwd = str(given(case)["cwd"]).replace("$HOME", "/srv/home")
    assert display(str(given(case)["command"]), cwd, "/srv/home") == wanted(case)["display"]


def parsed(dialect: str, arguments: object) -> Run:
    call = select(dialect).parse("Bash", arguments, OnTimeout.KILL)
    assert isinstance(call, Run)
    return call


TIMEOUTS = some("timeout_argument")


@pytest.mark.parametrize("case", TIMEOUTS)
def test_a_timeout_is_read_as_its_origin_reads_it(case: Case) -> None:
    arguments = {
        "command": "true",
        "description": "d",
        "timeout": given(case)["timeout_argument"],
    }
    expected = wanted(case)
    if "error" in expected:
        with pytest.raises(CallError):
            parsed(dialect_of(case), arguments)
        return
    unit = 0.001 if "effective_ms" in expected else 1.0
    (time_given,) = expected.values()
    timeout = parsed(dialect_of(case), arguments).timeout
    assert timeout is not None
    assert timeout.total_seconds() == pytest.approx(float(str(time_given)) * unit)


def assert_reply(reply: Reply, expected: Given) -> None:
    """Compare a reply with what is said of it, whatever that is."""
    details = dict(reply.details or {})
    checks: dict[str, Callable[[object], bool]] = {
        "is_error": lambda value: reply.is_error is value,
        "success": lambda value: details["success"] is value,
        "text": lambda value: reply.text == value,
        "content": lambda value: details.get("content", reply.text) == value,
        "output": lambda value: reply.text == value,
        "output_prefix": lambda value: reply.text.startswith(str(value)),
        "text_prefix": lambda value: reply.text.startswith(str(value)),
        "contains": lambda value: all(part in reply.text for part in _texts(value)),
        "content_contains": lambda value: all(
            part in str(details["content"]) for part in _texts(value)
        ),
        "not_contains": lambda value: all(part not in reply.text for part in _texts(value)),
        "no_exit_line": lambda _: "exit:" not in reply.text,
        "summary": lambda value: details["summary"] == value,
        "stdout": lambda value: f"STDOUT:\n{value}" in reply.text,
        "stderr": lambda value: str(value) in str(details["stderr"]),
        "details": lambda value: cast("dict[str, object]", value).items() <= details.items(),
        "error": lambda value: details["kind"] == value,
        "exit": lambda value: _exit_of(details) == value,
        "accepted": lambda value: (not reply.is_error) is value,
        "hint_appended": lambda value: ("NO NETWORK" in reply.text) is value,
    }
    unknown = expected.keys() - checks.keys() - ASIDE
    assert unknown == set()
    for name, value in expected.items():
        if name in checks:
            assert checks[name](value), f"{name}: {value!r}, but {reply!r}"


# Looked at by the tests themselves, or words about the case.
ASIDE = {"elapsed_lt_s", "background_job", "note", "not_executed", "effective_timeout_s"}


def _texts(value: object) -> list[str]:
    return (
        [str(each) for each in cast("list[object]", value)]
        if isinstance(value, list)
        else [str(value)]
    )


def _exit_of(details: Mapping[str, object]) -> int:
    summary = str(details["summary"])
    return int(summary.rpartition("(exit ")[2].rstrip(")")) if "(exit " in summary else 0


def tool_of(dialect: str, workspace: Path, state: Path) -> Bash:
    return Bash(dialect=dialect, workspace=workspace, state=state)


CALLS = [
    each
    for each in (*some("command"), *of("yoi", "script", kinds=("exec",)))
    if _case(each)["kind"] in {"exec", "background"}
    and not {"policy", "backend"} & {*given(_case(each))}
    and "output_after_900s" not in wanted(_case(each))
]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("case", CALLS)
async def test_a_call_is_answered_as_its_origin_answers_it(
    case: Case, workspace: Path, state: Path
) -> None:
    asked = given(case)
    dialect, expected = dialect_of(case), wanted(case)
    name = str(asked.get("tool") or ("bash" if dialect == "phoenix" else "Bash"))
    heard: list[bytes] = []
    async with tool_of(dialect, workspace, state) as tool:
        began = time.monotonic()
        reply = await tool.call(
            name,
            str(asked["script"])
            if "script" in asked
            else {k: v for k, v in asked.items() if k not in {"tool", "streaming"}},
            ToolContext(working_dir=workspace),
            on_output=heard.append if asked.get("streaming") else None,
        )
        took = time.monotonic() - began
    assert_reply(reply, expected)
    if "elapsed_lt_s" in expected:
        assert took < float(str(expected["elapsed_lt_s"]))
    if expected.get("not_executed"):
        assert (workspace / ".git").exists() is False


COMPANIONS = [
    each
    for each in of("codegen", "tool", kinds=("background",))
    if "command" not in given(_case(each))
]


@pytest.mark.parametrize("case", COMPANIONS)
async def test_a_companion_tool_answers_as_its_origin_does(
    case: Case, workspace: Path, state: Path
) -> None:
    asked = dict(given(case))
    name = str(asked.pop("tool"))
    async with tool_of("codegen", workspace, state) as tool:
        if after := str(asked.pop("after", "")):
            command = after.removesuffix(" finished")
            started = await tool.call(
                "Bash", {"command": command, "description": "d", "run_in_background": True}
            )
            asked["shell_id"] = started.text.split()[1]
        with anyio.fail_after(20):
            reply = await tool.call(name, asked)
            while after and "completed" not in reply.text:
                reply = await tool.call(name, asked)
    assert_reply(reply, wanted(case))


SEQUENCES = some("calls")


@pytest.mark.parametrize("case", SEQUENCES)
async def test_one_call_leaves_no_folder_to_the_next(
    case: Case, workspace: Path, state: Path
) -> None:
    (workspace / "nested").mkdir()
    async with tool_of(dialect_of(case), workspace, state) as tool:
        *_, last = [
            await tool.call("Bash", {"command": command}, ToolContext(working_dir=workspace))
            for command in cast("list[str]", given(case)["calls"])
        ]
    assert str((last.details or {})["content"]).strip() == str(workspace)


OUTPUTS = of("yoi", "output")
_PRINTS = {
    "81 short lines": "seq 81",
    "80 short lines": "seq 80",
    "12289 bytes": "head -c 12289 /dev/zero | tr '\\0' x",
    "12288 bytes": "head -c 12288 /dev/zero | tr '\\0' x",
    "300 KiB": "head -c 307200 /dev/zero | tr '\\0' x",
}


@pytest.mark.parametrize("case", OUTPUTS)
async def test_long_output_is_announced_as_its_origin_announces_it(
    case: Case, workspace: Path, state: Path
) -> None:
    expected = wanted(case)
    async with tool_of("yoi", workspace, state) as tool:
        reply = await tool.call("Bash", {"command": _PRINTS[str(given(case)["output"])]})
    content = str((reply.details or {})["content"])
    spilled = content.startswith("[showing last")
    assert expected.get("inline", False) is not spilled
    assert content.startswith(str(expected.get("header_prefix", "")))
    if header := str(expected.get("header", "")):
        before, _, after = header.partition("PATH")
        assert content.splitlines()[0].startswith(before)
        assert content.splitlines()[0].endswith(after)


VARIABLES = of("wayland", kinds=("env",))


@pytest.mark.parametrize("case", VARIABLES)
def test_a_variable_passes_as_in_its_origin(case: Case) -> None:
    asked, expected = given(case), wanted(case).get("result")
    passing = [
        *cast("list[str]", asked.get("register", [])),
        *cast("list[str]", asked.get("config", [])),
        *cast("list[str]", asked.get("extra_allow", [])),
        *(f"{name}*" for name in cast("list[str]", asked.get("extra_prefixes", []))),
    ]
    if "is_sensitive_env_var" in asked:
        name = str(asked["is_sensitive_env_var"])
        assert (name not in seen({name: "x"}, [name])) is expected
    elif "is_passthrough" in asked:
        name = str(asked["is_passthrough"])
        assert (name in passing) is expected
    elif "manifest_env" in asked:
        host = cast("dict[str, str]", asked["host_env"])
        told = cast("dict[str, str]", asked["manifest_env"])
        assert seen({**host, **told}, list(told)) == told
    else:
        names = list(cast("list[str]", asked["host"]))
        found = seen(dict.fromkeys(names, "x"), passing)
        results = cast("dict[str, bool]", expected)
        for name in names:
            assert (name in found) is results.get(name, results.get("present"))


def seen(host: dict[str, str], passed: list[str]) -> dict[str, str]:
    """What a script of wayland's sees of a host's variables."""
    environment = select("wayland").posture({}).environment
    return environ_of(
        type(environment)(base=environment.base, never=environment.never, passed=tuple(passed)),
        host,
    )


POSTURES = [
    each
    for each in of("wayland", kinds=("exec",))
    if {"env", "WAYLAND_ALLOW_NO_SANDBOX"} & {*given(_case(each))}
]


@pytest.mark.parametrize("case", POSTURES)
def test_a_variable_of_the_host_decides_as_in_its_origin(case: Case) -> None:
    asked, expected = given(case), wanted(case)
    named = cast("dict[str, object]", asked.get("env", asked))
    environ = {
        name: str(value)
        for name, value in named.items()
        if value is not None and name.startswith("WAYLAND_")
    }
    posture = select("wayland").posture(environ)
    if "network" in expected:
        assert posture.network is Network(expected["network"])
    elif "opt_in" in expected:
        assert posture.unheld_allowed is expected["opt_in"]
    elif asked.get("no_backend"):
        assert posture.unheld_allowed is (expected["backend"] == "no_sandbox")
    else:
        assert bool(posture.refusal) is (expected["backend"] == "fail_closed")


RULES = [*some("policy"), *some("matchPattern"), *some("normalize")]


@pytest.mark.parametrize(
    "case", [each for each in RULES if "hint_appended" not in wanted(_case(each))]
)
def test_rules_decide_as_in_their_origin(case: Case) -> None:
    asked, expected = given(case), wanted(case)
    if "policy" in asked:
        rules = cast("Mapping[str, object]", asked["policy"])
        command = str(asked["command"] if "command" in asked else _spaced(str(asked["content"])))
        layer = layer_of_rules(rules, "agentrail")
        found = verdict(
            "agentrail", command, layer, contained="sandboxed" in str(asked.get("tool"))
        )
        assert found.decision.name.lower() == expected["decision"]
    elif "matchPattern" in asked:
        rules = {"deny": [f"Bash({asked['matchPattern']})"]}
        found = verdict(
            "agentrail", _spaced(str(asked["content"])), layer_of_rules(rules, "agentrail")
        )
        assert (found.decision.name == "DENY") is expected["result"]
    else:
        pattern = str(expected["result"])
        rules = {"deny": [f"Bash({pattern})"]}
        found = verdict("agentrail", str(asked["normalize"]), layer_of_rules(rules, "agentrail"))
        assert found.decision.name == "DENY"


def _spaced(content: str) -> str:
    """A command again, of which the first blank was made a colon."""
    return content.replace(":", " ", 1) if " " not in content.partition(":")[0] else content


GRAMMAR = [*some("parseRule"), *some("parseRules"), *some("yaml")]


@pytest.mark.parametrize("case", GRAMMAR)
def test_rules_are_read_or_refused_as_in_their_origin(case: Case) -> None:
    asked, expected = given(case), wanted(case)
    if "yaml" in asked:
        result = str(expected["result"])
        if result.startswith("throws"):
            with pytest.raises(
                RuleError, match=r"(?i)" + result.partition("/")[2].rpartition("/")[0]
            ):
                layer_of_rules(cast("Mapping[str, object]", asked["yaml"]), "agentrail")
        else:
            layer_of_rules(cast("Mapping[str, object]", asked["yaml"]), "agentrail")
        return
    rules = [asked["parseRule"]] if "parseRule" in asked else asked["parseRules"]
    if "error" not in expected:
        layer_of_rules({"deny": rules}, "agentrail")
        return
    with pytest.raises(RuleError) as caught:
        layer_of_rules({"deny": rules}, "agentrail")
    assert str(expected["error"]) in str(caught.value)


TABLES = [
    *of("yoi", "rules"),
    *of("yoi", "wildcard"),
    *of("yoi", "toml"),
    *of("yoi", "permission_target"),
]


@pytest.mark.parametrize("case", TABLES)
def test_a_table_decides_as_in_its_origin(case: Case) -> None:
    asked, expected = given(case), wanted(case)
    if "toml" in asked:
        with pytest.raises(RuleError, match=r"permissions\.default_action"):
            layer_of_text("[permissions]\n", Path("yoi.toml"), "yoi")
        return
    if "permission_target" in asked:
        target = cast("dict[str, str]", asked["permission_target"])
        rows: list[tuple[str, str, str]] = [("Bash", str(expected["result"]), "deny")]
        found = verdict("yoi", target["command"], table("allow", rows))
        assert found.decision.name == "DENY"
        return
    if "wildcard" in asked:
        rows = [("Bash", str(asked["wildcard"]), "deny")]
        found = verdict("yoi", str(asked["text"]), table("allow", rows))
        assert (found.decision.name == "DENY") is expected["match"]
        return
    given_rows = cast("list[tuple[str, str, str]]", asked["rules"])
    found = verdict("yoi", str(asked["command"]), table(str(asked["default_action"]), given_rows))
    assert found.decision.name.lower() == expected["action"]


def table(default: str, rows: list[tuple[str, str, str]]) -> object:
    written = [
        {"tool": tool, "pattern": pattern, "action": action} for tool, pattern, action in rows
    ]
    return layer_of_rules({"default_action": default, "rule": written}, "yoi")


UNQUOTED, NETWORKED = of("wayland", "deobfuscate"), of("wayland", "looks_network_dependent")


@pytest.mark.parametrize("case", UNQUOTED)
def test_quoting_is_undone_as_in_its_origin(case: Case) -> None:
    assert unquoted(str(given(case)["deobfuscate"])) == wanted(case)["result"]


@pytest.mark.parametrize("case", NETWORKED)
def test_a_command_looks_networked_as_in_its_origin(case: Case) -> None:
    found = looks_networked(str(given(case)["looks_network_dependent"]))
    assert found is wanted(case)["result"]


# Told in so many words elsewhere in the tests of a dialect, because the case is a sentence.
RESTATED = [
    *of("wayland", "policy"),
    *of("wayland", "backend", kinds=("background",)),
    *of("wayland", kinds=("truncation",)),
    *of("agentrail", kinds=("truncation",)),
    *of("phoenix", "tool_use"),
    *(each for each in of("phoenix", "mode") if "output_after_900s" in wanted(_case(each))),
]
TRIED = [
    *VERDICTS, *DISPLAYS, *TIMEOUTS, *CALLS, *COMPANIONS, *SEQUENCES, *OUTPUTS, *VARIABLES,
    *POSTURES, *RULES, *GRAMMAR, *TABLES, *UNQUOTED, *NETWORKED, *RESTATED,
]  # fmt: skip
