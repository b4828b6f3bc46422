"""The section ``extreme`` of config.yaml: a tournament that the workflow plays."""

from __future__ import annotations

from pydantic import Field

from pttt_ooc.config import Run
from pttt_ooc.other_games.extreme.bot_terms import Terms


class ExtremeConfig(Terms):
    """A tournament of Extreme TicTacToe: the target extreme."""

    bots: str = Field(default="data/extreme/bots", min_length=1, description="The directory of the teams' files.")
    run: Run = Field(default="default", description="Keeps its results apart, in data/extreme/runs/RUN.")
