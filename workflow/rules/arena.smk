# The arena, a wing: `snakemake arena`.  One job for each experiment, each round robin and each group of trainings of the
# section, and a report of the results.  The games are in data/arena/NAME/games, where Snakemake deletes nothing; a killed
# job resumes from them.

from pttt_ooc.other_games.arena.experiments import pipeline as arena_pipeline

ARENA = WINGS["arena"].all
ARENA_DIR = "data/arena"
DECISIONS.reserve(ARENA_DIR)


rule arena:
    input:
        f"{ARENA_DIR}/report.html",
    message:
        f"The results of the arena are in {ARENA_DIR}."


rule arena_experiment:
    output:
        f"{ARENA_DIR}/{{name}}/result.json",
    log:
        f"{ARENA_DIR}/logs/{{name}}.log",
    wildcard_constraints:
        name="[A-Za-z0-9][A-Za-z0-9_+-]*",
    params:
        asked=lambda wildcards: ARENA[wildcards.name].model_dump(mode="json"),
        sources=lambda wildcards: arena_pipeline.sources(ARENA[wildcards.name]),
    message:
        "Measure a claim again: {params.asked[claim]}."
    script:
        "../scripts/arena_conduct.py"


rule arena_round_robin:
    output:
        f"{ARENA_DIR}/{{name}}/standings.json",
    log:
        f"{ARENA_DIR}/logs/{{name}}.log",
    wildcard_constraints:
        name="[A-Za-z0-9][A-Za-z0-9_+-]*",
    params:
        asked=lambda wildcards: ARENA[wildcards.name].model_dump(mode="json"),
        sources=lambda wildcards: arena_pipeline.sources(ARENA[wildcards.name]),
    message:
        "Let all agents of {wildcards.name} play each other."
    script:
        "../scripts/arena_conduct.py"


rule arena_trainings:
    output:
        f"{ARENA_DIR}/{{name}}/trainings.json",
    log:
        f"{ARENA_DIR}/logs/{{name}}.log",
    wildcard_constraints:
        name="[A-Za-z0-9][A-Za-z0-9_+-]*",
    params:
        asked=lambda wildcards: ARENA[wildcards.name].model_dump(mode="json"),
        sources=lambda wildcards: arena_pipeline.sources(ARENA[wildcards.name]),
    message:
        "Train with several seeds: {params.asked[claim]}."
    script:
        "../scripts/arena_conduct.py"


rule arena_report:
    input:
        [f"{ARENA_DIR}/{arena_pipeline.product(name, asked)}" for name, asked in ARENA.items()],
    output:
        report(f"{ARENA_DIR}/report.html", caption="../report/arena.rst", category="Arena"),
    log:
        f"{ARENA_DIR}/logs/report.log",
    params:
        sources=arena_pipeline.report_sources(),
    message:
        "Write the report of the arena."
    script:
        "../scripts/arena_report.py"
