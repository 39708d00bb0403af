"""Whatever an agent sends is answered."""

import json
import math
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.dialects.codegen.dialect import CodegenDialect
from nacre.errors import CallError
from nacre.model.call import OnTimeout

KEYS = ("command", "description", "timeout", "run_in_background", "shell_id")
TOOLS = ("Bash", "BashOutput", "KillShell")

NUMBERS = (0, 1, 0.9, -5, 600, sys.maxsize, 10**400, -(10**400), math.nan, math.inf, -math.inf)
TEXTS = ("", "\ud800", "\udcff", "\0", "sudo ls", "true", "5")
LEAVES = st.sampled_from((None, True, False, *NUMBERS, *TEXTS)) | st.floats() | st.text(max_size=3)
JUNK = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from((*KEYS, "", 7, None, "\ud800")), inner, max_size=2),
    ),
    max_leaves=2,
)
OWN = st.dictionaries(st.sampled_from(KEYS), LEAVES | JUNK, min_size=1, max_size=3)
NAMES = st.sampled_from((*TOOLS, *TOOLS, "bash", "", "\ud800", "Bash\n"))


@settings(max_examples=1000)
@given(
    st.lists(st.tuples(NAMES, OWN | JUNK), min_size=20, max_size=20),
    st.sampled_from(OnTimeout),
)
def test_any_arguments_are_a_call_or_an_error_in_words(
    calls: list[tuple[str, object]], on_timeout: OnTimeout
) -> None:
    dialect = CodegenDialect()
    for tool, arguments in calls:
        try:
            dialect.parse(tool, arguments, on_timeout)
        except CallError as error:
            reply = dialect.refuse(tool, error)
            assert reply.is_error
            assert reply.text.encode()
            assert json.loads(json.dumps(reply.details)) == {"exit_code": None}
