from nacre.render.screen import Screen


def test_text_is_put_over_what_was_there() -> None:
    screen = Screen()
    screen.write("one\nlonger line\n")
    screen.up(1)
    screen.write("LONG")
    assert screen.text() == "one\nLONGer line\n"


def test_an_edited_row_ends_in_no_blanks() -> None:
    screen = Screen()
    screen.write("kept  \nwiped")
    screen.to_column(0)
    screen.write("x    ")
    assert screen.text() == "kept  \nx"


def test_the_cursor_stays_on_the_page() -> None:
    screen = Screen()
    screen.up(9)
    screen.left(9)
    screen.write("a")
    screen.down(9)
    screen.write("b")
    assert screen.text() == "a\n b"


def test_a_saved_place_that_was_erased_becomes_the_last_row() -> None:
    screen = Screen()
    screen.write("one\ntwo")
    screen.save()
    screen.up(1)
    screen.erase_below()
    screen.restore()
    screen.write("!")
    assert screen.text() == "one!"


def test_erasing_to_the_left_in_the_middle_of_a_row_erases_nothing() -> None:
    screen = Screen()
    screen.write("abc")
    screen.left(2)
    screen.erase_left()
    assert screen.text() == "abc"
