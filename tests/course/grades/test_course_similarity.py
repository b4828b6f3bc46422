"""Submissions that are alike: the estimate against a walk over all games, renamed bots, pages and the command."""

import json
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.grades.similarity import GRAM, WINDOW, Code, fingerprints, handed_out, shipped_bots, tokens
from pttt_ooc.course.people.people import add_staff
from pttt_ooc.course.strategies.likeness import Likenesses, SampledGames, sample_games
from pttt_ooc.games.rules.play import start
from pttt_ooc.other_games.arena import agents
from pttt_ooc.other_games.extreme.bot_programs import OWN
from tests.course.agents_kit import agents_course, post_agent
from tests.course.league_kit import GOOD, LeagueCourse
from tests.course.server_kit import GAME, as_strategy, random_tensor, zip_bytes
from tests.course.term_kit import course
from tests.kits.helpers import full_index, small_engine


def plan_of(player, tensor):
    strategy = as_strategy(player, tensor)
    return strategy, np.asarray(small_engine(GAME).reach(player, strategy.probabilities).sequences, np.float64)


def rows_of(player, tensor):
    """Probabilities of squares by the text of an infoset, from the tensor alone."""
    from pttt_ooc.games.structure.index import node_text
    from pttt_ooc.pipeline.files.infosets import default_rows

    index = full_index(GAME)
    nodes = default_rows(index, player)
    return {node_text(index, player, int(node)): tensor[row] for row, node in enumerate(nodes)}


def walked_variation(player, first, second):
    """The total variation of the games of two strategies against Uniform, by a walk over all histories."""
    rows = [rows_of(player, one) for one in (first, second)]

    def walk(history, mine, theirs, opponent):
        if history.player is None:
            return opponent * abs(mine - theirs) / 2
        legal, total = history.legal(), 0.0
        for square in legal:
            after = history.step(square)
            if history.player == player:
                here = [one[history.infoset(player)][square] for one in rows]
                total += walk(after, mine * here[0], theirs * here[1], opponent)
            else:
                total += walk(after, mine, theirs, opponent / len(legal))
        return total

    from pttt_ooc.games.rules.catalogue import named_game

    return walk(start(named_game(GAME)), 1.0, 1.0, 1.0)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("player, share", [(0, 0.1), (1, 0.1), (0, 1.0), (1, 0.4)])
def test_the_estimate_is_the_total_variation_of_the_games(player, share):
    first, other = random_tensor(player, 1), random_tensor(player, 2)
    second = (1 - share) * first + share * other
    index = full_index(GAME)
    _, plan = plan_of(player, first)
    games = 1500
    found = sample_games(index, player, plan, "seed", games).estimated_variation(plan_of(player, second)[1])
    expected = walked_variation(player, first, second)
    assert expected > 0.02 and abs(found - expected) < 4 * 0.5 / games**0.5 * max(expected, 0.1) ** 0.5


def test_strategies_that_differ_only_where_they_never_come_are_the_same():
    first = random_tensor(0, 1)
    (root,) = (n for n, text in enumerate(rows_of(0, first)) if text == "|")
    first[root] = [1, 0, 0, 0, 0, 0]
    second = first.copy()
    for row, text in enumerate(rows_of(0, first)):
        if len(text) > 1 and text[1] != "0":  # another first attempt
            second[row] = np.roll(second[row] > 0, 0) / (second[row] > 0).sum()
    assert not np.array_equal(first, second)
    plans = [plan_of(0, one)[1] for one in (first, second)]
    games = sample_games(full_index(GAME), 0, plans[0], "x", 50)
    assert games.estimated_variation(plans[1]) == pytest.approx(0, abs=1e-12)
    assert SampledGames(games.sequences, games.reach).estimated_variation(np.zeros_like(plans[0])) == 1.0


@pytest.fixture
def copied(lab):
    """A strategy of Team A, the same with a little noise of Team B, the same file of Team C, and another one of D."""
    lab.judge._likenesses = Likenesses(lab.database, lab.storage, lab.assessor.engine.index)
    for name in "ABCD":
        lab.team(f"Team {name}")
    first, other = random_tensor(0, 1), random_tensor(0, 2, 3.0)
    contents = [zip_bytes(first), zip_bytes(0.99 * first + 0.01 * other), zip_bytes(first), zip_bytes(other)]
    for name, content in zip("ABCD", contents, strict=True):
        lab.submit(lab.tokens[f"Team {name}"], 0, content)
        lab.run()
    return lab


@pytest.mark.slow
def test_copies_of_strategies_are_told_to_people_with_rights(copied):
    found = json.loads(course(copied.data, "similar", "--json"))
    pairs = {tuple(one["teams"]): one for one in found}
    assert set(pairs) == {("Team A", "Team B"), ("Team A", "Team C"), ("Team B", "Team C")}
    assert pairs["Team A", "Team C"]["same_file"] and pairs["Team A", "Team C"]["figure"] == 0
    assert 0 < pairs["Team A", "Team B"]["figure"] < 0.05 and found[0]["same_file"]
    with copied.database.writing() as session:
        token = add_staff(session, "Ada", "ada@example.org", "assistant")
    assert copied.client.get("/course/desk/similar").status_code == 401
    copied.sign_in(token)
    page = copied.client.get("/course/desk/similar").text
    assert "the same file" in page and "Team D" not in page and "A hint, not a verdict" in page


