# Tic-tac-toe with secret goals, a wing: snakemake smbc
#
#   solve -> findings -> report
#     |                    ^
#     +---> equilibria ----+   if all_equilibria is true
#
# Its results are in data/smbc; its manifests are the edges between its rules, as in the Snakefile.

from pttt_ooc.smbc import pipeline

SMBC = WINGS["smbc"]
SMBC_DIR = "data/smbc"

HOMES.append(Path(SMBC_DIR))


@cache
def smbc_found():
    """Why the stages of the wing are stale, by their names."""
    looking = workflow.executor_plugin is None or workflow.dryrun
    forced = {rule.removeprefix("smbc_") for rule in workflow.dag_settings.forcerun if rule.startswith("smbc_")}
    return reasons(Path(SMBC_DIR), pipeline.asked(SMBC), forced, remember=not looking)


def smbc_inputs_of(stage, *before):
    """The manifests of the stages before a stage, as `inputs_of` of the Snakefile."""

    def decide(wildcards):
        reason = smbc_found()[stage] if workflow.is_main_process else ""
        manifest, *inputs = [f"{SMBC_DIR}/{each}.json" for each in (stage, *before)]
        return decided(manifest, reason, inputs)

    return decide


localrules:
    smbc,


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
        smbc_inputs_of("solve"),
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
        smbc_inputs_of("findings", "solve"),
    output:
        manifest=f"{SMBC_DIR}/findings.json",
    log:
        f"{SMBC_DIR}/logs/findings.log",
    params:
        settings=pipeline.settings(SMBC, "findings"),
    message:
        "Find the best responses to the whole match, and what hidden goals do."
    script:
        "../scripts/smbc_findings.py"


rule smbc_equilibria:
    input:
        smbc_inputs_of("equilibria", "solve"),
    output:
        manifest=f"{SMBC_DIR}/equilibria.json",
    log:
        f"{SMBC_DIR}/logs/equilibria.log",
    message:
        "Bound what goals are worth in all equilibria, by linear programs."
    script:
        "../scripts/smbc_equilibria.py"


rule smbc_report:
    input:
        smbc_inputs_of("report", "solve", "findings", *["equilibria"] * SMBC.all_equilibria),
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
