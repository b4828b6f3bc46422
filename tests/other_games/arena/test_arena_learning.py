"""The value-table learner: a plain second implementation, its files, its command, and what it reaches."""

import io
import json

import numpy as np
import pytest

from pttt_ooc.cli import commands
from pttt_ooc.other_games.arena.agents.value_tables import FILES, Rates, Training, ValueTable, better, load_policy
from pttt_ooc.other_games.arena.experiments import trainings
from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, RESULT, SECOND, UNFINISHED, ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels.rng import generator, uniform
from tests.other_games.arena import naive_rows as naive
from tests.other_games.arena.arena_kit import command

START = {FIRST: 1.0, SECOND: 1.0, DRAW: 0.0, UNFINISHED: 0.5}


class Plain:
    """The report's learner, with dictionaries from sets of marks to values."""

    def __init__(self, chosen, rates, seed):
        self.game, self.rates, self.rng = chosen, rates, generator(seed, 0)
        self.tables, self.results = [{}, {}], {FIRST: 0, SECOND: 0, DRAW: 0}

    def value(self, player, marks, result):
        return float(self.tables[player].get(marks, START[result]))

    def iteration(self):
        state, marks, paths = self.game.start(), frozenset(), [[], []]
        while state[RESULT] == UNFINISHED:
            player = int(state[PLAYER])
            legal = self.game.legal(state)
            if uniform(self.rng) < self.rates.explore:
                move = int(self.game.rules.explore(state, self.rng))
            else:
                after = [int(self.game.play(state, each)[RESULT]) for each in legal]
                values = [self.value(player, marks | {(player, m)}, r) for m, r in zip(legal, after, strict=True)]
                move = legal[values.index(max(values))]
            state, marks = self.game.play(state, move), marks | {(player, move)}
            paths[player].append((marks, int(state[RESULT])))
        self.results[int(state[RESULT])] += 1
        for player, path in enumerate(paths):
            target = 1.0 if state[RESULT] == FIRST + player else 0.0
            target = reward = self.rates.draw if state[RESULT] == DRAW else target
            for where, result in reversed(path):
                value = self.value(player, where, result)
                value += self.rates.step * (target - value)
                self.tables[player][where] = np.float32(value)
                target = value if self.rates.chain else reward

    def key(self, marks):
        key = np.int64(0)
        for player, move in marks:
            key ^= self.game.rules.ZOBRIST[player, move]
        return int(key)


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("text", "games", "rates"),
    [
        ("mnk:3x3+need3", 60, Rates()),
        ("mnk:3x3+need3", 40, Rates(explore=0.1, step=0.5, draw=0.5, chain=False)),
        ("infinite:near+need3+limiter1", 30, Rates()),
        ("infinite:growing+need4+limiter2", 12, Rates(explore=0.5)),
    ],
)
def test_tables_are_those_of_a_plain_learner(text, games, rates):
    chosen = game(text)
    plain, training = Plain(chosen, rates, 5), Training(chosen, seed=5)
    with np.errstate(over="ignore"):
        for _ in range(games):
            plain.iteration()
    training.run(games, rates)
    assert training.results[1:].tolist() == list(plain.results.values())
    for player, table in enumerate(training.tables):
        found = table.policy()
        expected = {plain.key(marks): value for marks, value in plain.tables[player].items()}
        assert dict(zip(found.keys.tolist(), found.values.tolist(), strict=True)) == pytest.approx(expected)
        assert table.used == len(expected) and table.iterations == games


def test_tables_grow_without_loss(monkeypatch):
    runs = []
    for bits in (None, 10):
        training = Training(game("mnk:4x4+need3"), seed=1)
        for table in training.tables:
            size = len(table.keys) if bits is None else 1 << bits
            table.keys, table.values = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.float32)
        training.run(3000, Rates())
        order = [np.argsort(table.policy().keys) for table in training.tables]
        runs.append([table.policy().values[way].tolist() for table, way in zip(training.tables, order, strict=True)])
        assert len(training.tables[0].keys) >= 1 << 12
    assert runs[0] == runs[1]


def test_training_goes_on_from_its_files(tmp_path):
    chosen = game("mnk")
    for games in (300, 200):
        training = Training(chosen, tmp_path)
        training.run(games, Rates())
        training.save()
    for player, file in enumerate(FILES):
        policy = load_policy(tmp_path / file, chosen, player)
        assert policy.iterations == 500
        assert np.array_equal(policy.keys, np.sort(training.tables[player].policy().keys))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(FILES)


def change(line, **facts):
    told = json.loads(line)
    return json.dumps(told | facts).encode()


