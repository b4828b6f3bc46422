# Tic-tac-toe with secret goals, a wing: snakemake smbc
#
#   solve -> findings -> report
#     |                    ^
#     +---> equilibria ----+   if all_equilibria is true
#
# Its results are in data/smbc; its manifests are the edges between its rules, as in the Snakefile.

from pttt_ooc.extras import check_extra
from pttt_ooc.other_games.smbc import pipeline

SMBC = WINGS["smbc"]
SMBC_DIR = "data/smbc"

try:
    if SMBC.all_equilibria:
        check_extra("smbc", "smbc.all_equilibria")
except PtttError as error:
    sys.exit(str(error))

DECISIONS.add(SMBC_DIR, partial(pipeline.requests, SMBC), prefix="smbc_")


rule smbc:
    input:
        f"{SMBC_DIR}/solve.json",
        f"{SMBC_DIR}/findings.json",
        f"{SMBC_DIR}/report.json",
        f"{SMBC_DIR}/report.html",
    message:
        f"The results of the match with secret goals are in {SMBC_DIR}."


rule smbc_solve:
    input:
        lambda wildcards: DECISIONS.inputs(SMBC_DIR, "solve"),
    output:
        f"{SMBC_DIR}/convergence.jsonl",
        manifest=f"{SMBC_DIR}/solve.json",
    log:
        f"{SMBC_DIR}/logs/solve.log",
    threads: workflow.cores
    params:
        settings=pipeline.settings(SMBC, "solve"),
    message:
        "Solve the match to {params.settings[winning_score]} by {params.settings[algorithm]} on {threads} threads."
    script:
        "../scripts/smbc_solve.py"


rule smbc_findings:
    input:
        lambda wildcards: DECISIONS.inputs(SMBC_DIR, "findings"),
    output:
        manifest=f"{SMBC_DIR}/findings.json",
    log:
        f"{SMBC_DIR}/logs/findings.log",
    params:
        settings=pipeline.settings(SMBC, "findings"),
    message:
        "Compute the best responses to the whole match, and the effect of hidden goals."
    script:
        "../scripts/smbc_findings.py"


rule smbc_equilibria:
    input:
        lambda wildcards: DECISIONS.inputs(SMBC_DIR, "equilibria"),
    output:
        manifest=f"{SMBC_DIR}/equilibria.json",
    log:
        f"{SMBC_DIR}/logs/equilibria.log",
    message:
        "Bound the values of goals over all equilibria, by linear programs."
    script:
        "../scripts/smbc_equilibria.py"


rule smbc_report:
    input:
        lambda wildcards: DECISIONS.inputs(SMBC_DIR, "report"),
    output:
        report(f"{SMBC_DIR}/report.html", caption="../report/smbc.rst", category="Secret goals"),
        f"{SMBC_DIR}/values.svg",
        f"{SMBC_DIR}/opening.svg",
        f"{SMBC_DIR}/convergence.svg",
        manifest=f"{SMBC_DIR}/report.json",
    log:
        f"{SMBC_DIR}/logs/report.log",
    params:
        settings=pipeline.settings(SMBC, "report"),
    message:
        "Write the report of the match with secret goals."
    script:
        "../scripts/smbc_report.py"
