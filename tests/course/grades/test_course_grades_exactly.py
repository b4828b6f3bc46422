"""What grades, ranks and similarity are in numbers, of rows as a worker could have written them; nothing is judged."""

from types import SimpleNamespace

import numpy as np
import pytest

from pttt_ooc.course.agents.standings import standings as agent_standings
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.choice import Candidate, LateDays, options
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.dates import Dates, days_late, late_cost, zone_of
from pttt_ooc.course.data.memberships import Stay
from pttt_ooc.course.data.models import BASELINE, Submission, Team
from pttt_ooc.course.data.rules import (
    BEST,
    LAST,
    PICK,
    Baseline,
    FormulaRule,
    Ranks,
    Thresholds,
    most_points,
    next_step,
    points_of,
)
from pttt_ooc.course.data.standings import beats, leaderboard, place_of, ranks_of
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Adjustment, Assignment, Disqualification, Extension, Likeness, Mark, Pick
from pttt_ooc.course.grades.gradebook import compute, history, is_graded, settle, step_above
from pttt_ooc.course.grades.similarity import Code
from pttt_ooc.course.strategies import likeness
from pttt_ooc.course.strategies.likeness import NEAR, Likenesses, SampledGames
from tests.course.server_kit import GAME

DAY, DUE = 86400.0, 1_800_000_000.0
STEPS = {
    "kind": "thresholds",
    "figure": "player0",
    "steps": [{"at_most": 0.5, "points": 40}, {"at_most": 0.6, "points": 20}, {"at_most": 2, "points": 10}],
}
RANKS = {"kind": "rank", "points": [50, 40, 30], "rest": 5}


class Book:
    """A course as rows: what was handed in, and what was decided."""

    def __init__(self, data):
        self.data = data
        self.database = Database(f"sqlite:///{data / 'course.sqlite'}", GAME)
        self.numbers = {}

    def add(self, row):
        with self.database.writing() as session:
            session.add(row)
            session.flush()
            return row.id

    def term(self, **facts):
        with self.database.writing() as session:
            set_term(session, Term(**facts))

    def team(self, name, **columns):
        self.numbers[name] = self.add(Team(name=name, key=name.casefold(), created_at=1.0, **columns))

    def assignment(self, name="first", due=DUE, **columns):
        made = {"title": name, "kind": "strategies", "position": 0, "choice": "best", "rubric": [], **columns}
        made |= {"due_at": due, "closes_at": None if due is None else due + 9 * DAY}
        self.numbers[name] = self.add(Assignment(name=name, **made))

    def handed_in(self, team, figure, at=DUE, player=0, number=None, **columns):
        made = {"status": "Accepted", "exploitability": figure, "received_at": at, "changed_at": at, **columns}
        digest = f"{team}{figure}{at}{player}{number}"
        row = Submission(team_id=self.numbers[team], player=player, file=digest, digest=digest[:64], size=1, **made)
        row.id, row.begun_at = number, at
        return self.add(row)

    def agent(self, team, score, to="first"):
        made = {"status": "Accepted", "score": score, "received_at": DUE, "changed_at": DUE, "file": f"{team}.py"}
        of = {"team_id": self.numbers[team], "assignment_id": self.numbers[to]}
        self.add(Agent(**of, **made, given="a.py", digest="", size=1))

    def decide(self, kind, team, to="first", **columns):
        of = {"team_id": self.numbers[team], "assignment_id": self.numbers[to], "at": 1.0, "by": "Ada"}
        if kind in (Adjustment, Extension, Disqualification):
            of["reason"] = "why"
        self.add(kind(**of, **columns))

    def grade(self, team="A", to="first"):
        with self.database.reading() as session:
            return compute(session, self.data)[self.numbers[team], self.numbers[to]]


@pytest.fixture
def book(tmp_path):
    made = Book(tmp_path)
    made.team("A")
    yield made
    made.database.close()


# ---------------------------------------------------------------------------------------------
# Points


def test_an_adjustment_is_neither_reduced_for_late_days_nor_below_zero(book):
    book.assignment(rule=STEPS, rubric=[{"name": "viva", "points": 10}], late_percent=15.0)
    book.handed_in("A", 0.4, at=DUE + 1.5 * DAY)
    book.decide(Mark, "A", criterion="viva", points=7.5)
    assert book.grade().points == 33.25  # (40 + 7.5) * 0.7
    for points in (4, 3):
        book.decide(Adjustment, "A", points=points)
    assert (book.grade().points, book.grade().adjustment, book.grade().factor) == (40.25, 7, 0.7)
    book.decide(Adjustment, "A", points=-50)
    assert book.grade().points == 0


