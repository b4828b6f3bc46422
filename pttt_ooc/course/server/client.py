"""What students ask of a course's server: ``pttt submit``, and a team's ``pttt course pick``.  They need no extras."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlsplit

import typer

from pttt_ooc.disk.numbers import exploitability, scale
from pttt_ooc.errors import CourseError, StrategyError
from pttt_ooc.options import JsonOption

if TYPE_CHECKING:  # every start of `pttt` imports this module, and few ask a server
    from http.client import HTTPConnection

_PIECE = 1 << 16  # bytes read at once
_ANSWER_SECONDS = 120.0  # for an answer
_ASK_SECONDS = 1.0  # between two questions
_MOST_UNANSWERED = 12  # questions in a row that the server may leave unanswered, for example while it restarts

ServerOption = Annotated[str, typer.Option(metavar="URL", envvar="PTTT_SERVER", help="The course.")]
TokenOption = Annotated[
    str | None,
    typer.Option(metavar="TOKEN", envvar="PTTT_TOKEN", help="Your team's; better in the environment than here."),
]


def add_commands(app: typer.Typer) -> None:
    """Give the commands to the command line."""
    app.command(epilog="Example: PTTT_TOKEN=... pttt submit pttt_pl0.zip --player 0 --server https://course.example")(
        submit
    )


def submit(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE [FILE]", help="A zip with one .npy file; or player 0's and player 1's."),
    ],
    server: ServerOption,
    token: TokenOption = None,
    player: Annotated[int | None, typer.Option(min=0, max=1, help="Player of a single file: 0 or 1.")] = None,
    wait: Annotated[bool, typer.Option(help="Whether to wait for the verdict.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Submit a strategy to a course, or one for each player.

    A page shows both players' strategies together.

    The exit code is 0 if it was accepted (or, with --no-wait, received), and 1 if it was refused or rejected.
    """
    if not send_files(files, player, server, token, wait, as_json):
        raise typer.Exit(1)


