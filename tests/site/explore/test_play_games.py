"""Games against strategies: storage, refusals, and views."""

import os
import random
import stat
import threading

import pytest

from pttt_ooc.errors import PlayError, StoreError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.play import replay
from pttt_ooc.site.explore.opponents import Opponent
from pttt_ooc.site.explore.results import draw_attempt
from tests.site.explore.play_kit import GAME, Uniform, make_games, rows

ME, OTHER = "visitor:me", "visitor:other"


@pytest.fixture
def games(tmp_path):
    made = make_games(tmp_path, seed=1)
    yield made
    made.close()


def play_out(games, seat, choose, owner=ME):
    while not seat.over:
        seat = games.attempt(owner, seat.id, seat.made, choose(seat))
    return seat


def first_legal(seat):
    return seat.legal[0]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", [GAME, "mini-2x3k2-classical", "mini-2x3k3-abrupt-after-1"])
@pytest.mark.parametrize("player", [0, 1])
def test_a_game_agrees_with_the_referee(tmp_path, name, player):
    """The person's view after every attempt agrees with a referee who sees everything."""
    games = make_games(tmp_path, Uniform(name), seed=3)
    for _ in range(20):
        seat = games.begin(ME, "uniform", player)
        while not seat.over:
            before, square = seat, random.Random(seat.id).choice(seat.legal)
            seat = games.attempt(ME, seat.id, seat.made, square)
            assert seat.attempts[: len(before.attempts)] == before.attempts
            assert len(seat.attempts) == len(before.attempts) + 1 and seat.attempts[-1][0] == square
        history = games.find_finished(ME, seat.id).history
        assert history.is_terminal and history.returns[player] == seat.result
        assert history == replay(named_game(name), [a.square for a in history.attempts])
        assert seat.infoset == history.infoset(player) and seat.legal == ()
    games.close()


def test_the_opponent_is_asked_only_about_what_it_knows_itself(tmp_path):
    opponents = Uniform()
    games = make_games(tmp_path, opponents, seed=5)
    seat = play_out(games, games.begin(ME, "uniform", 1), first_legal)
    history = games.find_finished(ME, seat.id).history
    own = [replay(history.game, [a.square for a in history.attempts[:n]]) for n in range(len(history.attempts))]
    assert [infoset for _, infoset in opponents.asked] == [h.infoset(0) for h in own if h.player == 0]
    games.close()


def test_a_game_survives_a_restart(tmp_path):
    games = make_games(tmp_path, seed=1)
    seat = games.begin(ME, "uniform", 0)
    seat = games.attempt(ME, seat.id, 0, 4)
    games.close()
    again = make_games(tmp_path, seed=2)
    assert again.seat(ME, seat.id) == seat
    assert again.list_games(ME, finished=False)[0].id == seat.id
    assert play_out(again, seat, first_legal).over
    again.close()


def test_the_database_is_private(tmp_path):
    before = os.umask(0)
    try:
        games = make_games(tmp_path)
        games.begin(ME, "uniform", 0)
        files = sorted(tmp_path.glob("play.sqlite*"))
        assert len(files) == 3  # with SQLite's log and its index
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        games.close()
    finally:
        os.umask(before)
    (tmp_path / "play.sqlite").chmod(0o644)
    make_games(tmp_path).close()
    assert stat.S_IMODE((tmp_path / "play.sqlite").stat().st_mode) == 0o600


def test_a_place_that_cannot_be_written_to_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(StoreError, match="Cannot make the directory"):
        make_games(tmp_path / "file")
    (tmp_path / "taken" / "play.sqlite").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be kept in .*: Is a directory"):
        make_games(tmp_path / "taken")


def test_a_file_that_is_no_database_gets_a_sentence_and_stays(tmp_path):
    file = tmp_path / "play.sqlite"
    file.write_text("no database, although it is long enough to have the header of one" * 100)
    before = file.read_bytes()
    with pytest.raises(StoreError, match="file is not a database; move it away"):
        make_games(tmp_path)
    assert file.read_bytes() == before


def test_later_damage_gets_a_sentence(games):
    games.begin(ME, "uniform", 0)
    with games.store.database.writing() as session:
        session.connection().exec_driver_sql("DROP TABLE games")
    with pytest.raises(StoreError, match="no such table"):
        games.list_games(ME, finished=False)


def refused(games, status, *arguments, do="attempt"):
    before = rows(games)
    with pytest.raises(PlayError) as error:
        getattr(games, do)(*arguments)
    assert error.value.status == status and str(error.value).endswith(".")
    assert rows(games) == before
    return str(error.value)


