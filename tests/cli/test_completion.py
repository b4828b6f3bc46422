"""Completion by the tab key, in the shells themselves."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kits.terminals import OTHER, Terminal

PLACE = Path(sys.executable).parent  # of the command `pttt`


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_tab_key_completes_commands_options_and_files(shell, tmp_path):
    if shutil.which(shell) is None or not (PLACE / "pttt").exists():
        pytest.skip(f"needs {shell}, and the command pttt installed")
    (tmp_path / "mine.zip").touch()
    (tmp_path / ".zshrc").touch()  # otherwise zsh asks what to put there
    own = {"HOME": str(tmp_path), "PATH": f"{PLACE}:{os.environ['PATH']}", "ZDOTDIR": str(tmp_path)}
    own |= {"XDG_CONFIG_HOME": str(tmp_path / ".config"), "XDG_DATA_HOME": str(tmp_path / ".local")}
    # The shell is not to make way for its last command, which asks what shell it is called from.
    install = [shell, "-c", "pttt --install-completion && true"]
    done = subprocess.run(install, env={**os.environ, **own}, capture_output=True, text=True)
    assert done.returncode == 0 and f"{shell} completion installed" in done.stdout, done
    terminal = Terminal(shell, "-i", main=OTHER, place=tmp_path, **own)
    try:
        terminal.until("[#$%>][^\\n]*")
        if shell == "zsh":  # loads what completes at the first tab
            os.write(terminal.own, b"pttt \t")
            terminal.until("\x07[^\\n]*")
            os.write(terminal.own, b"\x15")
        for typed, completed in (
            (b"pttt aren\t", "arena"),
            (b"match --clo\t", "--clock"),
            (b"\x15pttt evaluate mi\t", "mine.zip"),
        ):
            os.write(terminal.own, typed)
            terminal.until(rf"{completed}[^\n]*")  # what the shell draws behind it depends on the shell
    finally:
        terminal.close()
