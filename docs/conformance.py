"""Prints the page that lists what each document requires: `make docs` writes it."""

from collections.abc import Iterator

from nacre.dialects.requirements import DOCUMENTED, requirements

_HEAD = """# Conformance

What each dialect's document requires, in our own words, whether it holds as written, and the test that shows it. The data is in
`nacre/dialects/requirements`; `nacre conformance` prints it, and `make docs` makes this page of it. What differs from the *origins*, as opposed to
the documents, is in [the dialects](dialects.md).
"""


def page() -> Iterator[str]:
    """The lines of the page."""
    yield _HEAD
    for dialect in DOCUMENTED:
        entries = requirements(dialect)
        differing = sum(bool(entry.differs) for entry in entries)
        yield f"## {dialect}\n"
        yield f"{len(entries)} requirements, {differing} of them kept in another way on purpose.\n"
        yield "| requirement | section | says | |"
        yield "|---|---|---|---|"
        for entry in entries:
            verdict = f"differs: {entry.differs}" if entry.differs else "holds"
            name = entry.id.partition(".")[2]
            cells = (
                f"`{name}`",
                entry.section,
                entry.says,
                f"{verdict} `{entry.test.rpartition('::')[2]}`",
            )
            yield "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |"
        yield ""


if __name__ == "__main__":
    print("\n".join(page()).rstrip())