def test_points_are_rounded_to_a_hundredth_and_not_before(book):
    rule = {"kind": "formula", "formula": "10 / 3 + player0", "points": 50}
    book.assignment(rule=rule, late_percent=1.0)
    book.handed_in("A", 1.0 / 3, at=DUE + 1)
    assert (book.grade().points, book.grade().automatic) == (3.63, 3.6667)  # not 3.64, 3.67 less a hundredth of it
    book.decide(Adjustment, "A", points=0.006)
    assert book.grade().points == 3.64


def test_the_latest_mark_of_each_criterion_counts_and_those_that_are_gone_do_not(book):
    book.assignment(rubric=[{"name": "viva", "points": 10}, {"name": "search", "points": 20}])
    assert book.grade().points is None and book.grade().most == 30
    for criterion, points in (("viva", 9), ("gone", 5), ("viva", 6)):
        book.decide(Mark, "A", criterion=criterion, points=points)
    found = book.grade()
    assert (found.points, found.manual, found.unmarked) == (6, 6, ("search",))  # nothing was handed in
    book.team("B")
    book.decide(Adjustment, "B", points=0)
    assert book.grade("B").points == 0  # decided, although it is nothing


def test_of_options_with_equal_points_the_one_with_fewest_late_days_counts(book):
    book.term(late_days=5)
    book.assignment(rule=STEPS, late_days=5, late_percent=10.0)
    early, late = book.handed_in("A", 0.45, at=DUE), book.handed_in("A", 0.4, at=DUE + 1)
    assert (book.grade().submissions, book.grade().spent) == ({"player 0": early}, 0)
    with book.database.writing() as session:
        session.get(Submission, early).exploitability = 0.55
    assert (book.grade().submissions, book.grade().spent, book.grade().points) == ({"player 0": late}, 1, 40)


def test_what_does_not_count_and_what_does(book):
    book.assignment(rule=STEPS, opens_at=DUE - DAY)
    book.handed_in("A", 0.1, ruling="withdrawn")
    book.handed_in("A", 0.2, status="Rejected")
    book.handed_in("A", 0.3, at=DUE - DAY - 1)
    book.handed_in("A", 0.3, at=DUE + 9 * DAY + 1)
    assert book.grade().points is None
    hidden = book.handed_in("A", 0.55, ruling="hidden")
    assert (book.grade().points, book.grade().submissions) == (20, {"player 0": hidden})
    assert book.grade().figures == {"player0": 0.55}
    other = book.handed_in("A", -1e-9, player=1)
    found = book.grade()
    assert found.figures == {"player0": 0.55, "player1": 0.0, "sum": 0.55}  # no figure is below zero
    assert found.submissions == {"player 0": hidden, "player 1": other}
    book.decide(Disqualification, "A", holds=True)
    assert (book.grade().points, book.grade().why, book.grade().most) == (0, "disqualified: why", 40)
    book.decide(Disqualification, "A", holds=False)
    assert book.grade().points == 20


def test_of_equal_submissions_the_earlier_counts(book):
    book.assignment(rule=STEPS)
    book.handed_in("A", 0.4, at=DUE - 5, number=11)
    book.handed_in("A", 0.4, at=DUE - 9, number=12)
    book.handed_in("A", 0.4, at=DUE - 9, number=13)
    assert book.grade().submissions == {"player 0": 12}
    known = [Candidate(n, 0, at, 0, 0.4) for n, at in ((1, 5.0), (3, 2.0), (2, 2.0))]
    (best,) = options(known, BEST, {})
    assert best.chosen[0].number == 2
    (last,) = options([Candidate(n, 0, at, 0, 0.4) for n, at in ((1, 5.0), (3, 5.0), (2, 2.0))], LAST, {})
    assert last.chosen[0].number == 3  # and where the last one counts, the later number
    (unmeasured,) = options([Candidate(1, 0, 1.0, 0), Candidate(2, 0, 2.0, 0, 9.0)], BEST, {})
    assert unmeasured.chosen[0].number == 2


def test_the_latest_pick_holds_where_teams_pick(book):
    book.assignment(rule=STEPS, choice=PICK)
    book.team("B")
    first, second, last = (book.handed_in("A", figure, at=DUE - 9 + n) for n, figure in enumerate((0.4, 0.55, 1.5)))
    assert book.grade().submissions == {"player 0": last}
    for number in (first, second):
        book.decide(Pick, "A", slot=0, submission=number)
    book.decide(Pick, "B", slot=0, submission=first)
    assert (book.grade().submissions, book.grade().points) == ({"player 0": second}, 20)
    book.decide(Pick, "A", slot=0, submission=0)
    assert book.grade().submissions == {"player 0": last}