RENAMED = """
class Team7:
    def move(self, board, old_move, flag):
        # of my own
        print("something else")
        return board.find_valid_move_cells(old_move)[0]
"""
LONG = "".join(
    f"def f{n}(a, b):\n    return [x * {n} for x in a if x > b + {n}] or {{{n}: a[{n}:]}}\n\n" for n in range(4)
)
OTHER = "".join(f"while g({n}) < 3:\n    h = {n}; k(h, not h)\n    del h\n" for n in range(6))


def code(text, library=None):
    return Code.of(text.encode(), shipped_bots() if library is None else library)


def test_names_texts_and_comments_make_no_difference():
    assert tokens("x = 'a'  # b\n") == tokens('other="c\\"d"') == ["n", "=", "t"]
    assert tokens("print 1.5e3, u'x'") == ["print", "0", ",", "t"]
    assert tokens('"""a\nb""" + 0x1F') == ["t", "+", "0"]
    renamed = LONG.replace("a", "alpha").replace("    ", "\t").replace("return", "return  ")
    renamed = "# mine\n" + renamed.replace("alphalpha", "alpha")
    assert code(LONG).overlap(code(renamed)) == 1.0
    assert code(LONG).overlap(code(OTHER)) == 0.0
    assert code(OTHER + LONG).overlap(code(LONG)) > 0.8  # within something longer
    assert code("").overlap(code("")) == 0.0 and Code.of(b"\xff\x00", shipped_bots()).handed_out == 0.0


@pytest.mark.slow
def test_every_long_run_that_two_files_share_is_found():
    words = [f"n{'+' * (n % 3 + 1)}" for n in range(200)]
    text = " ".join(words)
    run = tokens(text)[40 : 40 + GRAM + WINDOW - 1]
    alone = fingerprints(" ".join(run))
    assert (
        alone and alone & fingerprints("if x: y; " + " ".join(run) + " else: pass pass") and alone & fingerprints(text)
    )


@pytest.mark.slow
def test_the_code_that_is_handed_out_is_told_apart():
    strong = next(OWN.glob("strong*.py")).read_text()
    one, two = (code(strong + own) for own in (LONG, OTHER))
    assert one.handed_out > 0.5 and one.nearest == "strong_bot.py" and one.overlap(two) < 0.2
    assert code(LONG).handed_out == 0.0 and code(LONG).nearest == ""


def test_a_courses_own_evaluator_is_handed_out_too(tmp_path):
    assert handed_out(tmp_path) == {}
    (tmp_path / "handed-out" / "sim").mkdir(parents=True)
    (tmp_path / "handed-out" / "sim" / "simulator.py").write_text(LONG)
    (tmp_path / "handed-out" / "read.txt").write_text(OTHER)
    library = handed_out(tmp_path)
    assert set(library) == {"sim/simulator.py"}
    copied = code(LONG.replace("a", "alpha").replace("alphalpha", "alpha"), library)
    assert copied.handed_out == 1.0 and copied.nearest == "sim/simulator.py" and not copied.own
    assert code(OTHER, library).handed_out == 0.0


@pytest.mark.slow
def test_agents_are_compared_with_each_other_and_with_what_everybody_has(lab, tmp_path):
    agents_course(lab, tmp_path)
    lab.team("Team C")
    shipped = (Path(agents.__file__).parent / "minimax.py").read_text()
    handed_in = {"Team A": LONG, "Team B": LONG.replace("x", "y"), "Team C": shipped.replace("self", "me") + "\n# mine"}
    numbers = {team: post_agent(lab, team, text.encode()).json()["number"] for team, text in handed_in.items()}
    assert json.loads(course(lab.data, "similar", "--json")) == []  # none is accepted yet
    with lab.database.writing() as session:
        for agent in session.query(Agent):
            agent.status, agent.score = "Accepted", 0.5
        token = add_staff(session, "Ada", "ada@example.org", "assistant")
    found = {tuple(one["teams"]): one for one in json.loads(course(lab.data, "similar", "--json"))}
    assert set(found) == {("Team A", "Team B"), ("Team C", "code that is handed out (minimax.py)")}
    assert found["Team A", "Team B"]["figure"] == 1.0 and found["Team A", "Team B"]["of"] == "rows"
    lab.sign_in(token)
    page = lab.client.get("/course/desk/similar").text
    assert f'href="/agents/rows/{numbers["Team C"]}"' in page and "agents, rows" in page
    (lab.data / "handed-out").mkdir()
    (lab.data / "handed-out" / "evaluator.py").write_text(LONG)
    told = course(lab.data, "similar")
    assert (
        f"agents of rows: Team A {numbers['Team A']} and code that is handed out (evaluator.py): shared code 1.0"
        in told
    )
    assert "Team A 1 and Team B" not in told  # what both have from the course is not copying


@pytest.mark.slow
def test_copies_of_bots_are_told(tmp_path):
    made = LeagueCourse(tmp_path / "course")
    body = GOOD.decode().replace(
        "        print", "".join(f"        x{n} = [{n}] * {n} or (flag, {n})\n" for n in range(9)) + "        print"
    )
    made.hand_in("Team A", body.encode())
    made.hand_in("Team B", body.replace("x", "yy").replace("secret", "other").encode() + b"# mine\n")
    found = json.loads(course(made.lab.data, "similar", "--json"))
    assert [(one["kind"], one["teams"], one["figure"], one["same_file"]) for one in found] == [
        ("bots", ["Team A", "Team B"], 1.0, False)
    ]
    assert "shared code 1.000" in course(made.lab.data, "similar")
    made.close()
