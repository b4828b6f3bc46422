"""Who sends a request: programs send their token in a bearer header, browsers exchange it for a session cookie."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request, Response, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from pttt_ooc.site.shell.forms import SESSION, own_form, set_cookie
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.shell import Account, Accounts, Shell, UsedShell, shell_of
from pttt_ooc.site.shell.throttle import network_of

KNOWN = "pttt_known"
_KNOWN_SECONDS = 400 * 86400  # as long as browsers keep a cookie
_TOKEN = HTTPBearer(scheme_name="token", description="A secret token.", auto_error=False)
_Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(_TOKEN)]


def _accounts_of(shell: Shell) -> Accounts:
    if shell.accounts is None:
        raise HTTPException(404, "Nobody can sign in here.")
    return shell.accounts


# ---------------------------------------------------------------------------------------------
# Programs


def bearer(request: Request, shell: UsedShell, credentials: _Credentials) -> Account:
    """The account of the request's token; 401 without a known token."""
    token = credentials.credentials.strip() if credentials else ""
    account = _accounts_of(shell).of_token(token)
    if account is None:
        if not token:
            raise missing_token()
        count_wrong_secret(request, shell)
        raise missing_token("The token is not known here")
    return account


def missing_token(what: str = "There is no token") -> HTTPException:
    """The refusal of a request that needs a known token and has none."""
    sentence = f"{what}; send yours as the header 'Authorization: Bearer TOKEN'."
    return HTTPException(401, sentence, {"WWW-Authenticate": "Bearer"})


def known_bearer(request: Request, shell: UsedShell) -> Account | None:
    """Like :func:`bearer`, for pages that need no token; None without a token."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not scheme:
        return None
    return bearer(request, shell, HTTPAuthorizationCredentials(scheme=scheme, credentials=token))


def count_wrong_secret(request: Request, shell: Shell) -> None:
    """Count an unknown token, or another wrong secret too long to guess; 429 if its address has sent too many."""
    _spend(shell, network_of(request), "Too many wrong tokens have come from your address")


def count_guess(request: Request, shell: Shell, account: str) -> Callable[[], None]:
    """Count a password before it is checked, for its address and for its account.

    Parameters
    ----------
    account
        The account's name as it was given; any text.

    Returns
    -------
    Callable
        Call it if the password was right: then it no longer counts.

    Raises
    ------
    HTTPException
        429 if there were too many.
    """
    named = _keyed_digest(shell, "account", account)
    known = hmac.compare_digest(request.cookies.get(KNOWN, "").encode(), _keyed_digest(shell, KNOWN, account).encode())
    spent: list[str] = []
    for name in (_keyed_digest(shell, "known", account),) if known else (network_of(request), named):
        _spend(shell, name, "Too many wrong passwords have been tried from your address, or for this account")
        spent.append(name)

    def give_back() -> None:
        for name in spent:
            shell.wrong_tokens.give_back(name)

    return give_back


def remember_browser(request: Request, response: Response, shell: Shell, account: str) -> None:
    """Remember a browser that sent the right password, so that guesses of others do not lock it out."""
    set_cookie(request, response, KNOWN, _keyed_digest(shell, KNOWN, account), _KNOWN_SECONDS)


def _keyed_digest(shell: Shell, what: str, account: str) -> str:
    return hmac.new(shell.secret, f"{what}\n{account}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _spend(shell: Shell, name: str, what: str) -> None:
    wait = shell.wrong_tokens.spend(name)
    if wait > 0:
        sentence = f"{what}; try again in {int(wait // 60) + 1} min."
        raise HTTPException(429, sentence, {"Retry-After": str(int(wait) + 1), "Connection": "close"})


# ---------------------------------------------------------------------------------------------
# Browsers


def account_of(request: Request) -> Account | None:
    """Who is signed in."""
    accounts, value = shell_of(request).accounts, request.cookies.get(SESSION)
    return accounts.of_session(value) if accounts and value else None


async def signed_in(request: Request) -> Account | None:
    """As :func:`account_of`, for handlers; a browser without a session takes no thread."""
    return await run_in_threadpool(account_of, request) if SESSION in request.cookies else None


Signed = Annotated[Account | None, Depends(signed_in)]
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get("/sign-in")
def sign_in_page(request: Request, shell: UsedShell, account: Signed, to: str = "") -> Response:
    """The form for a token; it leads to the page `to`."""
    context = {"accounts": _accounts_of(shell), "wrong": False, "to": _own_page(to)}
    return render(request, "web/sign_in.html", account, **context)


def _own_page(text: str) -> str:
    """The path of a page of this site; empty if the text may lead elsewhere."""
    return text if len(text) <= 200 and re.fullmatch(r"(/[\w-]+)+", text, re.ASCII) else ""


@router.post("/sign-in")
async def sign_in(request: Request, shell: UsedShell) -> Response:
    """Exchange a token for a session, which replaces the browser's previous one."""
    accounts = _accounts_of(shell)
    fields = await own_form(request, shell)
    to = _own_page(fields.get("to", ""))
    account = await run_in_threadpool(accounts.of_token, fields.get("token", "").strip())
    if account is None:
        count_wrong_secret(request, shell)
        context = {"accounts": accounts, "wrong": True, "to": to}
        page = await run_in_threadpool(partial(render, request, "web/sign_in.html", None, **context))
        page.status_code = 401
        return page
    await _end_session(request, accounts)
    value, seconds = await run_in_threadpool(accounts.begin_session, account)
    response = RedirectResponse(accounts.first_page_of(account, to), 303)
    set_cookie(request, response, SESSION, value, seconds)
    return response


@router.post("/sign-out")
async def sign_out(request: Request, shell: UsedShell) -> Response:
    """End the session; copies of its cookie stop working too."""
    accounts = _accounts_of(shell)
    await own_form(request, shell)
    await _end_session(request, accounts)
    response = RedirectResponse("/", 303)
    response.delete_cookie(SESSION, path="/", httponly=True, samesite="strict")
    return response


async def _end_session(request: Request, accounts: Accounts) -> None:
    if value := request.cookies.get(SESSION):
        await run_in_threadpool(accounts.end_session, value)
