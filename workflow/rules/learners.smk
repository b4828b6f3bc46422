# Learners, and the page that compares them: `snakemake learners`.  One job for each run, on one thread, so that
# `--cores N` or a cluster runs them in parallel.  A run resumes from its work/, where Snakemake deletes nothing.

from pttt_ooc.learners.catalogue import sources_of

DECISIONS.reserve(f"{DATA}/learners")
LEARNER_RUNS = {run.name: run for run in WINGS["learners"].runs}


rule learners:
    input:
        f"{DATA}/learners/comparison.html",
    message:
        f"The learners are compared in {DATA}/learners/comparison.html."


rule learn:
    input:
        ancient(f"{DATA}/enumerate.json"),  # sources are compared by content; times of copies differ
        ancient(f"{DATA}/index.json"),
    output:
        manifest=f"{DATA}/learners/{{name}}/learn.json",
    log:
        f"{DATA}/logs/learn-{{name}}.log",
    wildcard_constraints:
        name="[A-Za-z0-9][A-Za-z0-9_+-]*",
    resources:
        mem_mb=2000,
    params:
        game=CONFIG.game,
        symmetry=CONFIG.symmetry,
        run=lambda wildcards: LEARNER_RUNS[wildcards.name].model_dump(mode="json"),
        sources=lambda wildcards: sources_of(LEARNER_RUNS[wildcards.name].algorithm),
    message:
        "Let {params.run[algorithm]} learn {params.game} for {params.run[max_minutes]} minutes of processor time."
    script:
        "../scripts/learners_learn.py"


rule compare_learners:
    input:
        [f"{DATA}/learners/{name}/learn.json" for name in LEARNER_RUNS],
    output:
        report(f"{DATA}/learners/comparison.html", caption="../report/learners.rst", category="Learners"),
        report(f"{DATA}/learners/comparison.svg", caption="../report/learners.rst", category="Learners"),
    log:
        f"{DATA}/logs/compare_learners.log",
    message:
        "Compare the learners."
    script:
        "../scripts/learners_compare.py"
