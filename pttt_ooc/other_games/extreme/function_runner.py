"""What runs in the process of a stranger's function: ``python function_runner.py IN OUT``.

It is the loop of :mod:`runner`, which is in the same directory, for a file with a function in place of a class.  The
first message also names the function and a seed of random numbers.  Each further one has arguments, and the answer a
whole number.
"""

from __future__ import annotations

import operator
import os
import random
import sys

import runner  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

runner.OURS.append(os.path.abspath(__file__))
runner.OURS.append(__file__)
_MOST = 1 << 31


def load(program: dict[str, Any]) -> Callable[..., Any]:
    """Run the file; returns its function."""
    random.seed(program["seed"])
    module = runner.run_file(program)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(program["seed"] % (1 << 32))
    function: Callable[..., Any] | None = getattr(module, program["function"], None)
    if not callable(function):
        raise ImportError(f"{program['file']} has no function {program['form']}.")
    return function


def play(function: Callable[..., Any], request: dict[str, Any]) -> dict[str, Any]:
    """Call the function; a value that is not a whole number is shown."""
    value = function(*request["arguments"])
    try:
        number = operator.index(value)
    except TypeError:
        number = -_MOST
    if not -_MOST < number < _MOST:
        return {"move": None, "shown": repr(value)[:200]}
    return {"move": number}


def main() -> None:
    """Serve the referee until it closes the stream."""
    incoming, outgoing = int(sys.argv[1]), int(sys.argv[2])
    program = runner.begin(incoming, outgoing)
    try:
        function = load(program)
        runner.send(outgoing, {"ready": True})
    except BaseException:
        runner.send(outgoing, runner.failure())
    while True:
        request = runner.receive(incoming)
        try:
            answer = play(function, request)
        except BaseException:
            answer = runner.failure()
        runner.flush()
        answer["number"] = request["number"]
        runner.send(outgoing, answer)


if __name__ == "__main__":
    main()
