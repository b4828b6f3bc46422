"""Shared by the tests of the arena's pages: the application, with an answerer in a thread of this process."""

import threading
from contextlib import contextmanager

from pttt_ooc.other_games.arena.pages.game_service import answerer
from pttt_ooc.other_games.arena.pages.part import part_of
from pttt_ooc.site.service.answerer import answer_all
from pttt_ooc.site.service.wire import Client, listening
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell


@contextmanager
def application(directory, *others):
    """The application on the matches below a directory, with other parts before it."""
    stopping = threading.Event()
    with listening() as (made, path), answerer(str(directory)) as answers:
        thread = threading.Thread(target=answer_all, args=(made, answers, stopping))
        thread.start()
        try:
            yield make_application(Shell("The arena", "", [*others, part_of(Client(path, 300))]))
        finally:
            stopping.set()
            thread.join()
