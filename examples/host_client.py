"""Plays matches at random on a host (`pttt lab host`), and goes on after a kill of either side.

python examples/host_client.py http://127.0.0.1:8090 my-name pttt-abrupt 20
"""

import json
import random
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

HOST, NAME, GAME, COUNT = sys.argv[1:5]
TOKEN = Path(f"{NAME}.token")


def ask(path, body=None):
    token = TOKEN.read_text() if TOKEN.exists() else ""
    head = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    try:
        return json.load(urlopen(Request(f"{HOST}/api/host{path}", body and json.dumps(body).encode(), head)))
    except OSError as error:
        status = error.code if isinstance(error, HTTPError) else 503  # the server is down, or getting ready
    assert status in (409, 503), f"{path}: {status}"
    time.sleep(status == 503)
    return ask(path, body) if status == 503 else ask(path.rpartition("/")[0])  # 409: it has arrived before


def play(match):
    while not match["over"]:
        sent = {"made": match["made"], "square": random.choice(match["legal"])}
        match = ask(f"/matches/{match['id']}/attempts", sent)
    print(match["infoset"], match["result"], flush=True)


if not TOKEN.exists():
    TOKEN.write_text(ask("/agents", {"name": NAME})["token"])
for match in ask("/matches")["matches"]:
    play(match)
for number in range(int(COUNT)):
    play(ask("/matches", {"game": GAME, "opponent": "solution", "player": number % 2}))
