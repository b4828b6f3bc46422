# A tournament of Extreme TicTacToe, a wing: snakemake extreme
#
#   draw -> pools -> match, match, ... -> pools of the next stage -> ... -> report
#
# Its results are in data/extreme/runs/RUN.  Each match is a job on one thread and has a core of its machine to itself, so
# that no two timed bots share one.  A finished match is not played again.

from pttt_ooc.other_games.extreme import pipeline as tournament
from pttt_ooc.other_games.extreme.cores import cores_with_memory

EXTREME = WINGS["extreme"]
EXTREME_DIR = str(tournament.directory_of(EXTREME))
EXTREME_STAGES = [stage.name for stage in EXTREME.stages]

DECISIONS.reserve(EXTREME_DIR)
# For this machine; profiles override it.
workflow.global_resources.setdefault("timed_bots", len(cores_with_memory(EXTREME.memory_mb)))


rule extreme:
    input:
        f"{EXTREME_DIR}/standings.json",
        f"{EXTREME_DIR}/report.html",
    message:
        f"The tournament is over; its results are in {EXTREME_DIR}."


rule extreme_draw:
    input:
        lambda wildcards: tournament.bots_of(EXTREME),
    output:
        f"{EXTREME_DIR}/draw.json",
    log:
        f"{EXTREME_DIR}/logs/draw.log",
    params:
        settings=EXTREME.model_dump(mode="json"),
    message:
        "Draw the pools with the seed {params.settings[seed]}."
    script:
        "../scripts/extreme_draw.py"


checkpoint extreme_pools:
    input:
        ancient(f"{EXTREME_DIR}/draw.json"),
        lambda wildcards: tournament.matches_dealt(
            Path(EXTREME_DIR), checkpoints.extreme_pools, EXTREME_STAGES[: EXTREME_STAGES.index(wildcards.stage)]
        ),
    output:
        f"{EXTREME_DIR}/stages/{{stage}}.json",
    log:
        f"{EXTREME_DIR}/logs/pools-{{stage}}.log",
    wildcard_constraints:
        stage="|".join(EXTREME_STAGES),
    message:
        "Deal the pools of the {wildcards.stage}."
    script:
        "../scripts/extreme_pools.py"


rule extreme_match:
    input:
        ancient(f"{EXTREME_DIR}/draw.json"),
    output:
        f"{EXTREME_DIR}/matches/{{name}}.json",
    log:
        f"{EXTREME_DIR}/logs/{{name}}.log",
    wildcard_constraints:
        name="[A-Za-z0-9_-]+",
    threads: 1
    resources:
        mem_mb=2 * EXTREME.memory_mb,
        timed_bots=1,
    message:
        "Play {wildcards.name}."
    script:
        "../scripts/extreme_match.py"


rule extreme_report:
    input:
        lambda wildcards: DECISIONS.run_again(f"{EXTREME_DIR}/report.html", tournament.stale_reason(Path(EXTREME_DIR))),
        lambda wildcards: tournament.matches_dealt(Path(EXTREME_DIR), checkpoints.extreme_pools, EXTREME_STAGES),
    output:
        report(f"{EXTREME_DIR}/report.html", caption="../report/extreme.rst", category="Extreme TicTacToe"),
        f"{EXTREME_DIR}/standings.json",
        f"{EXTREME_DIR}/standings.csv",
        f"{EXTREME_DIR}/marks.csv",
    log:
        f"{EXTREME_DIR}/logs/report.log",
    message:
        "Write the standings and the report of the tournament."
    script:
        "../scripts/extreme_report.py"
