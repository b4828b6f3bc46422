"""What `pttt web` serves, by its arguments; until its processes would start."""

import pytest

from pttt_ooc.cli.commands import main

GAME = "mini-2x2k2-abrupt"


@pytest.fixture
def web(tmp_path, monkeypatch, capsys):
    """Runs the command; the names of the pages, the page that a browser opens and the address that is told."""
    monkeypatch.chdir(tmp_path)
    served = []
    monkeypatch.setattr("pttt_ooc.site.service.local_server.serve", lambda *given: served.append(given))

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["web", *arguments])
        if ended.value.code:
            return capsys.readouterr().err
        [(pages, _, _, page, told)] = served
        return [one.name for one in pages], page, told

    return run


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ((), (["web", "arena"], "/", "")),
        (("--no-browser",), (["web", "arena"], None, "")),
        (("--arena", "there"), (["arena"], "/arena/play", "")),
        (("--bot", "random", "--no-sandbox"), (["extreme"], "/extreme/play", "/extreme/play")),
        (("--arena", "there", "--bot", "random", "--no-sandbox"), (["arena", "extreme"], "/arena/play", "/arena/play")),
        (("uniform", "--game", GAME), (["explore"], "/explore", "")),
        (("uniform", "--explore", "--game", GAME), (["explore"], "/explore", "/explore")),
        (("uniform", "--play", "--game", GAME), (["explore"], "/play", "/play")),
        (("uniform", "--game", GAME, "--arena", "there"), (["explore", "arena"], "/explore", "")),
    ],
)
def test_the_pages_follow_from_the_arguments(web, arguments, found):
    assert web(*arguments) == found


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--explore",), "There is no solution in data"),
        (("--play", "--game", GAME), f"There is no solution of {GAME} in data"),
        (("--smbc", "nowhere"), "There is no solved match in nowhere"),
        (("--tournament", "nowhere"), "nowhere holds no tournament"),
        (("--bot", "nowhere.py", "--no-sandbox"), "nowhere.py"),
        (("--time-limit", "3"), "--time-limit is for --bot"),
        (("--profiles", "there"), "--profiles has no use"),
        (("uniform", "--player", "0"), "are for --play --terminal"),
        (("uniform", "--terminal", "--arena", "there"), "are for pages; leave out --terminal"),
        (("uniform", "--terminal", "--keypad"), "are for --play"),
        (("uniform", "uniform", "--terminal", "--play"), "against one strategy"),
        (("--terminal",), "Name a strategy to explore"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_a_sentence(web, arguments, sentence):
    told = web(*arguments)
    assert sentence in told and len(told.splitlines()) == 1
