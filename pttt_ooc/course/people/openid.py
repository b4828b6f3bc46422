"""Signing in by a university's OpenID Connect: the code flow with PKCE, state and nonce, by Authlib.

Sources: OpenID Connect Core 1.0, section 3.1; RFC 7636 (PKCE); RFC 9700 (best current practice).
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.term_tables import Person
from pttt_ooc.course.people.people import address_key
from pttt_ooc.errors import CourseError

SECONDS = 600.0
"""How long somebody may take to sign in at the university."""

_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]  # none with a shared secret, and not `none`
_TIMEOUT, _FRESH, _LARGEST, _LEEWAY = 10.0, 3600.0, 1_000_000, 60
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True)
class Flow:
    """What a browser keeps between leaving for the university and coming back: all of it random."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def begin(cls) -> Flow:
        """A new one."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))


@dataclass(frozen=True)
class Identity:
    """Who has signed in there; `email` is empty unless the university says that it is verified."""

    subject: str
    email: str


class Provider:
    """A university's OpenID Connect.

    Parameters
    ----------
    issuer
        Its address.
    client, secret
        This server's name there, and its secret; empty: none.
    """

    def __init__(self, issuer: str, client: str, secret: str = "") -> None:
        self.issuer, self._client, self._secret = issuer.rstrip("/"), client, secret
        self._lock = threading.Lock()
        self._facts: Mapping[str, Any] = {}
        self._keys: KeySet | None = None
        self._read_at = -_FRESH

    def address(self, flow: Flow, back: str) -> str:
        """Where the browser goes to sign in.

        Parameters
        ----------
        back
            The address here that it comes back to.

        Raises
        ------
        CourseError
            If the university cannot be reached, or answers nonsense; so does `identity`.
        """
        facts = self._discover()
        session = self._session(back)
        options = {"state": flow.state, "nonce": flow.nonce, "code_verifier": flow.verifier}
        address, _ = session.create_authorization_url(facts["authorization_endpoint"], **options)
        return str(address)

    def identity(self, flow: Flow, back: str, code: str) -> Identity:
        """Who has come back with this code.

        Raises
        ------
        CourseError
            If the code is refused, or what the university says of the person does not hold.
        """
        facts = self._discover()
        try:
            token = self._session(back).fetch_token(
                facts["token_endpoint"], code=code, code_verifier=flow.verifier, timeout=_TIMEOUT, allow_redirects=False
            )
        except (AuthlibBaseError, requests.RequestException, ValueError) as error:
            raise CourseError(f"The university has refused the sign-in: {_error_text(error)}. Try again.") from None
        return self._check_token(str(token.get("id_token", "")), flow.nonce)

    def _session(self, back: str) -> OAuth2Session:
        method = "client_secret_basic" if self._secret else "none"
        return OAuth2Session(
            self._client,
            self._secret or None,
            token_endpoint_auth_method=method,
            scope="openid email",
            redirect_uri=back,
            code_challenge_method="S256",
        )

    def _check_token(self, token: str, nonce: str) -> Identity:
        registry = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": self._facts["issuer"]},
            aud={"essential": True, "value": self._client},
            exp={"essential": True},
            iat={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        try:
            claims = self._decode(token)
            registry.validate(claims)
        except (JoseError, ValueError) as error:
            raise CourseError(
                f"What the university says of you does not hold: {_error_text(error)}. Try again."
            ) from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (several or "azp" in claims) and claims.get("azp") != self._client:
            raise CourseError("What the university says of you is for another server.")
        email = claims.get("email", "") if claims.get("email_verified") is True else ""
        return Identity(f"{self._facts['issuer']} {claims['sub']}"[:500], str(email))

    def _decode(self, token: str) -> dict[str, Any]:
        """The claims of a token with a good signature; the keys are read again once, as they may have changed."""
        try:
            return dict(jwt.decode(token, self._key_set(), algorithms=_ALGORITHMS).claims)
        except (JoseError, ValueError):
            return dict(jwt.decode(token, self._key_set(again=True), algorithms=_ALGORITHMS).claims)

    def _key_set(self, again: bool = False) -> KeySet:
        with self._lock:
            if again or self._keys is None:
                self._keys = KeySet.import_key_set(self._read(self._facts["jwks_uri"]))  # type: ignore[arg-type]
            return self._keys

    def _discover(self) -> Mapping[str, Any]:
        with self._lock:
            if time.monotonic() - self._read_at < _FRESH:
                return self._facts
            facts = self._read(f"{self.issuer}/.well-known/openid-configuration")
            if str(facts.get("issuer", "")).rstrip("/") != self.issuer or any(name not in facts for name in _NEEDED):
                raise CourseError(f"{self.issuer} describes another OpenID Connect; tell the instructors.")
            self._facts, self._read_at, self._keys = facts, time.monotonic(), None
            return facts

    def _read(self, address: str) -> dict[str, Any]:
        try:
            answer = requests.get(address, timeout=_TIMEOUT, allow_redirects=False, stream=True)
            with answer:
                answer.raise_for_status()
                content = answer.raw.read(_LARGEST, decode_content=True)
            found = json.loads(content)
        except (requests.RequestException, ValueError) as error:
            raise CourseError(
                f"{self.issuer} does not answer as it should: {_error_text(error)}. Try again later."
            ) from None
        if not isinstance(found, dict):
            raise CourseError(f"{self.issuer} does not answer as it should. Try again later.")
        return found


def _error_text(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200].rstrip(".")


def person_of(session: Session, who: Identity) -> Person:
    """The person of an identity: known from an earlier sign-in, or, the first time, by the verified e-mail address.

    Raises
    ------
    CourseError
        If nobody in the course is that.
    """
    there = Person.removed_at.is_(None)
    person = session.scalar(select(Person).where(Person.subject == who.subject, there))
    if person is not None:
        return person
    if who.email:
        person = session.scalar(select(Person).where(Person.key == address_key(who.email), there))
        if person is not None and person.subject is None:
            person.subject = who.subject
            note(session, person.email, "openid", subject=who.subject)
            return person
    if not who.email:
        raise CourseError("The university tells no verified address of yours; ask the instructors for a link.")
    raise CourseError(f"Nobody in this course has the address {who.email}; ask the instructors.")
