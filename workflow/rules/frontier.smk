# A game beyond enumeration, solved round by round: snakemake frontier
#
#   solve -> report
#
# Its results are in OUTPUT/GAME; its manifests are the edges between its rules, as in the Snakefile.  A run that was
# killed, or has reached max_minutes, goes on from its last saved round.

from pttt_ooc.pipeline.frontier import pipeline as frontier

FRONTIER = WINGS["frontier"]
FRONTIER_DIR = str(frontier.directory_of(FRONTIER))

DECISIONS.add(FRONTIER_DIR, partial(frontier.requests, FRONTIER), prefix="frontier_")


rule frontier:
    input:
        f"{FRONTIER_DIR}/solve.json",
        f"{FRONTIER_DIR}/report.json",
        f"{FRONTIER_DIR}/{frontier.PAGE}",
    message:
        f"The results of {FRONTIER.game} are in {FRONTIER_DIR}."


rule frontier_solve:
    input:
        lambda wildcards: DECISIONS.inputs(FRONTIER_DIR, "solve"),
    output:
        f"{FRONTIER_DIR}/rounds.jsonl",
        manifest=f"{FRONTIER_DIR}/solve.json",
    log:
        f"{FRONTIER_DIR}/logs/solve.log",
    threads: workflow.cores
    resources:
        mem_mb=FRONTIER.memory_mb + BESIDES_MB,
    params:
        settings=FRONTIER.model_dump(mode="json"),
    message:
        "Solve {params.settings[game]} to a gap of {params.settings[gap]}, in at most {params.settings[max_minutes]} minutes."
    script:
        "../scripts/frontier_solve.py"


rule frontier_report:
    input:
        lambda wildcards: DECISIONS.inputs(FRONTIER_DIR, "report"),
    output:
        report(f"{FRONTIER_DIR}/{frontier.PAGE}", caption="../report/frontier.rst", category="Beyond enumeration"),
        f"{FRONTIER_DIR}/{frontier.PICTURE}",
        manifest=f"{FRONTIER_DIR}/report.json",
    log:
        f"{FRONTIER_DIR}/logs/report.log",
    message:
        "Write the page of the run."
    script:
        "../scripts/frontier_report.py"
