"""Inspect's real evaluations and sandbox contract, with a model that says what it was told to."""

import errno
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
import tiktoken
from inspect_ai import Task
from inspect_ai import eval as eval_tasks  # pyright: ignore[reportUnknownVariableType] (an extra's types)
from inspect_ai.approval import Approval, ApprovalPolicy, Approver, approver
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ChatMessageTool, ModelOutput, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolCall, ToolCallView, bash, python
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
)
from inspect_ai.util._concurrency import init_concurrency
from inspect_ai.util._sandbox.limits import override_sandbox_output_limit

from nacre import ConfigError
from nacre.adapters.inspect_ai import NacreConfig, NacreRules, NacreSandboxEnvironment
from processes import alive, gone, tag

ROOT = Path(__file__).parents[2]

# What Inspect's evaluations do themselves, and leave open.
pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def fresh_limits() -> None:
    """Inspect's limits of what runs at once belong to an event loop, and outlive it."""
    init_concurrency()


@pytest.fixture
def config(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NacreConfig:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return NacreConfig(state=str(state))


@pytest.fixture
async def sandbox(config: NacreConfig) -> AsyncGenerator[NacreSandboxEnvironment]:
    made = await NacreSandboxEnvironment.sample_init("task", config, {})
    environment = made["default"].as_type(NacreSandboxEnvironment)
    yield environment
    await NacreSandboxEnvironment.sample_cleanup("task", config, made, interrupted=False)


def folders(tmp_path: Path) -> list[Path]:
    """What samples have on the disk."""
    return list(tmp_path.glob("nacre-inspect-*"))


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
async def test_a_command_has_its_streams_its_input_and_its_exit_code(
    sandbox: NacreSandboxEnvironment,
) -> None:
    script = 'cat; echo "$COLOUR" >&2; exit 3'
    done = await sandbox.exec(["bash", "-c", script], input="hi\n", env={"COLOUR": "red"})
    assert (done.success, done.returncode) == (False, 3)
    assert (done.stdout, done.stderr) == ("hi\n", "red\n")
    assert (await sandbox.exec(["sh", "-c", "kill -9 $$"])).returncode == 137


async def test_a_program_that_is_not_there_is_a_result(sandbox: NacreSandboxEnvironment) -> None:
    done = await sandbox.exec(["no-such-program", "x"])
    assert done.returncode == 127
    assert done.stderr == "bash: line 1: exec: no-such-program: not found\n"


@pytest.mark.parametrize(
    ("folder", "error"),
    [("none", FileNotFoundError), ("file", NotADirectoryError)],
)
async def test_a_folder_that_cannot_be_entered_is_raised(
    sandbox: NacreSandboxEnvironment, folder: str, error: type[OSError]
) -> None:
    await sandbox.write_file("file", "")
    with pytest.raises(error, match=folder):
        await sandbox.exec(["true"], cwd=folder)


async def test_a_command_that_is_refused_says_why(config: NacreConfig) -> None:
    rules = NacreRules(ask=("Bash(touch:*)",), deny=("Bash(curl:*)",))
    sandbox = NacreSandboxEnvironment(config.model_copy(update={"rules": rules}))
    asked = await sandbox.exec(["bash", "-c", "touch a"])
    denied = await sandbox.exec(["curl", "x"])
    guarded = await sandbox.exec(["bash", "--login", "-c", "git push --force"])
    ls = await sandbox.exec(["ls"])
    await sandbox.aclose()
    assert asked.returncode == denied.returncode == guarded.returncode == 126
    assert asked.stderr == (
        "nacre: denied: it needs approval, and nobody is here to give it:"
        " `touch a` needs approval by the rule Bash(touch:*).\n"
    )
    assert denied.stderr.startswith("nacre: denied: `curl x` is denied by the rule Bash(curl:*).")
    assert guarded.stderr.startswith("nacre: denied: A forced push overwrites")
    assert ls.stdout == ""


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cmd": ["echo", "\ud800"]}, "which is no character"),
        ({"cmd": ["true"], "env": {"": "x"}}, "cannot be set"),
        ({"cmd": ["true"], "env": {"a=b": "x"}}, "cannot be set"),
        ({"cmd": ["echo", "x" * 200_000], "input": "y"}, "write it to a file"),
    ],
)
async def test_what_bash_cannot_be_given_is_refused_in_words(
    sandbox: NacreSandboxEnvironment, settings: dict[str, Any], words: str
) -> None:
    done = await sandbox.exec(**settings)
    assert done.returncode == 126
    assert words in done.stderr


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"cmd": ["echo", "a\0b"]}, ValueError("embedded null byte")),
        ({"cmd": ["true"], "cwd": "a\0b"}, ValueError("embedded null byte")),
        ({"cmd": ["true"], "env": {"A": "\0"}}, ValueError("embedded null byte")),
        ({"cmd": []}, ValueError("there is no command in an empty list")),
        ({"cmd": ["echo", 3]}, TypeError("3 is no text")),
        ({"cmd": [None]}, TypeError("None is no text")),
    ],
)
async def test_what_is_no_command_is_raised(
    sandbox: NacreSandboxEnvironment, settings: dict[str, Any], error: Exception
) -> None:
    with pytest.raises(type(error), match=str(error)):
        await sandbox.exec(**settings)


