from nacre.model.confinement import Environment
from nacre.process.environ import environ_of

HOST = {"PATH": "/bin", "HOME": "/home/a", "LC_ALL": "C", "API_KEY": "s3cret", "EDITOR": "vi"}


def test_an_environment_is_built_from_nothing() -> None:
    assert environ_of(Environment(), HOST) == {
        "PATH": "/bin",
        "HOME": "/home/a",
        "LC_ALL": "C",
        "LANG": "C.UTF-8",
    }


def test_names_can_be_passed_and_values_fixed() -> None:
    environment = Environment(passed=("EDITOR",), fixed={"TERM": "dumb", "HOME": "/"})
    assert environ_of(environment, HOST) == {
        "PATH": "/bin",
        "HOME": "/",
        "LC_ALL": "C",
        "LANG": "C.UTF-8",
        "EDITOR": "vi",
        "TERM": "dumb",
    }


def test_an_inherited_environment_is_the_hosts() -> None:
    assert environ_of(Environment(inherit=True, fixed={"A": "1"}), HOST) == {**HOST, "A": "1"}


def test_there_is_always_a_path() -> None:
    assert environ_of(Environment(), {})["PATH"] == "/usr/local/bin:/usr/bin:/bin"
