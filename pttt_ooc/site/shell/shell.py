"""The shell: what requests of all parts share."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Protocol

from fastapi import Request

from pttt_ooc.site.shell.parts import Area, Link, Part, areas_of, state_of
from pttt_ooc.site.shell.throttle import Throttle

FORM_BYTES = 8192
"""Most bytes of a small form, such as the one for signing in."""


class Account(Protocol):
    """Who is signed in."""

    @property
    def id(self) -> int:
        """A number that no other account ever gets."""

    @property
    def name(self) -> str:
        """The name that pages show."""


class Accounts(Protocol):
    """Accounts, which sign in with a secret token; one part of the application keeps them.

    All methods may block; they are called in threads.

    Attributes
    ----------
    token_label, token_help
        The label of the form's field, and the sentences below the form.
    other_ways
        Further ways to sign in.
    """

    token_label: str
    token_help: str
    other_ways: Sequence[Link]

    def of_token(self, token: str) -> Account | None:
        """The account of a token, which may be any text."""

    def of_session(self, value: str) -> Account | None:
        """The account of a session's cookie, which may have any value."""

    def begin_session(self, account: Account) -> tuple[str, int]:
        """Begin a session; returns the cookie's value, and the seconds until it expires."""

    def end_session(self, value: str) -> None:
        """End the session of a cookie, if there is one."""

    def page_of(self, account: Account) -> str:
        """Address of the account's own page."""

    def first_page_of(self, account: Account, wanted: str) -> str:
        """Address of the page after signing in; `wanted` is the page that asked for it, or empty."""

    def links_of(self, account: Account) -> Sequence[Link]:
        """Entries of the navigation that only this account has."""


@dataclass
class Shell:
    """The application's frame.

    Attributes
    ----------
    title, subtitle
        The head of every page shows both.
    parts
        The parts, in the order of the navigation.
    accounts
        None: there is no signing in.
    secret
        The key of forms, which expire when it changes.
    wrong_tokens_per_hour
        Most wrong tokens or passwords per hour, for an address or an account.
    behind_proxy
        Whether the settings name a reverse proxy.
    names
        The names in addresses of its pages, besides IP addresses; None: any.
    """

    title: str
    subtitle: str
    parts: Sequence[Part]
    accounts: Accounts | None = None
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    wrong_tokens_per_hour: int = 60
    behind_proxy: bool = False
    names: frozenset[str] | None = None

    @cached_property
    def wrong_tokens(self) -> Throttle:
        """Counts wrong tokens and passwords, by address and account."""
        return Throttle(self.wrong_tokens_per_hour)

    @property
    def links(self) -> list[Link]:
        """All entries of the navigation."""
        return [link for part in self.parts for link in part.links]

    @cached_property
    def areas(self) -> list[Area]:
        """The first level of the navigation, as everybody has it."""
        return areas_of(self.links)

    def areas_for(self, account: Account | None) -> list[Area]:
        """The first level of the navigation for somebody."""
        more = self.accounts.links_of(account) if self.accounts and account else ()
        return areas_of([*self.links, *more]) if more else self.areas

    @property
    def home(self) -> Link:
        """The page to which the title leads."""
        return self.links[0]

    @property
    def largest_body(self) -> int:
        """Bytes of the largest request that any part reads."""
        return max([FORM_BYTES, *(part.largest_body for part in self.parts)])


def shell_of(request: Request) -> Shell:
    """The shell of a request's application."""
    shell: Shell = request.app.state.shell
    return shell


UsedShell = Annotated[Shell, state_of("shell")]
