"""What stands in a web process for an object in the process of an answerer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.wire import Client, RefusedError


class StandIn:
    """Has the methods of an object that an answerer answers with, see :func:`pttt_ooc.site.service.answerer.methods`.

    Arguments and results are JSON values; methods are called from threads of an asynchronous application.

    Parameters
    ----------
    refused
        The error that a method raises with the sentence of the answerer's PtttError.
    """

    def __init__(self, client: Client, refused: type[PtttError]) -> None:
        self._client, self._refused = client, refused

    async def ask(self, name: str, *arguments: Any, **named: Any) -> Any:
        """What a method returns, asked by a coroutine: a ``Later`` holds no thread."""
        try:
            return (await self._client.ask(name, arguments=arguments, named=named))["result"]
        except RefusedError as error:
            raise self._refused(str(error)) from error

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*arguments: Any, **named: Any) -> Any:
            try:
                return self._client.ask_from_thread(name, arguments=arguments, named=named)["result"]
            except RefusedError as error:
                raise self._refused(str(error)) from error

        return ask
