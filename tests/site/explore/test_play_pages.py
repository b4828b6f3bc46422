"""The pages on which people play: answers, and attacks that reveal and change nothing."""

import random
import re

import pytest

from pttt_ooc.disk.numbers import decimals
from pttt_ooc.games.rules.catalogue import EXACT_VALUES
from pttt_ooc.games.rules.play import replay
from pttt_ooc.site.play.owners import PLAYER
from tests.site.explore.play_kit import Browser, Uniform, application, make_games, rows


def play_out(browser, id, choose=min):
    """Attempt squares as the page offers them until the game is over; returns how many the player has made."""
    made = 0
    while found := re.search(r'data-made="(\d+)"', page := browser.get(f"/play/{id}").text):
        made = int(found[1])
        free = [int(square) for square in re.findall(r'class="cell free" name="square" value="(\d)"', page)]
        answer = browser.post(f"/play/{id}/attempts", made=str(made), square=str(choose(free)))
        assert (answer.status_code, answer.headers["location"]) == (303, f"/play/{id}")
        made += 1
    return made


def test_a_game_is_played_and_reviewed_without_scripts(games, app):
    me = Browser(app)
    assert "Your results" not in me.get("/play").text
    id = me.begin(player=1)
    assert f'href="/play/{id}"' in me.get("/play").text
    made = play_out(me, id)
    page = me.get(f"/play/{id}").text
    result = re.search(r"You have (won|lost)\.|A draw", page)
    assert result and "The true board" in page and "in expected payoff together" in page
    [row] = rows(games)
    attempts = len(row[7])
    for step in range(attempts + 1):
        shown = me.get(f"/play/{id}?step={step}").text
        assert ("What could be believed" in shown) == (step < attempts and step % 2 == 1)
    again = me.get(f"/play/{id}?step={attempts}").text.replace(f"step={attempts}&amp;", "")  # in the page's own address
    assert again == page and made in (attempts // 2, (attempts + 1) // 2)
    middle = me.get(f"/play/{id}?step=1").text
    steps = re.findall(r'<a href="/play/[^"?]*\?step=(\d+)"[^>]* rel="(\w+)"', middle)
    assert dict(map(reversed, steps)) == {"first": "0", "prev": "0", "next": "2", "last": str(attempts)}
    lost = {int(n): float(loss) for n, loss in re.findall(r'aria-label="Attempt (\d+)".*?figure">([\d.]+)<', page)}
    worst = re.search(r'\?step=(\d+)"[^>]*>The worst: attempt (\d+)<', page)
    assert int(worst[2]) == int(worst[1]) + 1 and lost[int(worst[2])] == max(lost.values()) > 0
    result = {"won": 1, "lost": -1, None: 0}[result[1]]
    points = [float(one.split()[1]) for one in re.search(r'class="chance" d="M([^"]*)"', page)[1].split("L")]
    assert points == [50.0] * made + [100 - 100 * result]  # 0.5 before each attempt, and the result
    beyond = me.get(f"/play/{id}?step={attempts + 1}")
    assert beyond.status_code == 404 and f"step {attempts + 1} is not one of them" in beyond.text
    assert "Your results" in me.get("/play").text


def test_play_begins_with_a_board_and_the_first_click_attempts_a_square(games, app):
    me = Browser(app)
    page = me.get("/play").text
    assert page.index('class="grid') < page.index("<legend>Against") < page.index("Neither player sees")
    squares = re.findall(r'class="cell free" name="square" value="(\d)"', page)
    chosen = {
        "opponent": r'name="opponent" value="([^"]*)"[^>]*checked',
        "player": r'name="player" value="(\d)" checked',
    }
    fields = {name: re.search(pattern, page)[1] for name, pattern in chosen.items()}  # without choosing anything
    assert squares == [str(square) for square in range(games.game.squares)] and 'role="status">Choose a square' in page
    answer = me.post("/play", square="4", **fields)
    assert answer.status_code == 303
    page = me.get(answer.headers["location"]).text
    assert 'data-made="1"' in page and "Square 4: placed." in page
    second = me.post("/play", square="4", opponent="uniform", player="1")  # after the opponent's first attempt
    page = me.get(second.headers["location"]).text
    assert 'data-made="1"' in page and re.search(r"Square 4: (placed|failed)", page)
    for square in ("9", "x", ""):  # no square of the board: the game has begun nevertheless
        page = me.get(me.post("/play", square=square, **fields).headers["location"]).text
        assert 'data-made="0"' in page and "Choose a square." in page and "No attempts yet" not in page


def test_a_finished_game_tells_what_perfect_play_averages(games, app):
    me, value = Browser(app), float(EXACT_VALUES[games.game.name])
    for player, mine in ((0, value), (1, -value)):
        id = me.begin(player=player)
        play_out(me, id)
        told = f"would average {decimals(mine, 3)} against a perfect opponent."
        assert told in me.get(f"/play/{id}").text
        assert me.get(f"/api/play/{id}/review").json()["perfect"] == pytest.approx(mine)


def test_an_htmx_request_gets_the_table_only(app):
    me = Browser(app)
    id = me.begin()
    token = me.token()
    fields = {"form_token": token, "made": "0", "square": "0"}
    answer = me.client.post(f"/play/{id}/attempts", data=fields, headers={"HX-Request": "true"})
    assert answer.status_code == 200 and answer.text.lstrip().startswith('<div id="table"')
    again = me.client.post(f"/play/{id}/attempts", data=fields, headers={"HX-Request": "true"})
    assert again.status_code == 409
    assert again.headers["HX-Retarget"] == "#table"
    late = "Attempt 1 of this game has been made already; nothing has changed. This is the game as it is now."
    assert again.text.startswith(answer.text.rstrip()) and late in again.text.removeprefix(answer.text.rstrip())
    del fields["form_token"]
    whole = me.post(f"/play/{id}/attempts", **fields)  # without scripts
    assert whole.status_code == 409 and 'data-made="1"' in whole.text and late in whole.text
    resigned = me.client.post(f"/play/{id}/resignation", data={"form_token": token, "made": "0"})
    assert resigned.status_code == 409 and 'data-made="1"' in resigned.text


def test_games_of_others_are_hidden(app):
    me, other = Browser(app), Browser(app)
    id = me.begin()
    other.begin()
    for stranger in (other, Browser(app)):
        assert stranger.get(f"/play/{id}").status_code == 404
        assert stranger.post(f"/play/{id}/attempts", made="0", square="0").status_code == 404
        assert stranger.post(f"/play/{id}/resignation", made="0").status_code == 404
        assert id not in stranger.get("/play").text


def test_a_shared_game_is_seen_without_the_cookie_until_it_is_shared_no_more(games, app):
    me, other = Browser(app), Browser(app)
    id = me.begin(player=1)
    link = f"/play/{id}/shared"
    assert me.post(f"/play/{id}/share").status_code == 409  # it goes on
    assert me.get(link).status_code == other.get(link).status_code == 404
    play_out(me, id)
    assert other.get(link).status_code == 404 and other.post(f"/play/{id}/share").status_code == 404
    assert me.post(f"/play/{id}/share").headers["location"] == f"/play/{id}"
    own = me.get(f"/play/{id}").text
    assert f'href="{link}"' in own and "Stop sharing" in own
    for step in ("", "?step=1"):
        seen, mine = other.get(link + step), me.get(f"/play/{id}" + step).text
        assert seen.status_code == 200 and PLAYER not in other.client.cookies
        main = seen.text.partition("<main")[2]
        assert not re.search(r"\b[Yy]ours?\b|\b[Yy]ou\b", re.sub("<[^>]*>", "", main)) and '/share"' not in main
        assert 'name="player"' not in main and 'name="opponent"' not in main
        values = re.findall(r'class="figure">([^<]*)<', mine)
        assert re.findall(r'class="figure">([^<]*)<', main) == values != []
    assert other.get(f"/play/{id}").status_code == 404  # the game itself stays its owner's
    assert other.post(f"/play/{id}/share", stop="1").status_code == 404
    games.opponents.opponents = []  # closed by now: the attempts are shown, and no values
    closed = other.get(link + "?step=1").text
    assert "can no longer be played against" in closed and "The true board" in closed
    assert "What could be believed" not in closed and not re.search(r'class="figure">[^<]', closed)
    assert me.post(f"/play/{id}/share", stop="1").status_code == 303
    assert other.get(link).status_code == me.get(link).status_code == 404


def test_pencil_marks_are_kept_by_the_server_and_change_nothing_else(games, app):
    me, other = Browser(app), Browser(app)
    id = me.begin()
    plain = me.get(f"/play/{id}").text
    mode = me.get(f"/play/{id}?pencil=1").text
    assert f'action="/play/{id}/pencil"' in mode and "Attempt squares" in mode and 'class="pencilled"' not in mode
    assert me.post(f"/play/{id}/pencil", made="0", square="3").headers["location"] == f"/play/{id}?pencil=1"
    me.post(f"/play/{id}/pencil", made="0", square="1")
    page = me.get(f"/play/{id}").text
    assert re.findall(r'aria-label="Square (\d), not attempted, pencil mark"', page) == ["1", "3"]
    assert len(re.findall(r'class="pencilled">○', page)) == 2
    part = me.client.post(
        f"/play/{id}/pencil",
        data={"form_token": me.token(), "made": "0", "square": "1"},
        headers={"HX-Request": "true"},
    )
    assert "Attempt squares" in part.text and part.text.count("pencilled") == 1  # still in the mode
    for fields, status in (
        ({"made": "1", "square": "0"}, 409),
        ({"made": "0", "square": "9"}, 400),
        ({"made": "0"}, 400),
    ):
        assert me.post(f"/play/{id}/pencil", **fields).status_code == status
    assert other.post(f"/play/{id}/pencil", made="0", square="0").status_code == 404
    me.post(f"/play/{id}/pencil", made="0", square="3")
    assert me.get(f"/play/{id}").text == plain
    me.post(f"/play/{id}/pencil", made="0", square="3")
    me.post(f"/play/{id}/attempts", made="0", square="3")  # what is known now needs no mark
    assert 'class="pencilled"' not in me.get(f"/play/{id}").text and len(rows(games)) == 1


def test_a_hint_is_shown_at_its_infoset_and_the_game_is_in_no_record(games, app):
    me = Browser(app)
    id = me.begin()
    assert me.post(f"/play/{id}/hints", made="1").status_code == 409
    assert me.post(f"/play/{id}/hints", made="0").status_code == 303
    page = me.get(f"/play/{id}").text
    assert page.count('<span class="p">0.250</span>') == 6 and '<span class="badge">hints</span>' in page
    me.post(f"/play/{id}/attempts", made="0", square="0")
    page = me.get(f"/play/{id}").text
    assert 'class="p"' not in page and '<span class="badge">hints</span>' in page
    play_out(me, id)
    lobby = me.get("/play").text
    assert "in no record" in lobby and "Your results" not in lobby
    assert "Your record" not in me.get(f"/play/{id}").text
    other = me.begin()
    play_out(me, other)
    assert "Your results" in me.get("/play").text
    assert "Your record as player 0 × against Uniform: 1 game, mean" in me.get(f"/play/{other}").text
    third = me.begin()
    games.opponents.opponents = []  # closed
    assert me.post(f"/play/{third}/hints", made="0").status_code == 409
    assert me.get(f"/play/{third}").status_code == 200


def test_a_game_is_played_on_from_what_could_be_believed_and_not_from_the_truth(games, app):
    me, other = Browser(app), Browser(app)
    id = me.begin(player=1)
    play_out(me, id)
    [row] = rows(games)
    step = 3 if len(row[7]) > 3 else 1
    page = me.get(f"/play/{id}?step={step}").text
    assert f'name="step" value="{step}">Play on from here' in page
    assert "Play on from here" not in me.get(f"/play/{id}?step=0").text  # the opponent's
    before = replay(games.game, [int(square) for square in row[7][:step]])
    seen = set()
    for _ in range(12):
        answer = me.post(f"/play/{id}/continuations", step=str(step))
        assert answer.status_code == 303
        new = answer.headers["location"].rpartition("/")[2]
        [made] = [one for one in rows(games) if one[0] == new]
        history = replay(games.game, [int(square) for square in made[7]])
        assert history.infoset(1) == before.infoset(1) and history.player == 1
        seen.add(history.infoset(0))
        page = me.get(f"/play/{new}").text
        assert f"played on from attempt {step + 1}" in page
        me.post(f"/play/{new}/resignation", made=re.search(r'data-made="(\d+)"', page)[1])
    assert len(seen) > 1 and seen != {before.infoset(0)}
    assert me.get("/play").text.count("in no record") == 12
    for fields, status in (({"step": "0"}, 400), ({"step": "2"}, 400), ({"step": "99"}, 400), ({}, 400)):
        assert me.post(f"/play/{id}/continuations", **fields).status_code == status
    assert other.post(f"/play/{id}/continuations", step=str(step)).status_code == 404
    open_one = me.begin(player=1)
    assert me.post(f"/play/{open_one}/continuations", step="1").status_code == 409
    games.opponents.opponents = []
    assert "Play on from here" not in me.get(f"/play/{id}?step={step}").text
    refused = me.post(f"/play/{id}/continuations", step=str(step))
    assert refused.status_code == 409 and f"Before attempt {step + 1} of" in refused.text
    assert 'role="alert"><p class="bad">This opponent can no longer be played against' in refused.text


def test_the_cookie_is_secret_and_kept_as_a_hash_only(games, app):
    me = Browser(app)
    assert PLAYER not in me.client.cookies  # who only looks gets none
    answer = me.post("/play", opponent="uniform", player="0")
    cookie = answer.cookies[PLAYER]
    assert len(cookie) == 43 and cookie not in str(rows(games))
    said = answer.headers["set-cookie"]
    assert all(word in said for word in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=31536000"))
    assert me.get(answer.headers["location"]).status_code == 200
    for wrong in (cookie[:-1], cookie[:-1] + ("A" if cookie[-1] != "A" else "B"), "", "x" * 5000):
        stranger = Browser(app)
        stranger.client.cookies.set(PLAYER, wrong)
        assert stranger.get(answer.headers["location"]).status_code == 404


@pytest.mark.long_but("0-mini-2x3k2-classical")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "mini-2x3k2-classical"])
@pytest.mark.parametrize("player", [0, 1])
def test_pages_reveal_only_the_infoset(in_memory, name, player):
    """Whatever the opponent has done, the page is the same byte for byte if the player's infoset is."""
    games = make_games(in_memory, Uniform(name), seed=7)
    me, pages, hidden = Browser(application(games)), {}, {}
    for _ in range(24):
        id, made = me.begin(player=player), 0
        while True:
            page = me.get(f"/play/{id}")
            if 'data-made="' not in page.text:
                break
            [row] = [row for row in rows(games) if row[0] == id]
            history = replay(games.game, [int(square) for square in row[7]])
            shown = {k: v for k, v in page.headers.items() if k not in ("set-cookie", "content-length")}  # compressed
            told = page.text.replace(id, "ID"), shown
            infoset = history.infoset(player)
            assert pages.setdefault(infoset, told) == told
            hidden.setdefault(infoset, set()).add(history.infoset(1 - player))
            stepped = me.get(f"/play/{id}?step={made}").text.replace(f"step={made}&amp;", "")  # its own address
            assert stepped.replace(id, "ID") == told[0]
            me.post(f"/play/{id}/attempts", made=str(made), square=str(history.legal()[0]))
            made += 1
        me.post(f"/play/{id}/resignation", made=str(made))
    assert max(map(len, hidden.values())) > 3  # there was something to tell
    games.close()