# ---------------------------------------------------------------------------------------------
# Late days


def test_late_days_are_used_up_by_deadline_and_not_by_position(book):
    book.term(late_days=3)
    for position, (name, due) in enumerate([("later", DUE + 2 * DAY), ("none", None), ("sooner", DUE), ("same", DUE)]):
        book.assignment(name, due, rule=STEPS, late_days=2, late_percent=10.0, position=position, choice="last")
    book.handed_in("A", 0.4, at=DUE + 3.5 * DAY)
    found = {
        name: (book.grade(to=name).days, book.grade(to=name).spent) for name in ("sooner", "same", "later", "none")
    }
    assert found == {"sooner": (4, 2), "same": (4, 1), "later": (2, 0), "none": (0, 0)}
    assert [book.grade(to=name).points for name in ("sooner", "same", "later")] == [32, 28, 32]


def test_a_late_day_costs_in_each_assignment_at_most_all(book):
    book.term(late_days=1)
    book.assignment(rule=STEPS, late_days=9, late_percent=40.0)
    book.handed_in("A", 0.4, at=DUE + 3.5 * DAY)
    assert (book.grade().factor, book.grade().points, book.grade().spent) == (0, 0, 1)
    book.decide(Extension, "A", until=DUE + 2 * DAY)
    assert (book.grade().days, book.grade().factor) == (2, 0.6)
    book.decide(Extension, "A", until=None)
    assert book.grade().days == 4
    assert (late_cost(1, 10, 0).factor, late_cost(5, 30, 1).factor) == (0.9, 0)


def test_who_pays_for_late_days():
    def option(*late):
        return options([Candidate(n, n, at, days) for n, (at, days) in enumerate(late)], LAST, {})[0]

    known = {5: [Stay(1, False, 0, None), Stay(2, False, 10, 20), Stay(3, True, 30, None)]}
    free = LateDays(3, known)
    assert free.payers(5) == free.payers(5, option((15, 0))) == {1, 3}  # in time: whoever is there now
    assert [free.payers(5, option((at, 1))) for at in (9.9, 10, 19.9, 20)] == [{1, 3}, {1, 2, 3}, {1, 2, 3}, {1, 3}]
    assert free.payers(5, option((25, 2), (15, 1))) == {1, 2, 3}
    assert free.payers(6) == {-6} and LateDays(3, {5: [Stay(2, False, 1, 2)]}).payers(5, option((5, 1))) == {-5}
    free.pay([(frozenset({1, 2}), 2), (frozenset({1}), 1), (frozenset({3}), 0)])  # of one assignment: the most
    assert [free.days_left(frozenset({n})) for n in (1, 2, 3)] == [1, 1, 3]
    free.pay([(frozenset({1, 3}), 1)])
    assert [free.days_left(frozenset({n})) for n in (1, 2, 3)] == [0, 1, 2]
    assert free.days_left(frozenset({1, 2, 3})) == 0


# ---------------------------------------------------------------------------------------------
# Ranks


def test_figures_within_a_tie_of_the_best_of_them_share_a_rank():
    near = {1: 0.5 + 0.9e-7, 2: 0.5, 3: 0.5 + 1.8e-7, 4: 0.5 + 2.7e-7, 5: 0.6}
    assert ranks_of(near) == {2: 1, 1: 1, 3: 3, 4: 3, 5: 5}
    assert ranks_of({1: 0.0, 2: 1.2e-7}) == {1: 1, 2: 2} and ranks_of({}) == {}
    assert ranks_of({1: -0.5, 2: -0.25, 3: -0.5}) == {1: 1, 3: 1, 2: 3}


def test_grades_leaderboard_and_places_have_the_same_ranks(book):
    book.assignment(rule=RANKS)
    figures = {"A": 0.5 + 1.8e-7, "B": 0.5 + 0.9e-7, "C": 0.5, "D": 0.9, "E": 0.1}
    for name in "BCDE":
        book.team(name)
    for name, figure in figures.items():
        for player in (0, 1):
            book.handed_in(name, figure / 2 if player else figure, player=player, best=True)
    book.decide(Disqualification, "E", holds=True)
    found = {name: (book.grade(name).rank, book.grade(name).points) for name in figures}
    assert found == {"C": (1, 50), "B": (2, 40), "A": (3, 30), "D": (4, 5), "E": (None, 0)}  # by the sums
    assert book.grade("D").why == "rank 4 of 4"
    with book.database.reading() as session:
        rows = {row.team.name: (row.sum_rank, row.ranks) for row in leaderboard(session)}
        best = session.query(Submission).filter_by(player=0, best=True)
        places = {one.team.name: place_of(session, one) for one in best}
    assert rows == {"C": (1, (1, 1)), "B": (2, (1, 1)), "A": (3, (3, 1)), "D": (4, (4, 4)), "E": (None, (None, None))}
    assert {name: (places[name].rank, places[name].of) for name in "ABCD"} == {
        name: (rank, 4) for name, rank in {"C": 1, "B": 1, "A": 3, "D": 4}.items()
    }


