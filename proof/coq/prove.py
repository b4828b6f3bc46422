"""Prove values as theorems: python3 proof/coq/prove.py [--build DIR] [--program] [GAME ...]

For each game, its certificate becomes a claim about the game's value, and Coq decides.  Without games: all certificates
but the few that take minutes.  --program: the checker as a program in OCaml reads the certificates instead.
"""

import argparse
import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

from write_claim import claim_text

HERE = Path(__file__).resolve().parent
CERTIFICATES = HERE.parent
LIBRARY = ["Numbers", "Statement", "Positions", "Checker", "Plans", "Soundness", "Bounds", "Reading", "Reals", "Counts"]
LONG = {"pttt-2x5k3-abrupt", "pttt-3x4k3-abrupt", "dark-hex-3x4-abrupt", "dark-hex-4x4-classical"}
CLOSED = "Closed under the global context\n"


class Refused(Exception):
    """What the prover or the program has said instead of a proof."""


def run(command, folder, text=None):
    """What a program prints, its processor seconds and its memory in MB."""
    stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if text is not None:
        process.stdin.write(text)
        process.stdin.close()
    printed = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Refused(printed.strip())
    return printed, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def compile_file(folder, name):
    return run(["coqc", "-q", "-R", str(folder), "Phantom", f"{name}.v"], folder)


def compile_library(folder):
    """Copy the library and compile it, as far as that was not done."""
    folder.mkdir(parents=True, exist_ok=True)
    seconds = 0
    fresh = True
    for name in LIBRARY:
        source, copy = HERE / f"{name}.v", folder / f"{name}.v"
        fresh = (
            fresh and copy.exists() and copy.read_bytes() == source.read_bytes() and copy.with_suffix(".vo").exists()
        )
        if not fresh:
            shutil.copy(source, copy)
            copy.with_suffix(".vo").unlink(missing_ok=True)
            seconds += compile_file(folder, name)[1]
    return seconds


def prove(folder, name, value=None):
    """Prove the value of a game, or refuse; processor seconds and memory in MB."""
    module = name.replace("-", "_")
    (folder / f"{module}.v").write_text(claim_text(CERTIFICATES / f"{name}.txt.gz", value))
    printed, seconds, memory = compile_file(folder, module)
    if not printed.endswith(CLOSED):
        raise Refused(f"the theorem rests on assumptions: {printed.strip()}")
    return seconds, memory


def make_program(folder):
    """The checker in OCaml, extracted and compiled."""
    shutil.copy(HERE / "Extraction.v", folder)
    shutil.copy(HERE / "check.ml", folder)
    compile_file(folder, "Extraction")
    run(["ocamlopt", "-o", "check", "checker.mli", "checker.ml", "check.ml"], folder)
    return folder / "check"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build" / "theorem")
    parser.add_argument("--program", action="store_true")
    parser.add_argument("games", nargs="*", metavar="GAME")
    arguments = parser.parse_args()
    if not shutil.which("coqc"):
        sys.exit("The prover is missing: install Coq (Debian: apt-get install coq), 8.16 or newer.")
    if arguments.program and not shutil.which("ocamlopt"):
        sys.exit("The compiler of OCaml is missing (Debian: apt-get install ocaml-nox).")
    every = sorted(CERTIFICATES.glob("*.txt.gz"), key=lambda path: path.stat().st_size)
    names = arguments.games or [name for path in every if (name := path.name.partition(".")[0]) not in LONG]
    sys.setrecursionlimit(10000)
    try:
        print(f"library: {compile_library(arguments.build):.1f} s", flush=True)
        program = make_program(arguments.build) if arguments.program else None
        for name in names:
            if program:
                text = gzip.decompress((CERTIFICATES / f"{name}.txt.gz").read_bytes())
                printed, seconds, memory = run([program], arguments.build, text)
                print(f"{name}: {printed.splitlines()[-1]} ({seconds:.1f} s, {memory} MB)", flush=True)
            else:
                seconds, memory = prove(arguments.build, name)
                print(f"{name}: theorem ({seconds:.1f} s, {memory} MB)", flush=True)
    except Refused as refused:
        sys.exit(f"refused: {refused}")


if __name__ == "__main__":
    main()
