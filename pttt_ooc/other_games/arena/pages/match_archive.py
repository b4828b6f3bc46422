"""Matches on disk, for pages: the results of ``pttt arena match`` in a directory and its folders."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches import log
from pttt_ooc.other_games.arena.matches.referee import DRAW
from pttt_ooc.other_games.arena.matches.settings import STANDINGS

DEEPEST = 4
"""Maximum levels of folders."""

MOST = 300
"""Maximum number of matches in a list."""

LARGEST = 1 << 26
"""Maximum bytes of a match's log."""

LIVE_SECONDS = 600.0
"""Seconds after its last game for which an unfinished match counts as being played."""

_MATCH = "match.json"
_ROW = ("agent", "points", "error", "score", "games", "against")


class MatchArchive:
    """The matches below a directory.

    Parameters
    ----------
    directory
        The directory; nothing outside of it is read.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._results: dict[Path, tuple[int, list[int]]] = {}

    def matches(self) -> list[dict[str, Any]]:
        """Name, game, agents, number of games and results of each match, by name; at most :data:`MOST`.

        ``result`` is how many games the first agent won, drew and lost; ``live``: whether more games are expected.
        """
        found = []
        for name, place in islice(self._iter_matches(), MOST):
            settings, result = self._settings(place), self._result(place)
            live = self._live(place, sum(result), settings["games"])
            found.append({"name": name, **settings, "result": result, "live": live})
        return found

    def _live(self, place: Path, played: int, games: int) -> bool:
        """Whether a match is unfinished, and had its last game a short while ago."""
        file = place / log.GAMES
        changed = (file if file.exists() else place / _MATCH).stat().st_mtime
        return played < games and time.time() - changed < LIVE_SECONDS

    def match(self, name: str, start: int, rows: int) -> dict[str, Any]:
        """A match, its score, and `rows` of its games from number `start`.

        Raises
        ------
        ArenaError
            If there is no such match, or it is damaged; also in :meth:`replay`.
        """
        from pttt_ooc.other_games.arena.matches.statistics import rate_of  # it needs an extra

        place = self._place(name)
        settings, games = self._settings(place), self._games(place)
        listed = [
            {key: row[key] for key in ("number", "starter", "winner")}
            | {"plies": len(row["moves"]), "forfeit": row.get("forfeit", "")}
            for row in games[start : start + rows]
        ]
        standing = rate_of(games).to_json() if games else None
        facts = {"played": len(games), "live": self._live(place, len(games), settings["games"])}
        return {"name": name, **settings, **facts, "start": start, "rows": listed, "standing": standing}

    def replay(self, name: str, number: int, ply: int) -> dict[str, Any]:
        """A position of a game, and all its moves.

        Raises
        ------
        ArenaError
            There is no such game, or its moves are impossible.
        """
        place = self._place(name)
        settings, games = self._settings(place), self._games(place)
        row = next((row for row in games if row["number"] == number), None)
        if row is None:
            raise ArenaError(f"The match {name} has no game {number}.")
        rules = game(settings["game"])
        states = list(log.replay(settings["game"], row))
        if ply > len(row["moves"]):
            raise ArenaError(f"Game {number} has {len(row['moves'])} moves; move {ply} is not one of them.")
        movers = [int(state[PLAYER]) for state in states]
        latest = int(row["moves"][ply - 1]) if ply else None
        numbers = [one["number"] for one in games]
        at = numbers.index(number)
        return {
            "name": name,
            **settings,
            "number": number,
            "before": numbers[at - 1] if at else None,
            "after": numbers[at + 1] if at + 1 < len(numbers) else None,
            "starter": row["starter"],
            "winner": None if row["winner"] == DRAW else row["winner"],
            "forfeit": row.get("forfeit", ""),
            "ply": ply,
            "over": ply == len(row["moves"]),
            "mover": movers[ply],
            "boards": [asdict(board) for board in rules.draw(states[ply], latest)],
            "moves": [
                {"player": mover, "agent": row["starter"] ^ mover, "text": rules.tell_move(int(move)), "seconds": took}
                for mover, move, took in zip(movers, row["moves"], self._seconds(place, row), strict=False)
            ],
        }

    def standings(self) -> list[dict[str, Any]]:
        """The round robins of :mod:`pttt_ooc.other_games.arena.experiments.round_robin` below the directory."""
        found: list[dict[str, Any]] = []
        for folder in self._folders():
            file = folder / STANDINGS
            if file.is_file() and file.stat().st_size <= LARGEST and len(found) < MOST:
                try:
                    record = json.loads(file.read_text(encoding="utf-8"))
                    rows = [{key: row[key] for key in _ROW} for row in record["standings"]]
                    found.append(
                        {"place": folder.relative_to(self._directory).as_posix(), "rows": rows}
                        | {key: record[key] for key in ("name", "game", "games", "note")}
                    )
                except (ValueError, KeyError, TypeError):
                    raise ArenaError(
                        f"{self._public_name(file)} is damaged; pttt lab experiment writes it anew."
                    ) from None
        return found

    def _seconds(self, place: Path, row: dict[str, Any]) -> list[float | None]:
        """The wall-clock time of each move of a game, where it is known."""
        took = next((one for one in self._lines(place / log.EFFORT) if one["number"] == row["number"]), None)
        wall: list[float | None] = [None] * len(row["moves"])
        return wall if took is None or len(took["wall"]) != len(wall) else took["wall"]

    def _folders(self) -> Iterator[Path]:
        """The directory and its folders; links are not followed."""
        for folder, below, _ in os.walk(self._directory):
            place = Path(folder)
            below[:] = sorted(below) if len(place.relative_to(self._directory).parts) < DEEPEST else []
            yield place

    def _iter_matches(self) -> Iterator[tuple[str, Path]]:
        """Names and directories of matches."""
        for place in self._folders():
            if (place / _MATCH).is_file():
                yield place.relative_to(self._directory).as_posix(), place

    def _place(self, name: str) -> Path:
        for known, place in self._iter_matches():  # so that a name cannot lead elsewhere
            if known == name:
                return place
        raise ArenaError(f"There is no match '{name[:100]}' here.")

    def _settings(self, place: Path) -> dict[str, Any]:
        try:
            settings = json.loads((place / _MATCH).read_text(encoding="utf-8"))
            one, other = settings["agents"]
            return {"game": str(settings["game"]), "agents": [str(one), str(other)], "games": int(settings["games"])}
        except (OSError, ValueError, KeyError, TypeError):
            raise ArenaError(f"{self._public_name(place / _MATCH)} is damaged; the match cannot be shown.") from None

    def _result(self, place: Path) -> list[int]:
        """How many games the first agent won, drew and lost; they are counted again when the file has changed."""
        file = place / log.GAMES
        changed = file.stat().st_mtime_ns if file.exists() else 0
        known = self._results.get(place)
        if known is None or known[0] != changed:
            winners = [int(row["winner"]) for row in self._games(place)]
            known = (changed, [winners.count(0), winners.count(DRAW), winners.count(1)])
            self._results[place] = known
        return known[1]

    def _games(self, place: Path) -> list[dict[str, Any]]:
        rows = self._lines(place / log.GAMES)
        try:
            return sorted(rows, key=lambda row: int(row["number"]))
        except (KeyError, TypeError, ValueError):
            raise ArenaError(f"{self._public_name(place / log.GAMES)} has a line that is no game.") from None

    def _public_name(self, file: Path) -> str:
        """A file's name on pages, which do not show the server's directories."""
        return file.relative_to(self._directory).as_posix()

    def _lines(self, file: Path) -> list[dict[str, Any]]:
        if file.exists() and file.stat().st_size > LARGEST:
            raise ArenaError(
                f"{self._public_name(file)} is larger than {LARGEST >> 20} MB; replay its games on the terminal."
            )
        return log.read_lines(file)