def test_ranks_are_of_the_best_figure_whatever_its_late_days_cost(book):
    book.assignment(rule=RANKS, late_percent=50.0)
    book.team("B")
    book.team("House", house=True)
    book.team(BASELINE)
    for name, figure, at in [
        ("A", 0.4, DUE),
        ("A", 0.1, DUE + 1),
        ("B", 0.2, DUE),
        ("House", 0.0, DUE),
        (BASELINE, 0, DUE),
    ]:
        for player in (0, 1):
            book.handed_in(name, figure, at=at, player=player)
    assert [(book.grade(name).rank, book.grade(name).points) for name in "AB"] == [(1, 25), (2, 40)]
    book.team("C")
    book.handed_in("C", 0.0)  # one player only: no sum, and so no rank
    assert (book.grade("C").rank, book.grade("C").points, book.grade("C").why) == (None, 0, "no rank yet")
    assert book.grade("B").why == "rank 2 of 2"
    with book.database.writing() as session:
        session.query(Assignment).one().rule = STEPS
    assert [book.grade(name).rank for name in "AB"] == [1, 2]  # told where it brings no points, too


def test_higher_scores_of_agents_rank_first_and_the_best_one_counts(book):
    book.assignment(kind="agents", rule=RANKS)
    for name in "BC":
        book.team(name)
    for name, score in (("A", 0.4), ("B", 0.9), ("C", 0.9 - 0.5e-7)):
        book.agent(name, score)
    book.add(
        Agent(
            **{"team_id": book.numbers["A"], "assignment_id": book.numbers["first"], "status": "Accepted"},
            **{"score": 0.6, "received_at": DUE + 1, "changed_at": DUE, "file": "A2.py", "given": "a.py"},
            **{"digest": "", "size": 1},
        )
    )
    assert [(book.grade(n).rank, book.grade(n).figures["score"]) for n in "BCA"] == [
        (1, 0.9),
        (1, 0.9 - 5e-8),
        (3, 0.6),
    ]
    with book.database.reading() as session:
        shown = agent_standings(session, book.data, session.query(Assignment).one(), None, True)
    assert [(row.team.name, row.rank) for row in shown] == [("B", 1), ("C", 1), ("A", 3)]


def test_only_what_is_better_by_more_than_rounding_is_a_teams_best():
    assert beats(0.5, None) and not beats(None, 0.5) and not beats(None, None)
    assert beats(0.5 - 2e-12, 0.5) and not beats(0.5 - 0.5e-12, 0.5) and not beats(0.5, 0.5)


# ---------------------------------------------------------------------------------------------
# Rules


@pytest.mark.parametrize(
    "target, uniform, shares",
    [
        (0.5, 0.5, {0.4: 1, 0.5: 1, 0.5001: 0, 0.9: 0}),  # Uniform is at the target
        (0.7, 0.5, {0.0: 1, 0.5: 1, 0.7: 1, 0.7001: 0}),  # and beyond it
        (0.25, 0.75, {0.0: 1, 0.25: 1, 0.375: 0.75, 0.5: 0.5, 0.75: 0, 0.8: 0}),
    ],
)
def test_points_between_the_baseline_and_the_target(target, uniform, shares):
    rule = Baseline(kind="baseline", figure="sum", points=40, target=target)
    found = {figure: points_of(rule, {"sum": figure}, None, 0, {"sum": uniform})[0] for figure in shares}
    assert found == pytest.approx({figure: 40 * share for figure, share in shares.items()})
    assert points_of(rule, {"sum": target}, None, 0, {"sum": uniform})[1].endswith(f"100 % of the way from {uniform:g}")


def test_the_baseline_is_uniform_in_the_same_game(book):
    book.assignment(rule={"kind": "baseline", "figure": "sum", "points": 40, "target": 0.5})
    for player in (0, 1):
        book.handed_in("A", 0.4, player=player)
    assert (book.grade().points, book.grade().why) == (0, "the baseline has no figure yet")
    book.team(BASELINE)
    book.handed_in(BASELINE, 1.0, player=0)
    assert book.grade().points == 0  # of one player only there is no sum
    book.handed_in(BASELINE, 0.5, player=1)
    assert book.grade().points == 28