class _Server:
    def __init__(self, url: str, token: str) -> None:
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # half a bracket, or an invalid port
            good = False
        if not good or not url.isprintable() or " " in url:
            raise CourseError(f"{url!r} is not the address of a course; an example is https://course.example:8080.")
        self.url, self._parts, self._token = url, parts, token

    def _connection(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection

        host = self._parts.hostname or ""
        if self._parts.scheme == "https":
            from ssl import create_default_context

            context = create_default_context()
            return HTTPSConnection(host, self._parts.port, timeout=_ANSWER_SECONDS, context=context)
        return HTTPConnection(host, self._parts.port, timeout=_ANSWER_SECONDS)

    def ask(
        self, method: str, path: str, body: Iterator[bytes] | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and JSON of an answer; OSError if there is none, or it is not HTTP."""
        from http.client import HTTPException

        with closing(self._connection()) as connection:
            wanted = {"Authorization": f"Bearer {self._token}", "Accept": "application/json", **(headers or {})}
            broken: OSError | None = None
            try:
                connection.request(method, self._parts.path.rstrip("/") + path, body, wanted)
            except (BrokenPipeError, ConnectionResetError) as error:
                broken = error  # a refusal may have come before the end of the file
            try:
                response = connection.getresponse()
                data = response.read(1 << 20)
            except OSError as error:
                raise broken or error from None
            except HTTPException as error:
                raise broken or ConnectionError(str(error) or type(error).__name__) from None
        try:
            return response.status, json.loads(data)
        except ValueError:
            raise CourseError(f"{self.url} answers, but is not a course (status {response.status}).") from None


def _server(url: str, token: str | None) -> _Server:
    if not token:
        raise CourseError("Your team's token is missing: set PTTT_TOKEN, or give --token.")
    if not token.isascii() or not token.isprintable():
        raise CourseError("This token has characters that tokens never have; copy it again.")
    return _Server(url, token.strip())


def send_pick(assignment: str, number: int | None, url: str, token: str | None, as_json: bool) -> None:
    """Choose what counts for an assignment, and print what counts now.

    Parameters
    ----------
    number
        The submission's number; None: the last ones count.

    Raises
    ------
    CourseError
        If there is no token, or the server refuses it or cannot be reached.
    """
    server = _server(url, token)
    body = json.dumps({"submission": number}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    with _catch_unreachable(server):
        status, answer = server.ask("POST", f"/api/course/picks/{quote(assignment, safe='')}", iter([body]), headers)
    if status != 200:
        raise CourseError(str(answer.get("error", f"The course refuses it (status {status}).")))
    found = next(one for one in answer["assignments"] if one["name"] == assignment)
    if as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        counts = ", ".join(f"{part}: {number}" for part, number in found["grade"]["submissions"].items())
        print(f"What counts now: {counts or 'nothing'}.")


def send_files(
    files: list[Path], player: int | None, url: str, token: str | None, wait: bool, as_json: bool = False
) -> bool:
    """Upload one file, or one for each player, and wait for the verdicts, if asked; returns whether all were accepted.

    Parameters
    ----------
    files
        One file, or player 0's and player 1's.
    player
        The player of a single file.

    Raises
    ------
    CourseError
        If there is no token or file, or the server refuses it or cannot be reached.
    StrategyFileError, StrategyError
        If a file's header shows no strategy of the player in the course's game; then nothing is sent.
    """
    server = _server(url, token)
    if len(files) > 2 or (len(files) == 2) == (player is not None):
        raise CourseError("Give one file and its --player, or player 0's file and player 1's without --player.")
    # All files are checked before the first is sent: what the course rejects would count as an attempt.
    players = (0, 1) if player is None else (player,)
    for file, of in zip(files, players, strict=True):
        if not file.is_file():
            raise CourseError(f"{file}: There is no such file.")
        if not file.stat().st_size:
            raise CourseError(f"{file}: The file is empty.")
        _check_fits(file, of, server)
    # Both uploads come before any waiting, so that the course can judge one after the other; two files are a pair, too.
    tell = _silent if as_json else _say
    found = []
    for file, of in zip(files, players, strict=True):
        answer = _upload(server, file, of)
        found.append(answer["submission"])
        page = f"{url.rstrip('/')}{answer['submission']['url']}"
        tell(f"{'Submitted before' if answer['duplicate'] else 'Received'}: {page}")
    pair = _pair(server, found, tell, url) if len(found) == 2 else None
    # If asked to wait: the verdicts and the pair's value replace the answers to the uploads.
    if wait:
        found = [_verdict(server, submission, tell) for submission in found]
        pair = _pair_verdict(server, pair, tell) if pair else None
    if as_json:
        print(json.dumps({"submissions": found, "pair": pair}, ensure_ascii=False, indent=2))
    return not wait or all(submission["status"] == "Accepted" for submission in found)


def _say(text: str) -> None:
    print(text, flush=True)


def _silent(text: str) -> None:
    """Tell nothing: the answer is JSON."""


def _pair(server: _Server, found: list[dict[str, Any]], tell: Callable[[str], None], url: str) -> dict[str, Any] | None:
    """Both submissions together; None if the course refuses the pair."""
    body = json.dumps({"first": found[0]["id"], "second": found[1]["id"]}).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    with _catch_unreachable(server):
        status, answer = server.ask("POST", "/api/course/pairs", iter([body]), headers)
    if status != 200:
        return None
    tell(f"Both together: {url.rstrip('/')}{answer['url']}")
    return dict(answer)


def _pair_verdict(server: _Server, pair: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """Wait until a pair's value is known, or never will be."""
    silent = 0
    while not pair["over"] and silent <= _MOST_UNANSWERED:
        time.sleep(_ASK_SECONDS)
        try:
            status, answer = server.ask("GET", f"/api/course/pairs/{pair['id']}")
            pair, silent = (answer, 0) if status == 200 else (pair, silent + 1)
        except OSError:
            silent += 1
    if pair["nashconv"] is not None and pair["value"] is not None:
        tell(f"Both together: NashConv {exploitability(pair['nashconv'], 7)}, own value {pair['value']:.7f}")
    return pair


def _check_fits(file: Path, player: int, server: _Server) -> None:
    """Refuse a file that is not a zipped tensor of the player in this game; sent, it would count as an attempt."""
    from pttt_ooc.pipeline.files.tensor_reader import tensor_header
    from pttt_ooc.pipeline.files.zipped_array import other_player

    with _catch_unreachable(server):
        status, facts = server.ask("GET", "/api")
    if status != 200 or not isinstance(facts, dict) or not {"game", "shapes", "max_upload_bytes"} <= facts.keys():
        raise CourseError(f"{server.url} answers, but is not a course (status {status}).")
    if file.suffix.lower() != ".zip":
        raise CourseError(f"{file}: A submission is a .zip with one .npy file.")
    if file.stat().st_size > facts["max_upload_bytes"]:
        raise CourseError(
            f"{file}: The file is larger than {facts['max_upload_bytes']:,} bytes, the limit of this course."
        )
    found, shapes = tensor_header(file)[0], [tuple(shape) for shape in facts["shapes"]]
    if found != shapes[player]:
        hint = f" {other_player(player)}" if found == shapes[1 - player] else ""
        expected = f"expected {shapes[player]} for player {player} in {facts['game']}"
        raise StrategyError(f"{file}: Invalid tensor shape: found {found}, {expected}.{hint} Nothing was sent.")


@contextmanager
def _catch_unreachable(server: _Server) -> Iterator[None]:
    """Raise a CourseError if the server cannot be reached in the block."""
    try:
        yield
    except OSError as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise CourseError(f"{server.url} cannot be reached: {reason}. Nothing is lost; try again.") from error


def _upload(server: _Server, file: Path, player: int) -> dict[str, Any]:
    from secrets import token_hex

    boundary = token_hex(16)
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="player"\r\n\r\n{player}\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="strategy.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    ).encode()
    tail = f"\r\n--{boundary}--\r\n".encode()
    size = file.stat().st_size
    headers = {
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Content-Length": str(len(head) + size + len(tail)),
    }
    with _catch_unreachable(server):
        status, answer = server.ask("POST", "/api/submissions", _pieces(file, size, head, tail), headers)
    if status not in (200, 201):
        raise CourseError(str(answer.get("error", f"The course refuses it (status {status}).")))
    return dict(answer)


def _pieces(file: Path, size: int, head: bytes, tail: bytes) -> Iterator[bytes]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    yield head
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar, open(file, "rb") as f:
        task = bar.add_task("", total=size)
        while data := f.read(_PIECE):
            yield data
            bar.advance(task, len(data))
    yield tail


def _verdict(server: _Server, submission: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    last, silent = "", 0
    while True:
        state = _state(submission)
        if state != last:
            tell(state)
            last = state
        if submission["status"] == "Accepted":
            tell(scale(submission["exploitability"], submission.get("uniform")))
        if submission["status"] in ("Accepted", "Rejected"):
            return submission
        time.sleep(_ASK_SECONDS)
        try:
            status, answer = server.ask("GET", f"/api/submissions/{submission['id']}")
            if status == 404:
                raise CourseError(str(answer["error"]))
            submission, silent = (answer, 0) if status == 200 else (submission, silent + 1)
        except OSError:
            silent += 1
        if silent > _MOST_UNANSWERED:
            raise CourseError(f"{server.url} does not answer any more; the submission is safe there.")


_JUDGING = {
    "Validating": "Being judged: the file is read",
    "Evaluating": "Being judged: the best response is computed",
}


def _state(submission: dict[str, Any]) -> str:
    status = str(submission["status"])
    if status == "Queued":
        return submission.get("waits_for") or f"Queued, number {submission['position']}"
    if status in _JUDGING:
        return _JUDGING[status]
    if status == "Accepted":
        told = [f"Accepted: exploitability {exploitability(submission['exploitability'], 7)}"]
        if submission["best"]:
            told.append(f"Your team's best{_rank_text(submission)}")
        if submission.get("ahead") is not None:
            told.append(f"Next: {submission['ahead_team']}, with {exploitability(submission['ahead'], 7)}")
        return ". ".join([*told, submission["detail"]] if submission["detail"] else told)
    if status == "Rejected":
        return f"Rejected: {submission['note']}" + (f" ({submission['detail']})" if submission["detail"] else "")
    return status


def _rank_text(submission: dict[str, Any]) -> str:
    """The rank, and the change since the team's best before; empty if it is not the best."""
    rank, before, former = (submission[name] for name in ("rank", "before", "rank_before"))
    if rank is None:
        return ""
    told = f", rank {rank} of {submission['ranks']}"
    if before is None or former is None:
        return told
    better = exploitability(before - submission["exploitability"], 7)
    return f"{told}{f' (before: {former})' if former != rank else ''}, better by {better}"
