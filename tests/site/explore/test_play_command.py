"""The command `pttt web --play`, until its processes would start."""

import re

import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.site.service import processes

GAME = "mini-2x3k2-abrupt"


@pytest.mark.parametrize(("command", "page"), [("--play", "/play"), ("--explore", "/explore")])
@pytest.mark.parametrize("browser", [True, False])
def test_the_address_of_the_page_is_printed(command, page, browser, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(processes, "look_after", lambda *_: None)
    monkeypatch.setattr(processes, "handle_signals", lambda stopping: None)
    monkeypatch.setattr(processes, "start_logging", lambda name: None)
    monkeypatch.setattr(processes, "open_browser", lambda url: None)
    option = "--browser" if browser else "--no-browser"
    with pytest.raises(SystemExit) as end:
        main(["web", command, "uniform", option, "--game", GAME, "--data", str(tmp_path)])
    assert not end.value.code
    told = capsys.readouterr().out
    address = rf"http://127\.0\.0\.1:\d+{page}"
    assert re.fullmatch(rf"{GAME} is at {address}; Ctrl-C stops it\.\n", told), told
