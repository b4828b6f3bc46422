"""The pages' words and figures, parts that change, probes, and the settings."""

import re
from dataclasses import astuple

import numpy as np
import pytest

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.caching import Cache
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.settings import CourseSettings, read_settings, settings_text
from pttt_ooc.course.data.settings import make_settings as settings_of
from pttt_ooc.course.data.standings import Standing, _ranks, leaderboard, matrix
from pttt_ooc.course.grades.gradebook import settle_if_graded
from pttt_ooc.course.strategies import figures, game_facts, submissions
from pttt_ooc.errors import PtttError
from pttt_ooc.site.shell.ranking import shade
from tests.course.server_kit import GAME, VALUE, Lab, copied, form_token, pttt, random_tensor, strategy_zip, zip_bytes


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Three teams, one of them with one player only, and a rejected file."""
    lab = Lab(tmp_path_factory.mktemp("built") / "course")
    lab.baseline()
    for seed, name in enumerate(["Team A", "Team B", "Team C"]):
        token = lab.team(name)
        for player in (0, 1)[: 1 if name == "Team C" else 2]:
            lab.submit(token, player, strategy_zip(player, seed))
        lab.run()
    lab.verdict(token, 0, zip_bytes(random_tensor(1, 1)))
    lab.close()
    return lab


@pytest.fixture
def full(built, tmp_path):
    """A copy of the course for each test."""
    lab = copied(built, tmp_path / "course")
    yield lab
    lab.close()


def test_the_leaderboard_shows_what_the_course_shows(full):
    page = full.client.get("/").text
    for words in ("Exploitability leaderboard", "Team A", "Team B", "Team C", "Uniform", "Player 0", "Player 1"):
        assert words in page
    for r in full.client.get("/api/leaderboard").json():
        for figure in r["exploitability"]:
            assert figure is None or f"{figure:.5f}" in page


@pytest.mark.slow
@pytest.mark.long_but("0")
@pytest.mark.parametrize("sort", ["0", "1", "sum"])
def test_the_leaderboard_is_sorted(full, sort):
    with full.database.reading() as session:
        found = [r.figure(sort) for r in leaderboard(session, sort)]
    known = [f for f in found if f is not None]
    assert known == sorted(known) and found[: len(known)] == known
    assert 'aria-sort="ascending"' in full.client.get(f"/?sort={sort}").text


class Row:
    """A row of the leaderboard with one figure."""

    def __init__(self, number, figure):
        self.team, self.best = type("T", (), {"id": number}), None
        self._figure = figure

    def figure(self, column):
        return self._figure


def test_ranks_share_places():
    assert _ranks([Row(1, 0.2), Row(2, 0.1), Row(3, 0.2), Row(4, None), Row(5, 0.3)], "sum") == {1: 2, 2: 1, 3: 2, 5: 4}
    assert Standing.total is not None


def rows_of(page):
    return re.findall(r'<tr><th scope="row"><a [^>]*><bdi>([^<]+)</bdi></a></th>', page)


@pytest.mark.slow
@pytest.mark.long_but("nonsense", "-2")
@pytest.mark.parametrize("by", ["team", "mean", "exploitability", "2", "-2", "nonsense"])
def test_the_matrix_is_sorted(full, by):
    with full.database.reading() as session:
        m = matrix(session)
    column = next((c for c in m.columns if str(c.team_id) == by.strip("-")), None)
    key = {
        "mean": lambda r: -m.mean(r),
        "exploitability": lambda r: r.exploitability,
        "2": lambda r: -m.value(r, column),
        "-2": lambda r: m.value(r, column),
    }.get(by, lambda r: (r.team.name == "Uniform", r.team.name))
    page = full.client.get(f"/matrix?rows={by}").text
    assert rows_of(page) == [r.team.name for r in sorted(m.rows, key=key)]
    directions = {"2": ["descending"], "-2": ["ascending"]}
    assert re.findall('aria-sort="(.*?)"', page) == directions.get(by, [])
    assert f'href="/matrix?rows={"-2" if by == "2" else "2"}&amp;' in page


@pytest.mark.slow
def test_columns_of_the_matrix_are_best_for_player_1_first(full):
    page = full.client.get("/matrix?columns=mean").text
    with full.database.reading() as session:
        m = matrix(session)
    names = [c.team.name for c in sorted(m.columns, key=m.mean)]
    places = [page.index(f">{name}</bdi></a></th>", page.index("<thead>")) for name in names]
    assert places == sorted(places)


def test_shades_go_from_one_side_to_the_other():
    assert [shade(v, 0.5, 0.5) for v in (-9, 0, 0.5, 0.54, 0.6, 1, 9)] == [-5, -5, 0, 0, 1, 5, 5]
    assert shade(1, 1, 0) == 0


@pytest.mark.slow
def test_submissions_are_listed_by_page_team_and_status(full):
    token = full.team("Team D")
    for seed in range(30):
        full.submit(token, 0, strategy_zip(0, seed))
        full.run()
    listed = full.client.get("/api/submissions?page=2").json()
    assert (listed["page"], listed["pages"], listed["total"]) == (2, 2, 38)
    assert [s["id"] for s in listed["submissions"]] == list(range(13, 0, -1))
    assert full.client.get("/api/submissions?page=99").json()["page"] == 2
    only = full.client.get("/api/submissions?team=team c&status=Rejected").json()["submissions"]
    assert [s["note"] for s in only] == ["Invalid tensor shape: found (107, 6), expected (189, 6)"]
    page = full.client.get("/submissions?of=4&status=Rejected").text
    assert "Invalid tensor shape: found (107, 6), expected (189, 6)" in page and "status accepted" not in page


@pytest.mark.slow
def test_parts_are_sent_only_when_they_have_changed(full):
    for path in ("/parts/leaderboard?sort=0", "/parts/matrix?rows=mean", "/parts/submissions?page=1"):
        part = full.client.get(path)
        again = re.search(r'hx-get="([^"]+)"', part.text)[1].replace("&amp;", "&")
        assert part.status_code == 200 and full.client.get(again).status_code == 204
        full.verdict(full.team(f"Team {path[7:10]}"), 0, strategy_zip(0, 5))
        assert full.client.get(again).status_code == 200


@pytest.mark.slow
def test_a_submissions_page_is_asked_again_until_there_is_a_verdict(full):
    number = full.submit(full.team("Team D"), 0, strategy_zip(0, 5))
    page = full.client.get(f"/submissions/{number}").text
    assert "Queued" in page and "next in the queue" in page and 'hx-trigger="every 1s"' in page
    full.run()
    page = full.client.get(f"/submissions/{number}").text
    assert "Accepted" in page and "hx-trigger" not in page and "Opening probabilities of player 0" in page


def test_places_in_the_queue(lab):
    a, b = lab.team("Team A"), lab.team("Team B")
    numbers = [lab.submit(token, 0, strategy_zip(0, i)) for i, token in enumerate((a, b, a))]
    with lab.database.writing() as session:
        session.get(Submission, numbers[0]).status = "Evaluating"
    places = [lab.client.get(f"/api/submissions/{n}").json()["position"] for n in numbers]
    assert places == [0, 1, 2]


def submission(number, player, figure, at):
    return Submission(id=number, player=player, exploitability=figure, finished_at=at)


@pytest.mark.parametrize(
    "history",
    [
        [(0, 0.5, 1000.0)],
        [(0, 0.5, 1000.0), (1, 0.4, 1000.0)],
        [(0, 0.5, 1000.0), (0, 0.05, 5000.0), (0, 1e-9, 90000.0), (1, -1e-8, 3e6)],
        [(1, 1e-5, 1000.0), (1, 0.99e-5, 1001.0)],
    ],
)
def test_charts_keep_within_their_box(history):
    both = figures.charts([submission(n, *facts) for n, facts in enumerate(history)], now=4e6)
    assert [made.width for made in both] == [figures.WIDE[0], figures.NARROW[0]]
    for made in both:
        points = [point for line in made.lines for point in line.points]
        assert all(made.left <= x <= made.width and 0 <= y <= made.bottom for x, y in points)
        places = sorted(tick.at for tick in made.across)
        assert len(places) >= 2 and places[0] >= 0 and places[-1] <= made.bottom
        assert all(b - a >= 16 for a, b in zip(places, places[1:], strict=False)), "labels overlap"
        for line in made.lines:
            assert [y for _, y in line.points] == sorted(y for _, y in line.points)  # down the page, as it gets better
            assert line.path.count("V") == len(line.points) - 1
    assert figures.charts([], 0) is None


@pytest.mark.parametrize("figure", [1.5, 0.5, 0.3123, 1e-3, 3.3e-5, 1e-6, 0.0, -2e-7])
def test_charts_of_one_value_keep_their_labels_apart(figure):
    test_charts_keep_within_their_box([(0, figure, 1000.0)])


def test_a_figure_of_zero_is_at_the_end_of_the_scale():
    for made in figures.charts([submission(1, 0, 0.0, 1000.0)], 2000.0):
        assert made.lines[0].points[0][1] == made.across[0].at == made.bottom and made.across[0].label == "≤1e-12"


def test_charts_tell_their_figures_to_those_who_hear_the_page():
    history = [submission(1, 0, 0.5, 1000.0), submission(2, 0, 0.25, 2000.0), submission(3, 1, 0.125, 3000.0)]
    spoken = [line.spoken for line in figures.charts(history, 4000.0)[0].lines]
    assert spoken == ["Player 0: from 0.50000 to 0.25000 in 2 steps.", "Player 1: 0.12500."]


# ---------------------------------------------------------------------------------------------
# Numbers have the digits that are known


@pytest.mark.parametrize(
    "bounds, words, half",
    [
        ((-1.0, -1.0), "is −1", ""),
        ((0.0, 0.0), "is 0", ""),
        ((0.25, 0.25), "is 0.25", ""),
        ((1 / 3, 1 / 3 + 1e-12), "is 0.333333333 to nine decimals", ""),
        ((0.7647056, 0.764706), "lies in [0.76470560, 0.76470600]", "2e-7"),
        ((0.55, 0.56), "lies in [0.550, 0.560]", "0.005"),
        ((-1.0, 1.0), "lies in [−1.0, 1.0]", "1"),
        ((0.55015, 0.55028), "lies in [0.55015, 0.55028]", "7e-5"),
    ],
)
def test_the_value_is_told_as_far_as_it_is_known(bounds, words, half):
    assert (figures.known_value(bounds), figures.uncertainty(bounds)) == (words, half)


def test_a_figure_has_the_decimals_that_are_known():
    told = figures.exploitability_with_error
    assert told(0.38880123, (-1.0, -1.0)) == told(0.38880123, None) == "0.3888012"
    assert told(6.6e-9, (-1.0, -1.0)) == "6.6e-9" and told(-1e-16, None) == "<1e-12"
    assert told(0.38880123, (0.7647056, 0.764706)) == "0.3888012 ± 2e-7"
    assert told(0.38880123, (0.55015, 0.55028)) == "0.38880 ± 7e-5"
    assert told(0.38880123, (-1.0, 1.0)) == "0.4 ± 1"
    assert told(-3e-5, (0.55015, 0.55028)) == "0.00000 ± 7e-5"  # no error bar makes it negative


def test_a_column_has_the_digits_that_tell_ranks_apart():
    shown = {1: 0.2, 2: 0.123451, 3: 0.1234534, 4: 6.6e-9, 5: -1e-16, 6: 1e-8, 7: 5.00e-5, 8: 5.02e-5}
    ranks = {1: 8, 2: 6, 3: 7, 4: 1, 5: 1, 6: 1, 7: 4, 8: 5}
    assert figures.column_of(shown, ranks, (0.5, 0.5)) == {
        **{1: "0.20000", 2: "0.123451", 3: "0.123453", 4: "6.6e-9", 5: "<1e-12", 6: "1.0e-8"},
        **{7: "0.0000500", 8: "0.0000502"},
    }
    assert figures.column_of({1: -1e-5, 2: 2e-5}, {1: 1, 2: 2}, (0.55, 0.5501)) == {1: "0.00000", 2: "0.00002"}


def test_teams_within_the_tolerance_share_a_rank():
    """Noise ranks nobody: the figures of exact strategies differ by rounding, their own or that of their files."""
    exact = [Row(1, 3e-16), Row(2, -2e-16), Row(3, 8.6e-9), Row(4, 0.99e-7), Row(5, 2.5e-7), Row(6, 3.4e-7)]
    assert _ranks(exact, "sum") == {1: 1, 2: 1, 3: 1, 4: 1, 5: 5, 6: 5}
    assert _ranks([Row(1, 0.2), Row(2, 0.2 + 0.9e-7), Row(3, 0.2 + 1.8e-7)], "sum") == {1: 1, 2: 1, 3: 3}


def test_rounding_improves_nothing():
    assert standings.beats(0.1, None) and standings.beats(0.1 - 1e-9, 0.1) and standings.beats(3e-16, 6.6e-9)
    assert not standings.beats(1e-16, 3e-16) and not standings.beats(0.1, 0.1) and not standings.beats(None, 0.1)


def test_an_exact_value_is_not_an_interval(tmp_path):
    lab = Lab(tmp_path / "g", game_value=(-1.0, -1.0))
    game_facts.find_value(lab.settings, lab.database, lab.storage, 1, settle_if_graded)
    for path in ("/", "/about"):
        page = lab.client.get(path).text
        assert "is −1" in page and "lies in" not in page and "±" not in page
    lab.close()


# ---------------------------------------------------------------------------------------------
# What pages say


@pytest.mark.slow
def test_every_page_names_the_game(full):
    number = full.submit(full.tokens["Team A"], 1, strategy_zip(1, 33))
    paths = ["/", "/matrix", "/submissions", f"/submissions/{number}", "/teams/2", "/about", "/sign-in", "/api/docs"]
    for path in (*paths, "/nothing", "/teams/99"):
        assert f"<code>{GAME}</code>" in full.client.get(path).text.split("<main")[0], path


@pytest.mark.slow
def test_a_team_without_a_sum_is_told_why(full):
    page = full.client.get("/").text
    assert "needs an accepted strategy for each player" in page
    full.verdict(full.tokens["Team C"], 1, strategy_zip(1, 9))
    assert "needs an accepted strategy for each player" not in full.client.get("/").text


def test_titles_tell_pages_apart(full):
    import re

    def title(path):
        return re.search("<title>(.*) · Phantom", full.client.get(path).text)[1]

    paths = ["/", "/matrix", "/submissions", "/submissions?of=2", "/submissions?of=2&status=Rejected", "/submissions/1"]
    paths += ["/teams/2", "/about", "/sign-in", "/api/docs"]
    assert len({title(path) for path in paths}) == len(paths)
    assert title("/nothing") == "Not found"
    assert full.client.get("/submissions?of=99").status_code == 404


@pytest.mark.slow
def test_submissions_are_filtered_by_status_with_links(full):
    import html
    import re

    page = full.client.get("/submissions?of=4").text
    links = dict(
        (b, html.unescape(a)) for a, b in re.findall(r'<a href="(/submissions\?[^"]*status=[^"]*)">(\w+)</a>', page)
    )
    assert list(links) == ["Queued", "Validating", "Evaluating", "Accepted", "Rejected"]
    found = full.client.get(links["Rejected"]).text
    assert "Invalid tensor shape" in found and "status accepted" not in found
    assert re.search(r'status=Rejected" aria-current="true">', found) and 'href="/submissions?of=4">any' in found
    assert "There are none of these" in full.client.get(links["Queued"]).text
    for path in ("/submissions?status=nonsense", "/parts/submissions?status=queued", "/submissions?status="):
        refused = full.client.get(path)
        assert refused.status_code == 400 and "There is no status" in refused.text


@pytest.mark.slow
def test_what_a_team_may_still_submit_is_shown(tmp_path):
    import re

    lab = Lab(tmp_path / "g", submissions_per_hour=2, waiting_per_team=2)
    lab.sign_in(lab.team("Team A"))

    def left():
        page = lab.client.get("/submissions").text
        return list(map(int, re.findall(r"<strong>(\d+)</strong> of \d+ (?:sub|pla)", page))), page

    def upload(seed):
        form = {"form_token": (None, form_token(lab.client.get("/submissions").text)), "player": (None, "0")}
        files = {**form, "file": ("a.zip", strategy_zip(0, seed))}
        return lab.client.post("/submissions", files=files, headers={"HX-Request": "true"}).text

    assert left()[0] == [2, 2] and "1 of 2 submissions an hour are left" in upload(1)
    part = re.search(r'hx-get="([^"]+)"', left()[1])[1].replace("&amp;", "&")
    assert left()[0] == [1, 1] and lab.client.get(part).status_code == 204
    assert "0 of 2 submissions an hour are left" in upload(2) and left()[0] == [0, 0]
    assert lab.client.get(part).status_code == 200 and "the next one can be made in 60 min" in left()[1]
    lab.run()
    assert left()[0] == [0, 2]
    part = re.search(r'hx-get="([^"]+)"', left()[1])[1].replace("&amp;", "&")
    with lab.database.writing() as session:  # an hour later they count no more
        for submission in session.query(Submission):
            submission.received_at -= 3601
    assert left()[0] == [2, 2] and lab.client.get(part).status_code == 200
    lab.client.cookies.clear()
    assert left()[0] == []
    lab.close()


# ---------------------------------------------------------------------------------------------
# Probes


@pytest.mark.slow
def test_metrics_are_in_prometheus_format(full):
    from prometheus_client.parser import text_string_to_metric_families

    full.client.get("/submissions/1")
    found = {}
    for family in text_string_to_metric_families(full.client.get("/metrics").text):
        for sample in family.samples:
            found[sample.name, *sorted(sample.labels.items())] = sample.value
    assert found["pttt_submissions", ("status", "Accepted")] == 7
    assert found["pttt_submissions", ("status", "Rejected")] == 1
    assert found["pttt_teams",] == 4 and found["pttt_evaluation_seconds_count",] == 7
    route = (("method", "GET"), ("route", "/submissions/{number}"), ("status", "200"))
    assert found["pttt_http_requests_total", *route] == 1


# ---------------------------------------------------------------------------------------------
# Settings and the value of the game


def test_settings_are_written_and_read(tmp_path):
    made = settings_of(tmp_path, GAME)
    assert read_settings(tmp_path) == made == settings_of(tmp_path) == CourseSettings(game=GAME)
    with pytest.raises(PtttError, match=f"is for {GAME}, not for pttt-classical"):
        settings_of(tmp_path, "pttt-classical")


@pytest.mark.parametrize(
    "line, words",
    [
        ("game: chess", "game is 'chess'"),
        ("gaem: x", "there is no key gaem"),
        ("submissions_per_hour: 0", "submissions_per_hour is 0"),
        ("waiting_per_team: many", "waiting_per_team"),
        ("game_value: [1, 0]", "game_value"),
        ("game_value: 0.5", "game_value"),
        ("database_url: nonsense", "SQLAlchemy URL"),
        ("max_upload_mb: -1", "max_upload_mb"),
        ("title: ''", "title"),
        ("a: [", "cannot be read"),
        ("- 1", "no keys"),
    ],
)
def test_wrong_settings_are_told(tmp_path, line, words):
    (tmp_path / "settings.yaml").write_text(line)
    with pytest.raises(PtttError, match="settings.yaml") as told:
        read_settings(tmp_path)
    assert words in str(told.value) and "\n" not in str(told.value)


def test_every_setting_is_explained():
    text = settings_text(CourseSettings())
    assert all(
        f"\n{name}: " in text and field.description in text for name, field in CourseSettings.model_fields.items()
    )


@pytest.mark.parametrize("name", ["pttt-abrupt", "pttt-classical", GAME])
def test_shapes_of_tensors(name):
    expected = {"pttt-abrupt": (14482810, 8827459), "pttt-classical": (3683314, 2307355), GAME: (189, 107)}
    assert CourseSettings(game=name).infosets == expected[name]


@pytest.mark.long
def test_the_value_of_a_big_game_is_not_invented():
    with pytest.raises(PtttError, match="write it into settings.yaml as game_value"):
        game_facts.check_value_is_known(CourseSettings(game="pttt-2x4k3-abrupt-after-0"))
    assert game_facts.told_value(CourseSettings(game="pttt-2x5k3-abrupt", game_value=(0.7, 0.8))).interval == (0.7, 0.8)
    course = game_facts.told_value(CourseSettings(game="pttt-abrupt"))
    assert 0.5501 < course.interval[0] < course.interval[1] < 0.5503


@pytest.mark.slow
def test_the_value_of_a_small_game_is_found_by_solving(tmp_path):
    lab = Lab(tmp_path / "g", game="mini-2x3k3-abrupt-after-1-4", game_value=None)  # of no certificate
    assert "getting ready" in lab.client.get("/").text
    found = game_facts.find_value(lab.settings, lab.database, lab.storage, 1, settle_if_graded)
    assert -1 < found.interval[0] < found.interval[1] < found.interval[0] + 2e-6
    assert (
        game_facts.stored_value(lab.database)
        == found
        == game_facts.find_value(lab.settings, lab.database, lab.storage, 1, settle_if_graded)
    )
    assert "course&#39;s own solution" in lab.client.get("/about").text
    lab.close()


def test_the_value_of_a_small_game_is_known_where_it_is_proven():
    interval, source = astuple(game_facts.told_value(CourseSettings(game=GAME)))
    assert interval == pytest.approx([13 / 17, 13 / 17]) and source == "as a certificate of this package proves"


@pytest.mark.slow
def test_another_value_puts_all_figures_right(full):
    game_facts.find_value(full.settings, full.database, full.storage, 1, settle_if_graded)
    before = full.client.get("/api/history").json()
    shifted = CourseSettings(game=GAME, game_value=(VALUE[0] + 0.1, VALUE[1] + 0.1))
    game_facts.find_value(shifted, full.database, full.storage, 1, settle_if_graded)
    for old, new in zip(before, full.client.get("/api/history").json(), strict=True):
        shift = 0.1 if old["player"] == 0 else -0.1
        assert new["exploitability"] == pytest.approx(old["exploitability"] + shift, abs=1e-12)


def test_a_database_is_for_one_game(tmp_path):
    lab = Lab(tmp_path / "g")
    lab.close()
    with pytest.raises(PtttError, match="is for mini-2x3k2-abrupt, not for mini-2x3k2-classical"):
        Lab(tmp_path / "g", game="mini-2x3k2-classical")


def test_opacities():
    assert figures.opacity(0.5, 0.5) == "0.750" and figures.opacity(0, 0) == "0" and np.isfinite(VALUE[0])


# ---------------------------------------------------------------------------------------------
# Caching


def test_what_is_fresh_is_not_made_again_and_what_is_stale_is_made_behind():
    import threading

    state, made, gate = {"revision": "1"}, [], threading.Event()

    def make():
        gate.wait()
        made.append(state["revision"])
        return {"revision": state["revision"]}

    def get(cache):
        return cache.get("key", lambda: state["revision"], make)["revision"]

    gate.set()
    cache = Cache(fresh=60, stale=60)
    assert cache.peek("key") is None and get(cache) == "1" and cache.peek("key")["revision"] == "1"
    state["revision"] = "2"
    assert get(cache) == "1" and made == ["1"]
    checking = Cache(fresh=0, stale=0)
    assert get(checking) == "2" and get(checking) == "2" and made == ["1", "2"]
    behind = Cache(fresh=0, stale=60)
    assert get(behind) == "2"
    state["revision"] = "3"
    gate.clear()
    assert [get(behind) for _ in range(20)] == ["2"] * 20
    gate.set()
    for thread in threading.enumerate():
        if thread.daemon and thread._target == behind._renew_behind:
            thread.join()
    assert get(behind) == "3" and made.count("3") == 1


def test_the_cache_keeps_just_the_present_revision():
    cache, made = Cache(fresh=60, stale=60), []

    def make():
        made.append(1)
        return {"made": len(made)}

    assert [cache.current("key", revision, make)["made"] for revision in ("1", "1", "2", "2", "1")] == [1, 1, 2, 2, 3]


def test_pages_of_visitors_show_each_change_at_once(lab):
    """Though what visitors see is made once: verdicts, names, rulings, and what is opened for play."""
    lab.course.cache = Cache()
    lab.baseline()
    token = lab.team("Team A")
    assert "There are no" not in lab.client.get("/submissions").text and lab.client.get("/teams/2").status_code == 200
    number = lab.submit(token, 0, strategy_zip(0, 1))
    assert "1</strong> waiting" in (page := lab.client.get("/submissions").text)
    assert page == lab.client.get("/submissions").text
    lab.run()
    rows = {row["team"]: row["submissions"] for row in lab.client.get("/api/leaderboard").json()}
    assert rows["Team A"] == [number, None]
    assert "Nobody is waiting" in lab.client.get("/submissions").text
    assert f"/submissions/{number}" in lab.client.get("/teams/2").text
    assert "Open for play" not in lab.client.get("/teams/2").text
    submissions.open_to_play(lab.database, number, True)
    assert "Open for play" in lab.client.get("/teams/2").text
    assert pttt("course", "rule", "strategies", number, "hidden", "--reason", "x", "--data", lab.data).returncode == 0
    assert f'id="s{number}"' not in lab.client.get("/submissions").text
    assert "nothing accepted yet" in lab.client.get("/teams/2").text
    lab.sign_in(token)
    assert f'id="s{number}"' in lab.client.get("/submissions").text


def test_the_cache_does_not_grow_without_bound():
    cache = Cache()
    for n in range(1000):
        cache.get(n, lambda: "1", dict)
    assert len(cache._entries) <= 64