async def test_at_the_timeout_all_that_was_started_ends(sandbox: NacreSandboxEnvironment) -> None:
    mark = tag()
    script = f"echo begun; setsid sleep {mark} & sleep {mark}"
    with pytest.raises(TimeoutError, match="ended after 1 s") as raised:
        await sandbox.exec(["bash", "-c", script], timeout=1)
    assert getattr(raised.value, "truncated_output", None) == "begun\n"
    await gone(mark)


async def test_nothing_survives_a_command_or_its_cancelling(
    sandbox: NacreSandboxEnvironment,
) -> None:
    mark = tag()
    await sandbox.exec(["bash", "-c", f"setsid sleep {mark} >/dev/null 2>&1 &"])
    await gone(mark)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sandbox.exec, ["bash", "-c", f"setsid sleep {mark} & sleep {mark}"])
        with anyio.fail_after(20):
            while not alive(mark):
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()
    await gone(mark)


async def test_more_output_than_inspect_takes_is_raised_and_not_kept(
    sandbox: NacreSandboxEnvironment,
) -> None:
    with override_sandbox_output_limit(1000), pytest.raises(OutputLimitExceededError) as raised:
        await sandbox.exec(["bash", "-c", "yes | head -c 5000000"])
    assert raised.value.truncated_output == "y\n" * 500


