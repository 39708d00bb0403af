"""What the Docker SDK raises."""

class DockerException(Exception): ...  # noqa: N818

class APIError(DockerException):
    explanation: str | None
    @property
    def status_code(self) -> int | None: ...

class NotFound(APIError): ...  # noqa: N818
class ImageNotFound(NotFound): ...
