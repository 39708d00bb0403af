"""How the Docker SDK is told of certificates."""

class TLSConfig:
    def __init__(
        self,
        client_cert: tuple[str, str] | None = None,
        ca_cert: str | None = None,
        verify: bool | None = None,
    ) -> None: ...
