"""A page of text with a cursor, as long as it needs to be.

Every operation costs what it writes or erases, and no more, so that drawing is
linear in what was drawn, however often it was drawn over.
"""

__all__ = ("Screen",)

# Where a terminal would have its right margin. A cursor sent beyond the text
# stops here, so that a few bytes cannot ask for a gigabyte of spaces.
_MARGIN = 200


class Screen:
    """Text drawn and drawn over; one character takes one column.

    There is no right margin to wrap at and no top to scroll out of: what was
    written stays until it is overwritten or erased.
    """

    def __init__(self) -> None:
        # A row is a string until someone edits it, and cells from then on.
        self._rows: list[str | list[str]] = [""]
        self._row = 0
        self._column = 0
        self._saved = (0, 0)

    def text(self) -> str:
        """Everything on the page. Edited rows end in no blanks, like a screen's."""
        return "\n".join(
            row if isinstance(row, str) else "".join(row).rstrip(" ") for row in self._rows
        )

    def write(self, text: str) -> None:
        """Put text over what the cursor is on, and the cursor behind it."""
        first, newline, rest = text.partition("\n")
        self._put(first)
        if not newline:
            return
        for line in rest.split("\n"):
            self.down(1)
            self._column = 0
            self._put(line)

    def up(self, count: int) -> None:
        """Go up, at most to the first row."""
        self._row = max(0, self._row - count)

    def down(self, count: int) -> None:
        """Go down, at most to one new row: more would only be blank lines."""
        self._row = min(self._row + count, len(self._rows))
        if self._row == len(self._rows):
            self._rows.append("")

    def left(self, count: int) -> None:
        """Go left, at most to the first column."""
        self._column = max(0, self._column - count)

    def right(self, count: int) -> None:
        """Go right, at most to the end of the row or to the margin."""
        self.to_column(self._column + count)

    def to_column(self, column: int) -> None:
        """Go to a column, counted from 0."""
        self._column = min(column, self._furthest())

    def to_new_row(self) -> None:
        """Go to the start of an empty row below everything."""
        self._row = len(self._rows) - 1
        self._column = 0
        if self._rows[-1]:
            self.down(1)

    def save(self) -> None:
        """Remember where the cursor is."""
        self._saved = (self._row, self._column)

    def restore(self) -> None:
        """Go back to where the cursor was saved."""
        row, self._column = self._saved
        self._row = min(row, len(self._rows) - 1)

    def erase_right(self) -> None:
        """Erase the row from the cursor on."""
        if self._column < len(self._rows[self._row]):
            del self._cells()[self._column :]

    def erase_left(self) -> None:
        """Erase the row up to the cursor, if that is all of it.

        In the middle of a row nothing is erased: it is rarely asked for, and
        would cost the length of the row each time.
        """
        if self._column >= len(self._rows[self._row]) - 1:
            self.erase_row()

    def erase_row(self) -> None:
        """Erase the whole row; the cursor stays."""
        self._rows[self._row] = ""

    def erase_below(self) -> None:
        """Erase from the cursor to the end of the page."""
        self.erase_right()
        del self._rows[self._row + 1 :]

    def _put(self, text: str) -> None:
        if not text:
            return
        # What stood here may have been erased since the cursor came.
        column = min(self._column, self._furthest())
        self._column = column + len(text)
        if not self._rows[self._row]:
            self._rows[self._row] = " " * column + text
            return
        cells = self._cells()
        if column > len(cells):
            cells.extend(" " * (column - len(cells)))
        cells[column : self._column] = text

    def _cells(self) -> list[str]:
        row = self._rows[self._row]
        if isinstance(row, str):
            row = list(row)
            self._rows[self._row] = row
        return row

    def _furthest(self) -> int:
        return max(len(self._rows[self._row]), _MARGIN)
