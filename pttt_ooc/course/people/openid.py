"""Signing in by a university's OpenID Connect: the code flow with PKCE, state and nonce, by Authlib's client.

Sources: OpenID Connect Core 1.0, section 3.1; RFC 7636 (PKCE); RFC 9700 (best current practice).
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.base_client import BaseApp, OAuth2Mixin, OpenIDMixin
from authlib.integrations.requests_client import OAuth2Session
from joserfc.errors import BadSignatureError, JoseError
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
_REFUSED = (AuthlibBaseError, JoseError, requests.RequestException, KeyError, TypeError, ValueError)


@dataclass(frozen=True)
class Flow:
    """What a browser keeps between leaving for the university and coming back: all of it random."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def begin(cls) -> Flow:
        """A new flow."""
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))


@dataclass(frozen=True)
class Identity:
    """Who has signed in; `email` is empty unless the university says that it is verified."""

    subject: str
    email: str


class _Connection(OAuth2Session):  # type: ignore[misc]
    """Requests that end soon: a redirect, a large answer or a long silence is an error."""

    def request(self, method: str, url: str, **options: Any) -> requests.Response:
        """Do what the parent does, within the limits."""
        options |= {"timeout": _TIMEOUT, "allow_redirects": False, "stream": True}
        with super().request(method, url, **options) as answer:
            if answer.status_code // 100 == 3:
                raise requests.ConnectionError("an answer that leads elsewhere")
            content = b""
            for piece in answer.iter_content(65536):
                content += piece
                if len(content) > _LARGEST:
                    raise requests.ConnectionError(f"an answer of more than {_LARGEST:,} bytes")
            answer._content = content
        return answer  # type: ignore[no-any-return]

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None: redirects are not followed; the parent would read the whole answer to find one."""


class Provider(OAuth2Mixin, OpenIDMixin, BaseApp):  # type: ignore[misc]
    """A university's OpenID Connect.

    Parameters
    ----------
    issuer
        The university's address.
    client, secret
        This server's name there, and its secret; empty: none.
    """

    client_cls = _Connection
    server_metadata: dict[str, Any]

    def __init__(self, issuer: str, client: str, secret: str = "") -> None:
        self.issuer, self._lock = issuer.rstrip("/"), threading.Lock()
        options = {
            "scope": "openid email",
            "code_challenge_method": "S256",
            "token_endpoint_auth_method": "client_secret_basic" if secret else "none",
        }
        super().__init__(
            None,
            client_id=client,
            client_secret=secret or None,
            server_metadata_url=f"{self.issuer}/.well-known/openid-configuration",
            client_kwargs=options,
        )

    def load_server_metadata(self) -> dict[str, Any]:
        """What the university says about its OpenID Connect, which is read again after an hour."""
        with self._lock:
            if time.time() - self.server_metadata.get("_loaded_at", 0.0) > _FRESH:
                self.server_metadata = {}
                try:
                    super().load_server_metadata()
                except _REFUSED as error:
                    raise self._away_error(error) from None
                facts, self.server_metadata = self.server_metadata, {}
                if str(facts.get("issuer", "")).rstrip("/") != self.issuer or any(
                    name not in facts for name in _NEEDED
                ):
                    raise CourseError(
                        f"{self.issuer} is not the OpenID Connect that it says it is; tell the instructors."
                    )
                facts.pop("jwks", None)  # keys come from their own address
                self.server_metadata = {**facts, "id_token_signing_alg_values_supported": _ALGORITHMS}
            return self.server_metadata

    def fetch_jwk_set(self, force: bool = False) -> dict[str, Any]:
        """The university's keys, as they were read last, or (`force`) as they are now."""
        try:
            found = super().fetch_jwk_set(force)
        except _REFUSED as error:
            raise self._away_error(error) from None
        if not isinstance(found, dict):
            self.server_metadata.pop("jwks", None)
            raise self._away_error()
        return found

    def _away_error(self, error: Exception | None = None) -> CourseError:
        """The error if the description or the keys cannot be read, or (None, or a TypeError) are not a JSON object."""
        why = "" if error is None or isinstance(error, TypeError) else f": {_error_text(error)}"
        return CourseError(f"{self.issuer} does not answer as it should{why}. Try again later.")

    def address(self, flow: Flow, back: str) -> str:
        """Where the browser goes to sign in.

        Parameters
        ----------
        back
            The address on this server to which the browser comes back.

        Raises
        ------
        CourseError
            If the university cannot be reached, or answers nonsense; `identity` raises it, too.
        """
        found = self.create_authorization_url(back, state=flow.state, nonce=flow.nonce, code_verifier=flow.verifier)
        return str(found["url"])

    def identity(self, flow: Flow, back: str, code: str) -> Identity:
        """Who has come back with this code.

        Raises
        ------
        CourseError
            If the code is refused, or what the university says about the person is not valid.
        """
        try:
            token = self.fetch_access_token(back, code=code, code_verifier=flow.verifier)
        except _REFUSED as error:
            raise CourseError(f"The university has refused the sign-in: {_error_text(error)}. Try again.") from None
        try:
            claims = self._claims(token, flow.nonce)
        except _REFUSED as error:
            raise CourseError(
                f"What the university has sent about you is not valid: {_error_text(error)}. Try again."
            ) from None
        email = claims.get("email", "") if claims.get("email_verified") is True else ""
        return Identity(f"{claims['iss']} {claims['sub']}"[:500], str(email))

    def _claims(self, token: dict[str, Any], nonce: str) -> dict[str, Any]:
        """The claims of a token, which have been validated."""
        # Authlib alone would let pass a token for another audience if `azp` names this server.
        wanted = {
            "iss": {"essential": True, "values": [self.load_server_metadata()["issuer"]]},
            "aud": {"essential": True, "values": [self.client_id]},
        }
        try:
            found = self.parse_id_token(token, nonce, claims_options=wanted, leeway=_LEEWAY)
        except BadSignatureError:
            # The key may have changed under its old name; if the name is new, Authlib has read the keys again itself.
            self.fetch_jwk_set(force=True)
            found = self.parse_id_token(token, nonce, claims_options=wanted, leeway=_LEEWAY)
        if found is None:
            raise ValueError("it says nothing")
        return dict(found)


def _error_text(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200].rstrip(".")


def person_of(session: Session, who: Identity) -> Person:
    """The person of an identity: known from an earlier sign-in, or, the first time, by the verified e-mail address.

    Raises
    ------
    CourseError
        If nobody in the course has this identity.
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
        raise CourseError(
            "The university has not sent a verified e-mail address of yours; ask the instructors for a link."
        )
    raise CourseError(
        f"Only people in the roster and staff can sign in, and {who.email} is neither; ask the instructors."
    )