def test_attempts_that_are_refused_change_nothing(games):
    seat = games.begin(ME, "uniform", 0)
    assert "no such game" in refused(games, 404, OTHER, seat.id, 0, 0)
    assert "no such game" in refused(games, 404, ME, "nothing", 0, 0)
    assert "comes first" in refused(games, 409, ME, seat.id, 1, 0)
    assert "choose one of 0, 1, 2, 3, 4, 5" in refused(games, 400, ME, seat.id, 0, 6)
    seat = games.attempt(ME, seat.id, 0, 2)
    assert "made already" in refused(games, 409, ME, seat.id, 0, 2)  # the very same, sent again
    assert "made already" in refused(games, 409, ME, seat.id, 0, 3)
    assert "cannot be attempted" in refused(games, 400, ME, seat.id, 1, 2)
    assert "not over" in refused(games, 409, ME, seat.id, do="find_finished")
    assert "no such game" in refused(games, 404, OTHER, seat.id, 1, do="resign")
    assert "made already" in refused(games, 409, ME, seat.id, 0, do="resign")
    seat = play_out(games, seat, first_legal)
    assert "is over" in refused(games, 409, ME, seat.id, seat.made, 5)
    assert "is over" in refused(games, 409, ME, seat.id, seat.made, do="resign")
    assert "no such game" in refused(games, 404, OTHER, seat.id, do="find_finished")
    assert "no such opponent" in refused(games, 404, ME, "nobody", 0, do="begin")


def test_one_of_simultaneous_attempts_counts(tmp_path):
    """All have read the game before the first one is written."""
    opponents, together = Uniform(), threading.Barrier(6)
    games = make_games(tmp_path, opponents)
    seat = games.begin(ME, "uniform", 0)
    plain = opponents.probabilities
    opponents.probabilities = lambda *asked: (together.wait(60), plain(*asked))[1]
    ends = []

    def attempt(square):
        try:
            ends.append(games.attempt(ME, seat.id, 0, square))
        except PlayError as error:
            ends.append(error)

    threads = [threading.Thread(target=attempt, args=(square,)) for square in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [end for end in ends if not isinstance(end, PlayError)]
    assert len(told) == 1 and len(ends) == 6
    assert games.seat(ME, seat.id) == told[0] and told[0].made == 1
    games.close()


def test_a_resigned_game_is_lost_and_shown(games):
    seat = games.attempt(ME, games.begin(ME, "uniform", 0).id, 0, 0)
    seat = games.resign(ME, seat.id, 1)
    assert (seat.result, seat.resigned, seat.legal) == (-1, True, ())
    assert len(games.find_finished(ME, seat.id).history.attempts) == 2
    assert games.standings(ME)[0].tally.losses == 1


def test_a_game_does_not_continue_against_a_changed_opponent(tmp_path):
    opponents = Uniform()
    games = make_games(tmp_path, opponents)
    seat = games.begin(ME, "uniform", 0)
    opponents.opponents = [Opponent(o.key, o.name, o.player, o.digest + "'") for o in opponents.opponents]
    assert "no longer" in refused(games, 409, ME, seat.id, 0, 0)
    assert games.resign(ME, seat.id, 0).over
    games.close()


@pytest.mark.long
@pytest.mark.parametrize("player", [0, 1])
def test_the_mean_of_many_games_is_the_exact_value(in_memory, player):
    """Uniform play against the uniform opponent, and a fixed strategy against it."""
    games = make_games(in_memory, seed=10 + player)
    mine = random.Random(20 + player)
    game = named_game(GAME)
    for choose, other in ((lambda seat: mine.choice(seat.legal), uniform), (first_legal, lowest)):
        count, total, squares = 150, 0, 0
        for n in range(count):
            seat = play_out(games, games.begin(f"account:{n}", "uniform", player), choose, f"account:{n}")
            total, squares = total + seat.result, squares + seat.result**2
        tables = [uniform, uniform]
        tables[player] = other
        exact = naive_value(replay(game, []), tables) * (1 - 2 * player)
        error = ((squares / count - (total / count) ** 2) / count) ** 0.5
        assert abs(total / count - exact) < 3 * error, (total / count, exact, error)
    games.close()


def uniform(history):
    return {square: 1 / len(history.legal()) for square in history.legal()}


def lowest(history):
    return {history.legal()[0]: 1.0}


def naive_value(history, tables):
    """Player 0's expected payoff, by a walk over all histories."""
    if history.is_terminal:
        return history.returns[0]
    return sum(p * naive_value(history.step(square), tables) for square, p in tables[history.player](history).items())


def test_tallies_are_the_results(games):
    results = [play_out(games, games.begin(ME, "uniform", n % 2), first_legal).result for n in range(30)]
    for tally in (one.tally for one in games.standings(ME)):
        own = [results[n] for n in range(30) if n % 2 == 1 - tally.opponent.player]
        assert (tally.wins, tally.draws, tally.losses) == tuple(map(own.count, (1, 0, -1)))
        mean = sum(own) / len(own)
        assert tally.mean == pytest.approx(mean)
        assert tally.error == pytest.approx((sum((r - mean) ** 2 for r in own) / 14 / 15) ** 0.5)
    assert games.standings(OTHER) == []


def test_draws_follow_the_probabilities():
    row = [0.0, 0.25, 0.25, 0.5]
    numbers = (0.0, 0.2499, 0.25, 0.4999, 0.5, 0.9999999)
    assert [draw_attempt(row, [0, 1, 2, 3], u) for u in numbers] == [1, 1, 2, 2, 3, 3]
    assert [draw_attempt(row, [1, 3], u) for u in (0.0, 0.33, 0.34, 0.99)] == [1, 1, 3, 3]
    assert draw_attempt([0.1] * 10, range(10), 1 - 1e-17) == 9
    with pytest.raises(StoreError):
        draw_attempt(row, [0], 0.5)
