"""A small program that plays Ultimate tic-tac-toe by lines, written from the rules: python line_engine.py MODE.

It plays the first legal move of the highest board.  A mode is a protocol, or a fault of a program.
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", ".."))

from tests.other_games.arena.naive_ultimate import ROWS


def won(marks):
    return any(marks[a] == marks[b] == marks[c] != "." for a, b, c in ROWS)


def move_in(cells, target):
    boards = [cells[9 * b : 9 * b + 9] for b in range(9)]
    if target == "-":
        playable = [b for b in range(9) if "." in boards[b] and not won(boards[b])]
    else:
        playable = [int(target)]
    board = max(playable)
    return board, boards[board].index(".")


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def misbehave(mode, count):
    """What a program of this mode does at its third move."""
    if count < 3:
        return None
    if mode == "dies":
        os.write(2, b"thinking\n" * 20_000 + b"no memory is left\n\n")
        os._exit(1)
    if mode == "hangs":
        while True:
            os.read(0, 1)  # it reads on, and says nothing
    if mode == "endless":
        os.write(1, b"m" * 100_000)
    return {"illegal": "move 9 9", "taken": "move TAKEN", "nonsense": "I resign"}.get(mode)


def lines(mode):
    count = 0
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "seed":
            count = 0
            if mode == "never":
                os._exit(1)
        if word == "position":
            cells, target, mover = rest
        if word == "go":
            count += 1
            board, cell = move_in(cells, target)
            answer = misbehave(mode, count) or f"move {board} {cell}"
            taken = next(n for n in range(81) if cells[n] != "." or count < 3)
            if mode == "burns":
                burn(0.02)
            if mode == "burns-in-children":
                if os.fork() == 0:
                    burn(0.03)
                    os._exit(0)
                os.wait()
            print(answer.replace("TAKEN", f"{taken // 9} {taken % 9}"), flush=True)


def uci():
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "uci":
            print("id name line_engine\nuciok", flush=True)
        if word == "isready":
            print("readyok", flush=True)
        if word == "position":
            assert rest[0] == "fen"
            cells, target = rest[1], rest[2]
        if word == "go":
            assert rest[0] == "movetime" and int(rest[1]) > 0
            board, cell = move_in(cells, target)
            print(f"info depth 1\nbestmove {board}.{cell} ponder 0.0", flush=True)


def codingame():
    """Keeps the marks of both, and plays the last move of the list, if it agrees that it is legal."""
    marks, turn = {}, 0
    while line := sys.stdin.readline():
        row, column = map(int, line.split())
        assert (row, column) != (-1, -1) or turn == 0
        if row >= 0:
            assert (row, column) not in marks
            marks[row, column] = "them"
        legal = [tuple(map(int, sys.stdin.readline().split())) for _ in range(int(sys.stdin.readline()))]
        assert legal and not set(legal) & set(marks)
        if row >= 0 and len({(r // 3, c // 3) for r, c in legal}) == 1 and turn == 0:
            assert all((r // 3, c // 3) == (row % 3, column % 3) for r, c in legal)
        turn += 1
        marks[legal[-1]] = "me"
        print(*legal[-1], *sys.argv[2:], flush=True)


def deaf():
    """Answers without reading anything."""
    while True:
        os.write(1, b"move 0 0\n" * 1000)


def chatty():
    """Never comes to the point, and never is silent."""
    while True:
        print("info depth 1", flush=True)
        time.sleep(0.01)


if __name__ == "__main__":
    {"uci": uci, "codingame": codingame, "deaf": deaf, "chatty": chatty}.get(sys.argv[1], lambda: lines(sys.argv[1]))()
