# Games x update rules x precisions, and the page that compares them: `snakemake sweep`.  The rules of the
# Snakefile make the runs, each in its own directory; runs of one game share views and index.

from pttt_ooc.pipeline.sweeps import pipeline as grid

SWEEP_DIR = f"data/sweeps/{WINGS['sweep'].name}"
DECISIONS.reserve(SWEEP_DIR)
CELLS = list(grid.cells(CONFIG, WINGS["sweep"]))


rule sweep:
    input:
        f"{SWEEP_DIR}/{grid.PAGE}",
        f"{SWEEP_DIR}/{grid.TABLE}",
    message:
        f"The runs of the sweep are compared in {SWEEP_DIR}/{grid.PAGE}."


rule sweep_report:
    input:
        [f"{run}/{file}" for run in CELLS for file in ("solve.json", "convergence.jsonl", "evaluate.json")],
    output:
        report(f"{SWEEP_DIR}/{grid.PAGE}", caption="../report/sweep.rst", category="Sweep"),
        f"{SWEEP_DIR}/{grid.TABLE}",
    log:
        f"{SWEEP_DIR}/logs/report.log",
    params:
        runs=CELLS,
        sources=grid.page_sources(),
    message:
        "Compare the runs of the sweep."
    script:
        "../scripts/sweep_compare.py"
