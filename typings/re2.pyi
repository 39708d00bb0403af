"""The part of google-re2 that nacre uses; the package ships no types."""

class error(Exception): ...  # noqa: N801, N818

class Options:
    log_errors: bool
    max_mem: int

class _Regexp:
    def search(self, text: bytes) -> object | None: ...

def compile(pattern: bytes, options: Options | None = None) -> _Regexp: ...  # noqa: A001
