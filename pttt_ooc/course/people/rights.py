"""Who may do what on the pages of a term: one table, which all their addresses follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.term_tables import ASSISTANT, INSTRUCTOR, STUDENT
from pttt_ooc.course.people.accounts import Staff, Student
from pttt_ooc.site.shell.accounts import known_bearer, signed_in
from pttt_ooc.site.shell.shell import Account, UsedShell

NOBODY, TEAM = "nobody", "team"
STAFF = frozenset({ASSISTANT, INSTRUCTOR})
SIGNED_IN = frozenset({TEAM, STUDENT, *STAFF})
EVERYBODY = frozenset({NOBODY, *SIGNED_IN})
"""All roles.  A student who is in a team has the role of the team; the role of a student is for those in none."""

RIGHTS: Mapping[tuple[str, str], frozenset[str]] = {
    ("GET", "/course"): EVERYBODY,
    ("GET", "/course/announcements.atom"): EVERYBODY,
    ("POST", "/course/reports/{name}"): frozenset({TEAM}),
    ("GET", "/course/reports/{number}"): frozenset({TEAM, *STAFF}),
    ("POST", "/course/picks/{name}"): frozenset({TEAM}),
    ("POST", "/api/course/picks/{name}"): frozenset({TEAM}),
    ("GET", "/course/own/{name}"): frozenset({TEAM}),
    ("POST", "/course/pairs"): frozenset({TEAM}),
    ("GET", "/course/pairs/{number}"): frozenset({TEAM, *STAFF}),
    ("GET", "/course/parts/pairs/{number}"): frozenset({TEAM, *STAFF}),
    ("POST", "/api/course/pairs"): frozenset({TEAM}),
    ("GET", "/api/course/pairs/{number}"): frozenset({TEAM, *STAFF}),
    ("GET", "/course/desk"): STAFF,
    ("GET", "/course/desk/teams/{number}"): STAFF,
    ("GET", "/course/desk/log"): STAFF,
    ("GET", "/course/desk/grades"): STAFF,
    ("POST", "/course/desk/mark"): STAFF,
    ("POST", "/course/desk/adjust"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/extend"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/release"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/announce"): frozenset({INSTRUCTOR}),
    ("GET", "/course/desk/submissions"): STAFF,
    ("GET", "/course/desk/rejudgements/{number}"): STAFF,
    ("GET", "/course/desk/parts/rejudgements/{number}"): STAFF,
    ("GET", "/course/desk/assignments/{name}/submissions.zip"): STAFF,
    ("GET", "/course/desk/bots/{number}"): STAFF,
    ("GET", "/course/desk/similar"): STAFF,
    ("POST", "/course/desk/rejudge"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/rule"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/disqualify"): frozenset({INSTRUCTOR}),
    ("GET", "/account"): SIGNED_IN,
    ("GET", "/account/sign-in"): EVERYBODY,
    ("POST", "/account/sign-in"): EVERYBODY,
    ("GET", "/account/join"): EVERYBODY,
    ("POST", "/account/join"): EVERYBODY,
    ("GET", "/account/openid"): EVERYBODY,
    ("GET", "/account/openid/callback"): EVERYBODY,
    ("POST", "/account/password"): SIGNED_IN,
    ("POST", "/account/team"): frozenset({STUDENT}),
    ("POST", "/account/leave"): frozenset({TEAM}),
    ("POST", "/account/token"): frozenset({TEAM}),
    ("POST", "/account/invite"): frozenset({TEAM}),
    ("POST", "/account/revoke"): frozenset({TEAM}),
    ("GET", "/agents/{name}"): EVERYBODY,
    ("GET", "/agents/{name}/parts/standings"): EVERYBODY,
    ("POST", "/agents/{name}"): frozenset({TEAM}),
    ("GET", "/agents/{name}/{number}"): frozenset({TEAM, *STAFF}),
    ("GET", "/agents/{name}/{number}/part"): frozenset({TEAM, *STAFF}),
    ("GET", "/agents/{name}/{number}/file"): frozenset({TEAM, *STAFF}),
    ("GET", "/api/agents/{name}"): frozenset({TEAM}),
    ("POST", "/api/agents/{name}"): frozenset({TEAM}),
    ("GET", "/api/agents/{name}/settings"): EVERYBODY,
    ("GET", "/api/agents/{name}/standings"): EVERYBODY,
    ("GET", "/api/agents/{name}/{number}"): frozenset({TEAM, *STAFF}),
    ("GET", "/games/{game}"): EVERYBODY,
    ("GET", "/games/{game}/parts/leaderboard"): EVERYBODY,
    ("GET", "/games/{game}/parts/matrix"): EVERYBODY,
    ("POST", "/games/{game}"): frozenset({TEAM}),
    ("GET", "/games/{game}/starter-kit.zip"): EVERYBODY,
    ("GET", "/games/{game}/submissions/{number}"): frozenset({TEAM, *STAFF}),
    ("GET", "/games/{game}/submissions/{number}/part"): frozenset({TEAM, *STAFF}),
    ("GET", "/games/{game}/submissions/{number}/file"): frozenset({TEAM, *STAFF}),
    ("POST", "/api/games/{game}/submissions"): frozenset({TEAM}),
    ("GET", "/api/games/{game}/submissions/{number}"): frozenset({TEAM, *STAFF}),
    ("POST", "/games/{game}/submissions/{number}/play"): frozenset({TEAM}),
    ("POST", "/games/{game}/certificate"): frozenset({TEAM}),
    ("GET", "/games/{game}/certificate/part"): frozenset({TEAM}),
    ("GET", "/games/{game}/certificate.txt.gz"): frozenset({TEAM}),
    ("GET", "/api/games/{game}/certificate"): frozenset({TEAM}),
    ("POST", "/api/games/{game}/certificate"): frozenset({TEAM}),
    ("GET", "/api/games/{game}/certificate/file"): frozenset({TEAM}),
    ("GET", "/api/games/{game}/leaderboard"): EVERYBODY,
    ("GET", "/api/games/{game}/matrix"): EVERYBODY,
    ("GET", "/api/course"): EVERYBODY,
    ("GET", "/api/course/grades"): frozenset({TEAM}),
    ("POST", "/api/course/reports/{name}"): frozenset({TEAM}),
}
"""For each method and address, who may use it.  A team sees its own grades and reports only."""


_PLURALS = {TEAM: "teams", STUDENT: "students without a team", ASSISTANT: "assistants", INSTRUCTOR: "instructors"}


def role_of(account: Account | None) -> str:
    """Somebody's role in the table."""
    if isinstance(account, Staff):
        return account.role
    if isinstance(account, Student):
        return STUDENT
    return TEAM if isinstance(account, Team) else NOBODY


async def _check_rights(request: Request, shell: UsedShell) -> Account | None:
    """The account that asks, if the table allows it; otherwise 401 if nobody is signed in, and 403 for others."""
    is_program = request.url.path.startswith("/api/")
    account = known_bearer(request, shell) if is_program else await signed_in(request)
    request.state.account = account
    allowed = RIGHTS[request.method, request.scope["route"].path]
    if role_of(account) in allowed:
        return account
    if account is None:
        raise HTTPException(401, "Sign in first: this page is not for everybody.")
    raise HTTPException(403, f"This is for {' and '.join(sorted(_PLURALS[role] for role in allowed))} only.")


Allowed = Annotated[Account | None, Depends(_check_rights)]
"""Who asks; the request is refused unless :data:`RIGHTS` allows it."""
