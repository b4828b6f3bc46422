"""A small provider of OpenID Connect, as a university has one: everybody who comes is signed in at once."""

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "pttt", "a secret of the university"


class UniversityProvider:
    """A provider on a port of this machine.

    `claims` are added to what a token says, or replace it; `key` signs, under its `name`, and `published` are the keys
    that it shows.
    """

    def __init__(self):
        self.key = RSAKey.generate_key(2048, {"kid": "one"}, auto_kid=False)
        self.name, self.published = "one", [self.key]
        self.claims = {"sub": "4711", "email": "ann@example.org", "email_verified": True}
        self.algorithm, self.codes, self.asked, self.status, self.keys_status = "RS256", {}, [], 200, 200
        self.headers = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def described(self):
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
        }

    def keys(self):
        return {"keys": [key.as_dict(private=False) for key in self.published]}

    def authorize(self, query):
        """Sign somebody in at once; where the browser goes then."""
        assert query["response_type"] == "code" and query["client_id"] == CLIENT and "openid" in query["scope"]
        assert query["code_challenge_method"] == "S256"
        code = f"code {len(self.codes)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form, authorization):
        """The token of a code, which is for whoever began: (status, answer)."""
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        query = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        good = query and query["code_challenge"] == challenge and query["redirect_uri"] == form["redirect_uri"]
        if authorization.partition(" ")[2] != expected or not good:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": query["nonce"]}
        claims = {name: value for name, value in {**claims, **self.claims}.items() if value is not None}
        token = jwt.encode({"alg": self.algorithm, "kid": self.name}, claims, self.key, algorithms=[self.algorithm])
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": token}

    def _handler(provider):  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, status, content):
                data = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Location", f"{provider.issuer}/elsewhere")
                self.send_header("Content-Type", "application/json")
                headers = {"Content-Length": str(len(data)), **provider.headers}
                for name in filter(headers.get, headers):
                    self.send_header(name, headers[name])
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                parts = urlsplit(self.path)
                provider.asked.append(parts.path)
                if parts.path == "/.well-known/openid-configuration":
                    return self.answer(provider.status, provider.described())
                if parts.path == "/keys":
                    return self.answer(provider.keys_status, provider.keys())
                return self.answer(404, {})

            def do_POST(self):
                provider.asked.append(self.path)
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self.answer(*provider.token(form, self.headers.get("Authorization", "")))

        return Handler
