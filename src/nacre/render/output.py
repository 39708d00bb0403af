"""A transcript as a model reads it: cleaned, and cut in the middle to a budget."""

from nacre.model.transcript import Transcript
from nacre.model.value import dataclass
from nacre.render.binary import is_binary, summary
from nacre.render.excerpt import leading, tail_share, trailing
from nacre.render.fit import Piece, fit, piece
from nacre.render.notice import omitted
from nacre.render.raw import byte_count, raw_text, without_orphans, without_unfinished

__all__ = ("Shown", "shown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What is shown of a transcript.

    `omitted_bytes` of the stream are not shown because of the budget or the
    recorder's limit, and the text says so; what cleaning removed does not count.
    """

    text: str
    omitted_bytes: int = 0


_NOTHING = Shown(text="")


def shown(transcript: Transcript, budget: int) -> Shown:
    """Render a transcript within a budget of characters, notice not counted.

    The bytes are cut before they are cleaned, at line borders unless a line is
    enormous. So the range that the one notice names is exact: a byte is either
    inside it, or its cleaned form is shown. Costs what was kept, not what was said.
    """
    if not transcript.total:
        return _NOTHING
    if is_binary(transcript.head or transcript.tail):
        return Shown(text=summary(transcript), omitted_bytes=transcript.total)
    parts = _around_gap if transcript.omitted else _of_whole
    front, back = parts(transcript, max(0, budget))
    first = transcript.start + byte_count(front.raw)
    total = transcript.start + transcript.total
    end = total - byte_count(back.raw)
    if first == end:
        return Shown(text=(front.text + back.text).removesuffix("\n"))
    line = omitted(first, end, total=total, spill=transcript.spill)
    border = "\n" if front.text and not front.text.endswith("\n") else ""
    text = f"{front.text}{border}{line}\n{back.text}"
    return Shown(text=text.removesuffix("\n"), omitted_bytes=end - first)


def _of_whole(transcript: Transcript, budget: int) -> tuple[Piece, Piece]:
    raw = raw_text(transcript.head + transcript.tail)
    whole = piece(raw)
    if len(whole.text.removesuffix("\n")) <= budget:
        return whole, Piece("", "")
    back = fit(raw, tail_share(budget), trailing)
    rest = raw[: len(raw) - len(back.raw)]
    front = fit(rest, budget - len(back.text), leading)
    if len(front.raw) == len(rest):
        # A cursor that moves across the cut makes the whole longer than its pieces: a
        # line between them is left out, so that what is shown is not taken for the whole.
        front = fit(leading(rest, len(rest) - 1), budget - len(back.text), leading)
    return front, back


def _around_gap(transcript: Transcript, budget: int) -> tuple[Piece, Piece]:
    head = raw_text(without_unfinished(transcript.head))
    tail = raw_text(without_orphans(transcript.tail))
    # The recorder cuts anywhere: the lines it cut belong to what is hidden.
    head = leading(head, len(head))
    tail = trailing(tail, len(tail))
    back = fit(tail, tail_share(budget), trailing)
    front = fit(head, budget - len(back.text), leading)
    if len(front.raw) == len(head) and len(back.raw) < len(tail):
        back = fit(tail, budget - len(front.text), trailing)
    return front, back