def test_foreign_and_damaged_policies_are_refused(tmp_path):
    chosen, path = game("mnk"), tmp_path / FILES[0]
    training = Training(chosen, tmp_path)
    training.run(50, Rates())
    training.save()
    data = path.read_bytes()
    magic, header, rest = data.split(b"\n", 2)
    entries = json.loads(header)["entries"]
    damaged = np.frombuffer(rest[8 * entries :], dtype="<f4").copy()
    damaged[3] = np.nan
    unsorted = rest[8:16] + rest[:8] + rest[16:]
    for content, part in (
        (b"\x80\x04\x95pickle", "not a policy of this version"),
        (data.replace(b"policy 1", b"policy 2"), "not a policy of this version"),
        (data[:-1], "its size"),
        (data + b"x", "its size"),
        (b"\n".join([magic, change(header, entries=10**12), rest]), "its size"),
        (b"\n".join([magic, change(header, entries=-1), rest]), "number of entries"),
        (b"\n".join([magic, change(header, iterations="many"), rest]), "number of iterations"),
        (b"\n".join([magic, change(header, iterations=True), rest]), "number of iterations"),
        (b"\n".join([magic, b"[" * 3000, rest]), "second line"),
        (b"\n".join([magic, b"[]", rest]), "second line"),
        (b"\n".join([magic, change(header, game="mnk:5x5+need4"), rest]), "is a policy for 'mnk:5x5"),
        (b"\n".join([magic, change(header, player=1), rest]), "the other player"),
        (b"\n".join([magic, change(header, numbers="0"), rest]), "names positions in another way"),
        (b"\n".join([magic, header, rest[: 8 * entries] + damaged.tobytes()]), "not between 0 and 1"),
        (b"\n".join([magic, header, unsorted]), "not in order"),
    ):
        path.write_bytes(content)
        with pytest.raises(ArenaError, match=part):
            load_policy(path, chosen, 0)
    damaged[3:5] = 0, 1
    path.write_bytes(b"\n".join([magic, header, rest[: 8 * entries] + damaged.tobytes()]))
    assert load_policy(path, chosen, 0).values[3:5].tolist() == [0, 1], "values that are allowed"
    path.write_bytes(data)
    assert len(load_policy(path, chosen, 0).keys) == entries
    (tmp_path / FILES[1]).unlink()
    with pytest.raises(ArenaError, match="not of the same training"):
        Training(chosen, tmp_path)


def losses(chosen, bot, player):
    """In how many games the bot loses, over all that the opponent may do; the plain rules decide."""

    def walk(position):
        if position.outcome:
            return int(position.outcome == "ox"[player])
        if len(position.marks) % 2 == player:
            state = chosen.after(row * 3 + column for row, column in position.marks)
            moves = [divmod(bot.choose(state), 3)]
        else:
            moves = position.moves()
        return sum(walk(position.after(move)) for move in moves)

    return walk(naive.Position(3, naive.board(3, 3)))


def test_a_table_that_learns_draws_as_halves_never_loses():
    """Against everything that an opponent can do, so against a perfect one too; untrained it does lose."""
    chosen = game("mnk")
    training, bot = Training(chosen, seed=1), ValueTable()
    bot.take(chosen, training.tables)
    lost = [losses(chosen, bot, player) for player in (0, 1)]
    assert min(lost) > 0 and trainings.lost_games(chosen, training.tables) == lost
    training.run(1000, Rates())
    assert trainings.lost_games(chosen, training.tables) == [losses(chosen, bot, player) for player in (0, 1)] != lost
    for explore in (0.5, 0.3, 0.1, 0.05):
        training.run(60_000, Rates(explore=explore, draw=0.5, shuffle=True))
    assert losses(chosen, bot, 0) == losses(chosen, bot, 1) == 0


@pytest.mark.slow
def test_the_command_counts_draws_in_both_ways(tmp_path, capsys):
    told = json.loads(command(capsys, "train", "-i", 2000, "-b", 3, "-n", 3, "--policies", tmp_path, "--json"))
    first, second, draws = told["first_wins"], told["second_wins"], told["draws"]
    assert first + second + draws == told["games"] == 2000 and draws > 0
    assert told["first_with_draws"] == (first + draws) / 2000
    assert told["first_without_draws"] == first / (first + second)
    assert told["better"] == 1
    assert (tmp_path / "mnk-3x3+need3" / FILES[1]).exists()
    told = command(capsys, "train", "-i", 10, "--form", "smart", "--policies", tmp_path, "--no-play")
    assert "Draws counted for player 1" in told
    assert (tmp_path / "infinite-near+need3+limiter2" / FILES[0]).exists()


def test_the_defaults_are_the_reports(tmp_path, monkeypatch):
    """`game.py -i 100000 -t y -s 2 -b 3 -n 3`, explore rate 0.3, step size 0.1, and 0.1 for a draw."""
    monkeypatch.chdir(tmp_path)
    ran = []
    monkeypatch.setattr(Training, "run", lambda training, *settings: ran.append((training.game.text, *settings)))
    monkeypatch.setattr(Training, "save", lambda training: pytest.exit("end"))
    with pytest.raises(pytest.exit.Exception):
        commands.main(["arena", "train"])
    assert ran == [("mnk:3x3+need3", 100_000, Rates(explore=0.3, step=0.1, draw=0.1))]


def test_the_better_bot_is_the_reports():
    assert better(np.array([0, 4, 6, 3])) == 0 and better(np.array([0, 4, 8, 3])) == 1


def test_bad_input_of_the_command_is_a_sentence(tmp_path, capsys):
    for arguments, part in (
        (["-t", "n", "--policies", tmp_path], "has no first.policy"),
        (["-b", "12", "--policies", tmp_path], "12 x 12 squares is not possible"),
        (["-b", "3", "-n", "4", "--policies", tmp_path], "4 in a row is not possible"),
    ):
        assert part in command(capsys, "train", *arguments, code=1)
    assert not any(tmp_path.iterdir())


def test_one_trains_and_then_plays(tmp_path, capsys, monkeypatch):
    """The person is player 2 after a training of the first bot; a bad move is told and asked for again."""
    moves = "".join(f"{x} {y}\n" for x in (1, 2, 3) for y in (1, 2, 3))
    monkeypatch.setattr("sys.stdin", io.StringIO("z9\n" + moves))
    shown = command(capsys, "train", "-i", 3000, "--policies", tmp_path)
    assert "The better bot is player 1." in shown and "The agent plays" in shown and "'z9' is not" in shown
    assert any(end in shown for end in ("It is a draw.", "You have won.", "The agent has won."))
