"""The interface of exp-a-spiel next to exp-a-spiel itself: processor seconds and memory, in one run.

Each game and program has a process of its own, which makes the traverser and evaluates the uniform strategies once.
Processor seconds are of all threads; other programs on the machine hardly change them, but do change elapsed seconds.
For the package, construction is measured twice: when the structure of the game is made, and when it is read.
Exp-a-spiel takes hours for a whole game on a busy machine, so each figure also goes to stderr as soon as it is known.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GAMES = ("CornerDh", "Dh", "Pttt", "AbruptDh", "AbruptPttt")


def _processor() -> float:
    """Processor seconds of this process and of the children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _measure(program: str, game: str, directory: str) -> dict[str, object]:
    """In a process of its own: processor seconds, elapsed seconds, and the largest memory in MB."""
    if program == "ours":
        import pttt_ooc
        from pttt_ooc.library import eas
        from pttt_ooc.pipeline.stages.compilation import ensure_compiled

        pttt_ooc.configure(data=directory)
        ensure_compiled()
        small = eas.CornerDhTraverser()  # compiling in the first call is not measured
        repr(small.ev_and_exploitability(*small.construct_uniform_strategies()).gradient[0][0])
    else:
        sys.path.insert(0, directory)
        import eas  # type: ignore[no-redef]
    found: dict[str, object] = {}

    def timed(name: str, call):  # type: ignore[no-untyped-def]
        before, begun = _processor(), time.perf_counter()
        result = call()
        found[name] = [round(_processor() - before, 2), round(time.perf_counter() - begun, 2)]
        print(f"{game}, {program}, {name}: processor and elapsed seconds {found[name]}", file=sys.stderr, flush=True)
        return result

    traverser = timed("construct", getattr(eas, f"{game}Traverser"))
    both = traverser.construct_uniform_strategies()
    evaluation = timed("evaluate", lambda: traverser.ev_and_exploitability(*both))
    found["memory"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    found["found"] = [evaluation.ev0, *evaluation.expl]
    timed("arrays", lambda: (evaluation.gradient[0].shape, evaluation.best_response[0].shape))
    found["memory with arrays"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return found


def main() -> None:
    """Print a line of JSON for each game and program."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eas", description=__doc__)
    parser.add_argument("games", nargs="*", default=GAMES[:3], metavar="GAME", help=f"of {', '.join(GAMES)}")
    parser.add_argument("--peer", metavar="DIR", help="where a build of exp-a-spiel has its folder eas")
    parser.add_argument("--threads", default=str(os.cpu_count()), help="of exp-a-spiel (default: %(default)s)")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options.measure[0], options.games[0], options.measure[1])))
        return
    with tempfile.TemporaryDirectory() as data:
        runs = [("structure made", "ours", data), ("structure read", "ours", data)]
        if options.peer:
            runs.append(("exp-a-spiel", "peer", str(Path(options.peer).resolve())))
        for game in options.games:
            for label, *where in runs:
                command = [sys.executable, "-m", "benchmarks.eas", game, "--measure", *where]
                environment = {**os.environ, "OMP_NUM_THREADS": options.threads}
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
                print(game, label, done.stdout.splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