def test_the_most_points_and_the_next_step():
    rule = Thresholds(**{**STEPS, "steps": ({"at_most": 2, "points": 10}, *STEPS["steps"][:2])})
    assert most_points(rule) == 40 and most_points(None) == 0 and most_points(Ranks(**{**RANKS, "rest": 60})) == 60
    assert [next_step(rule, {"player0": x}).points for x in (3, 2, 0.6)] == [10, 20, 40]
    assert next_step(rule, {"player0": 0.5}) is None and next_step(rule, {"player1": 1}) is None
    same = Thresholds(**{**STEPS, "steps": ({"at_most": 1, "points": 10}, {"at_most": 0.5, "points": 10})})
    assert next_step(same, {"player0": 0.7}) is None  # which would bring nothing
    formula = FormulaRule(kind="formula", formula="sum * 100 - 10", points=30)
    assert [points_of(formula, {"sum": x}, None, 0, {})[0] for x in (0.05, 0.2, 0.9)] == [0, 10, 30]


def test_the_deadline_is_in_time_and_the_freeze_is_not():
    zone = zone_of("UTC")
    assert [days_late(DUE + x, DUE, zone) for x in (-1, 0, 0.5, DAY, DAY + 0.5)] == [0, 0, 1, 1, 2]
    assert days_late(DUE, None, zone) == 0
    dates = Dates(opens=DUE, due=DUE + 1)
    assert (dates.takes(DUE), dates.takes(DUE - 1e-3), dates.takes(DUE + 1), dates.takes(DUE + 1.001)) == (
        *(True, False, True, False),
    )


# ---------------------------------------------------------------------------------------------
# The history, and similarity


def test_the_history_has_changes_only(book):
    book.assignment(rule=STEPS)
    book.team("B")
    book.handed_in("A", 0.55)
    with book.database.writing() as session:
        assert is_graded(session)
        assert [row.points for row in settle(session, book.data, "x" * 300)] == [20]
        assert settle(session, book.data, "again") == []
        step = step_above(session.query(Assignment).one(), compute(session, book.data)[book.numbers["A"], 1])
        assert (step.at_most, step.points) == (0.5, 40)
    book.handed_in("A", 0.5)
    with book.database.writing() as session:
        assert [row.points for row in settle(session, book.data, "now")] == [40]
        rows = history(session, book.numbers["A"], book.numbers["first"])
    assert [(row.points, row.because) for row in rows] == [(40, "now"), (20, "x" * 200)]


def test_likeness_is_told_up_to_a_bound_of_earlier_teams_of_students(book, monkeypatch):
    plans = {name: np.full(20, 0.5) for name in ("A", "B", "C", "House", "D")}
    plans["B"][:3] = plans["C"][:4] = 0.0  # of A's 20 games, 3 and 4 are none of theirs
    own = {name: SampledGames(np.flatnonzero(plan), plan[plan > 0]) for name, plan in plans.items()}
    storage, told = Storage(book.data), {}
    found = Likenesses(book.database, storage, None)
    for name, plan in plans.items():
        if name != "A":
            book.team(name, house=name == "House")
        monkeypatch.setattr(likeness, "sample_games", lambda *arguments, name=name: own[name])
        number = book.handed_in(name, 0.5)
        with book.database.reading() as session:
            row = session.get(Submission, number)
        told[name] = [(n, round(near, 9)) for n, near in found.compare(row, SimpleNamespace(plan=plan))]
        found._write(row, own[name])  # of the house, too, as if it had been a team of students
    with book.database.reading() as session:
        other = session.get(Submission, book.handed_in("D", 0.5, player=1))
    assert found.compare(other, SimpleNamespace(plan=plans["A"])) == []  # the strategies of the other player
    assert NEAR == 0.15
    assert told == {"A": [], "B": [(1, 0.15)], "C": [(2, round(1 / 17, 9))], "House": [], "D": [(1, 0), (2, 0), (3, 0)]}
    with book.database.reading() as session:
        pairs = [(one.submission, one.other) for one in session.query(Likeness).order_by(Likeness.id)]
    assert pairs == [(2, 1), (3, 2), (5, 1), (5, 2), (5, 3)]


def test_the_share_of_code_is_of_the_smaller_file():
    def code(*own):
        return Code(frozenset(own), 0.0, "")

    assert code(1, 2, 3, 4).overlap(code(3, 4)) == code(3, 4).overlap(code(1, 2, 3, 4)) == 1.0
    assert code(1, 2, 3, 4).overlap(code(4, 5)) == 0.5 and code(1).overlap(code()) == 0.0