async def test_bytes_that_are_no_text_are_shown_as_such(sandbox: NacreSandboxEnvironment) -> None:
    assert (await sandbox.exec(["printf", r"\377x"])).stdout == "\ufffdx"
    await sandbox.write_file("raw", b"\xff")
    with pytest.raises(UnicodeDecodeError):
        await sandbox.read_file("raw")
    assert await sandbox.read_file("raw", text=False) == b"\xff"


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("missing", FileNotFoundError),
        ("", IsADirectoryError),
        (".", IsADirectoryError),
        ("\ud800", FileNotFoundError),
        ("a\0b", ValueError),
        ("x" * 5000, OSError),
        ("/dev/zero", OSError),
    ],
)
async def test_a_file_that_cannot_be_read_is_raised(
    sandbox: NacreSandboxEnvironment, file: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await sandbox.read_file(file)


async def test_links_do_not_lead_out(sandbox: NacreSandboxEnvironment) -> None:
    outside = Path.home() / f"nacre-{tag()}"
    outside.write_text("before")
    try:
        await sandbox.exec(["ln", "-s", str(outside), "link"])
        with pytest.raises(PermissionError):
            await sandbox.write_file("link", "after")
        with pytest.raises(PermissionError):
            await sandbox.write_file(str(outside), "after")
        assert outside.read_text() == "before"
    finally:
        outside.unlink()


async def test_what_is_denied_is_not_read_by_any_link(config: NacreConfig) -> None:
    secret = Path.home() / f"nacre-{tag()}"
    secret.write_text("secret")
    sandbox = NacreSandboxEnvironment(config.model_copy(update={"deny_read": (str(secret),)}))
    try:
        await sandbox.exec(["ln", "-s", str(secret), "link"])
        with pytest.raises(OSError, match="link") as raised:
            await sandbox.read_file("link")
        assert raised.value.errno in {errno.EACCES, errno.ENOENT}
    finally:
        await sandbox.aclose()
        secret.unlink()


async def test_a_sample_cannot_write_to_anothers_folder(
    sandbox: NacreSandboxEnvironment, config: NacreConfig
) -> None:
    other = NacreSandboxEnvironment(config)
    folder = (await other.exec(["pwd"])).stdout.strip()
    try:
        await sandbox.exec(["bash", "-c", f"echo x > {folder}/mine"])
        with pytest.raises(FileNotFoundError):
            await other.read_file("mine")
    finally:
        await other.aclose()


async def test_another_user_is_not_supported(sandbox: NacreSandboxEnvironment) -> None:
    me = (await sandbox.exec(["id", "-u"])).stdout.strip()
    assert (await sandbox.exec(["true"], user=me)).success
    for other in ("nobody", "no-such-user", "54321", "²"):
        with pytest.raises(SandboxUserUnsupportedError, match=other):
            await sandbox.exec(["true"], user=other)


async def test_a_sample_leaves_nothing_on_the_disk(config: NacreConfig, tmp_path: Path) -> None:
    made = await NacreSandboxEnvironment.sample_init("task", config, {})
    await made["default"].exec(["bash", "-c", "mkdir -p a/b && touch a/b/c && chmod 0 a/b a"])
    assert len(folders(tmp_path)) == 1
    await NacreSandboxEnvironment.sample_cleanup("task", config, made, interrupted=True)
    assert folders(tmp_path) == []
    with pytest.raises(SandboxUnavailableError, match="closed"):
        await made["default"].exec(["true"])
    with pytest.raises(SandboxUnavailableError, match="closed"):
        await made["default"].read_file("a")


async def test_a_confinement_that_cannot_be_had_is_no_output_of_a_command(
    config: NacreConfig,
) -> None:
    sandbox = NacreSandboxEnvironment(config.model_copy(update={"write": ("/no/such",)}))
    with pytest.raises(SandboxUnavailableError, match="there is no such folder"):
        await sandbox.exec(["true"])
    await sandbox.aclose()


@pytest.mark.usefixtures("config")
async def test_a_file_of_settings_decides(state: Path, tmp_path: Path) -> None:
    file = tmp_path / "sandbox.toml"
    (tmp_path / "shared").mkdir()
    file.write_text(
        f"write = ['shared']\nstate = '{state}'\n[permissions]\ndeny = ['Bash(true:*)']\n"
    )
    made = await NacreSandboxEnvironment.sample_init("task", str(file), {})
    sandbox = made["default"]
    assert (await sandbox.exec(["true"])).returncode == 126
    await sandbox.write_file(str(tmp_path / "shared" / "a"), "x")
    await NacreSandboxEnvironment.sample_cleanup("task", str(file), made, interrupted=False)
    assert (tmp_path / "shared" / "a").read_text() == "x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no file"),
        ("= 3", "is no TOML"),
        ("colour = 'red'", "colour: Extra inputs are not permitted"),
        ("sandbox = 3", "sandbox: Input should be a valid string"),
        ("sandbox = 'paper'", "'paper' is not known"),
        ("[permissions]\nallow = ['Bash(']", "sandbox.toml:2"),
    ],
)
@pytest.mark.usefixtures("config")
async def test_settings_that_cannot_be_used_are_refused_in_words(
    tmp_path: Path, text: str | None, words: str
) -> None:
    file = tmp_path / "sandbox.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        await NacreSandboxEnvironment.sample_init("task", str(file), {})
    assert words in str(raised.value)
    assert folders(tmp_path) == []