@pytest.mark.long
def test_hundreds_of_hostile_requests_change_nothing(games, app):
    """Forged, replayed, out of turn, of others, of other sites, malformed: the table stays as it is."""
    rng = random.Random(4)
    me, other = Browser(app), Browser(app)
    mine = [me.begin(player=n % 2) for n in range(4)]
    for id in mine[:3]:
        me.post(f"/play/{id}/attempts", made="0", square="0")
    play_out(me, mine[0])
    others = other.begin()
    token, foreign = me.token(), other.token()
    before = rows(games)
    made = {row[0]: sum(1 for _ in games.seat(row[1], row[0]).attempts) for row in before}
    owner, paths = next(row[1] for row in before if row[0] == mine[0]), ("attempts", "resignation")

    def hostile():
        kind, headers, id = rng.randrange(8), {}, rng.choice(mine)
        fields = {"form_token": token, "made": str(made[id]), "square": str(rng.randrange(6))}
        if kind == 0:  # replayed
            fields["made"] = str(rng.randrange(made[id])) if made[id] else "1"
        elif kind == 1:  # ahead of its turn
            fields["made"] = str(made[id] + rng.randrange(1, 9))
        elif kind == 2:  # another's game
            id = rng.choice([others, others[::-1], "A" * 22, "../play", "%00", "' OR 1=1 --"])
        elif kind == 3:  # a form of nobody's, or of another browser's
            fields["form_token"] = rng.choice(["", foreign, token[:-1], token + "0", "é"])
        elif kind == 4:  # another site's
            headers = rng.choice([{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
        elif kind == 5:  # no square, and none that is left
            squares = [str(square) for square, _ in games.seat(owner, id).attempts]
            fields["square"] = rng.choice(["-1", "6", "99", "", "x", "1e0", "0x1", "٣", "0" * 500, *squares])
        elif kind == 6:  # no number
            fields["made"] = rng.choice(["", "-1", "x", "1.0", "²", "9" * 400])
        else:  # a game that is over
            id = mine[0]
        path = f"/play/{id}/{'attempts' if kind == 5 else rng.choice(paths)}"
        headers["HX-Request"] = "true"
        method = rng.choice(["POST"] * 6 + ["PUT", "GET", "DELETE"])
        return me.client.request(method, path, data=fields, headers=headers)

    counts = {}
    for _ in range(250):
        answer = hostile()
        counts[answer.status_code] = counts.get(answer.status_code, 0) + 1
        assert 400 <= answer.status_code < 500, answer.text
        assert len(re.findall(r'<p class="bad">', answer.text)) <= 1 and "Traceback" not in answer.text
    assert rows(games) == before
    assert {400, 403, 404, 405, 409} <= set(counts), counts
    answer = me.post(f"/play/{mine[3]}/attempts", made=str(made[mine[3]]), square="0")  # the honest one still counts
    assert answer.status_code == 303 and rows(games) != before


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({"opponent": "uniform"}, 400, "Choose whom you play"),
        ({"opponent": "uniform", "player": "2"}, 400, "Choose whom you play"),
        ({"opponent": "nobody", "player": "0"}, 404, "There is no such opponent"),
        ({"player": "0"}, 404, "There is no such opponent"),
    ],
)
def test_a_game_that_cannot_begin_gets_a_sentence(games, app, fields, status, told):
    answer = Browser(app).post("/play", **fields)
    assert answer.status_code == status and re.search(rf'role="alert">{told}', answer.text) and rows(games) == []


def test_a_refused_form_keeps_what_was_typed(app):
    answer = Browser(app).post("/play", opponent="other", player="5")
    assert 'value="other" data-sides="0 1" checked' in answer.text and answer.text.count(" checked>") == 1
    answer = Browser(app).post("/play", opponent="nobody", player="1")
    assert 'name="player" value="1" checked' in answer.text and answer.text.count(" checked>") == 1
