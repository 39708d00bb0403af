"""A model's address on this machine, for clients that want one."""

import json
import socket
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from mcp_clients.model import Model
from mcp_clients.wires import COMPLETIONS, MESSAGES, RESPONSES, Json, Wire

__all__ = ("Endpoint", "open_endpoint")

_WIRES: Mapping[str, Wire] = {
    "messages": MESSAGES,
    "responses": RESPONSES,
    "chat/completions": COMPLETIONS,
}


class Endpoint:
    """Answers for models, each under a name of its own in the address."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._models: dict[str, Model] = {}

    def add(self, name: str, model: Model) -> str:
        """Have a model answer; the address of its interfaces, without `/v1`."""
        self._models[name] = model
        return f"{self._url}/{name}"

    async def answer(self, request: Request) -> Response:
        """Take one turn of a model."""
        model = self._models.get(request.path_params["model"])
        wire = _WIRES.get(request.path_params["interface"])
        if model is None or wire is None:
            return Response("there is no such model", status_code=404)
        body = await request.json()
        call = model.turn(wire.tools(body), wire.results(body))
        return StreamingResponse(_lines(wire.events(body, call)), media_type="text/event-stream")


@contextmanager
def open_endpoint() -> Generator[Endpoint]:
    """Listen on loopback for the length of a block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}")
        route = Route("/{model}/v1/{interface:path}", endpoint.answer, methods=["POST"])
        config = uvicorn.Config(Starlette(routes=[route]), log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield endpoint
        finally:
            server.should_exit = True
            thread.join()


def _lines(events: Iterator[tuple[str | None, Json | str]]) -> Iterator[str]:
    for name, data in events:
        text = data if isinstance(data, str) else json.dumps(data)
        yield f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"