def test_a_configuration_comes_back_from_a_log(config: NacreConfig) -> None:
    given = config.model_copy(update={"rules": NacreRules(ask=("Bash(touch:*)",))})
    spec = SandboxEnvironmentSpec("nacre", given)
    assert hash(spec)
    read = SandboxEnvironmentSpec.model_validate(spec.model_dump())
    assert read.config == given


class Characters:
    """Stands in for an encoding that Inspect would fetch from the network."""

    def encode(self, text: str, **_: object) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: list[int]) -> str:
        return bytes(tokens).decode()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def encoding(name: str) -> Characters:
        del name
        return Characters()

    monkeypatch.setattr(tiktoken, "get_encoding", encoding)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def tool_call(tool: str, **arguments: str) -> ModelOutput:
    return ModelOutput.for_tool_call("mockllm/model", tool, arguments)


def evaluate(
    config: NacreConfig,
    tmp_path: Path,
    *turns: ModelOutput,
    approval: list[ApprovalPolicy] | None = None,
) -> EvalLog:
    task = Task(
        dataset=[Sample(input="go", target="done", files={"seed.txt": "seed\n"})],
        solver=[use_tools(bash(timeout=30), python(timeout=30)), generate()],
        scorer=includes(),
        sandbox=SandboxEnvironmentSpec("nacre", config),
        approval=approval,
    )
    outputs = [*turns, ModelOutput.from_content("mockllm/model", "done")]
    model = get_model("mockllm/model", custom_outputs=outputs)
    [log] = eval_tasks(task, model=model, display="none", log_dir=str(tmp_path / "logs"))
    return log


def told(log: EvalLog) -> list[ChatMessageTool]:
    assert log.status == "success", log.error
    assert log.samples
    return [each for each in log.samples[0].messages if isinstance(each, ChatMessageTool)]


@pytest.mark.usefixtures("offline")
def test_an_evaluation_runs_with_inspects_own_tools(config: NacreConfig, tmp_path: Path) -> None:
    mark = tag()
    log = evaluate(
        config,
        tmp_path,
        tool_call("bash", command=f"cat seed.txt; setsid sleep {mark} & echo new > made"),
        tool_call("python", code="print(open('made').read() + str(6 * 7))"),
        tool_call("bash", command="git push --force"),
        tool_call("bash", command="echo \0"),
    )
    seed, made, denied, null = told(log)
    assert "seed\n" in seed.text
    assert made.text.endswith("new\n42\n")
    assert "nacre: denied: A forced push overwrites" in denied.text
    assert null.error is not None
    assert null.error.type == "parsing"
    assert not alive(mark)
    assert folders(tmp_path) == []


@approver(name="nobody")
def nobody() -> Approver:
    async def approve(
        message: str, call: ToolCall, view: ToolCallView, history: list[ChatMessage]
    ) -> Approval:
        del message, view, history
        return Approval(decision="reject", explanation=f"no {call.function} today")

    return approve


@pytest.mark.usefixtures("offline")
def test_inspects_own_approvers_decide_before_nacre_does(
    config: NacreConfig, tmp_path: Path
) -> None:
    policy = [ApprovalPolicy(approver=nobody(), tools="bash")]
    [reply] = told(
        evaluate(config, tmp_path, tool_call("bash", command="touch made"), approval=policy)
    )
    assert reply.error is not None
    assert "no bash today" in reply.error.message


def test_the_sandbox_is_found_by_its_entry_point(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]["inspect_ai"]
    info = tmp_path / "nacre_again-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nacre-again\nVersion: 1\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[inspect_ai]\n{lines}")
    code = f"""
    import sys
    sys.path.insert(0, {str(tmp_path)!r})
    from inspect_ai.util._sandbox.registry import registry_find_sandboxenv
    print(registry_find_sandboxenv("nacre").__name__)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True, text=True
    )
    assert done.stdout.strip() == "NacreSandboxEnvironment", done.stderr


def test_without_inspect_the_extra_is_named() -> None:
    code = "import sys; sys.modules['inspect_ai'] = None; import nacre.adapters.inspect_ai"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "nacre.errors.ConfigError: Inspect cannot be imported" in done.stderr
    assert "pip install 'nacre[inspect-ai]'" in done.stderr
