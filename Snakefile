# From the rules of the game to exported strategies and a report.  The stages, in their order:
#
#   enumerate -> index -> solve -> finish -> evaluate -> export -> report
#
# Of a game whose infosets are not listed, these are finish -> evaluate -> report.
# Each writes a manifest, <stage>.json, with content hashes of its products, and these manifests are
# the edges between the rules.  Stores, which are directories, are not declared: Snakemake does not
# look inside them.  Content, not times, decides whether a stage runs: DECISIONS compares its manifest
# with config.yaml, the sources and the products, and tells Snakemake.  Reading this file changes
# nothing on disk; a run takes its locks in `onstart`.  The solver resumes from work/, where Snakemake
# deletes nothing.

import re
import sys
from functools import partial
from os.path import relpath
from pathlib import Path

from snakemake.jobs import Job

from pttt_ooc.cli.sections import check_file, further_runs
from pttt_ooc.cli.workflow_arguments import what_stays
from pttt_ooc.config import read_yaml
from pttt_ooc.errors import PtttError
from pttt_ooc.pipeline.files.export_names import BUNDLE as HDF5, COURSE_FILES
from pttt_ooc.pipeline.stages.path_check import check_place
from pttt_ooc.disk.resources import small_threads
from pttt_ooc.pipeline.stages.comparison import check_compared, compared_files
from pttt_ooc.pipeline.stages.budgets import refuse_small_budget
from pttt_ooc.pipeline.stages.decisions import Decisions
from pttt_ooc.pipeline.stages.directories import SHARED, manifest_of, results_of, structure_of
from pttt_ooc.pipeline.stages.normal_form import check_row_orders, normal_export
from pttt_ooc.pipeline.stages.normal_solve import normal_solve
from pttt_ooc.pipeline.stages.staleness import requested_stages, stages_of

small_threads()  # jobs inherit it

# On a cluster, a job's memory includes Snakemake, which starts the stage, and the compilation of the kernels, once for
# each kind of processor.
BESIDES_MB = 600

try:
    check_place(Path(sys.executable), Path.cwd(), Path(workflow.basedir))
    for file in map(Path, ["config.yaml", *map(relpath, workflow.overwrite_configfiles)]):
        if file.exists():
            read_yaml(file)  # refuses doubled keys; Snakemake would silently take the last
except PtttError as error:
    sys.exit(str(error))


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


try:
    SOURCES = ["--config"] * bool(workflow.config_settings.config) + [*map(relpath, workflow.configfiles)]
    CONFIG, WINGS = check_file(config, " over ".join(SOURCES))
    RUN = str(results_of(Path("data"), CONFIG.game, CONFIG.symmetry, CONFIG.run))
    RUNS = {RUN: CONFIG} | further_runs(CONFIG, WINGS)  # by the directory of their results
    STRUCTURES = {str(structure_of(Path(run))): each for run, each in RUNS.items()}  # views and index, for all runs
    if workflow.is_main_process:  # a job need not repeat the run's checks
        for each in RUNS.values():
            refuse_small_budget(each)
        check_compared(Path(RUN), CONFIG.report.compare)
        check_row_orders(Path(RUN), CONFIG.export)
except PtttError as error:
    sys.exit(str(error))

DATA = str(structure_of(Path(RUN)))
if workflow.is_main_process and (sentence := what_stays(sys.argv[1:], DATA)):
    print(sentence, file=sys.stderr)
STAGES = stages_of(CONFIG, Path(RUN))
COURSE, BUNDLE = CONFIG.export.files(CONFIG.game) if CONFIG.is_listed else (False, False)
EXPORTED = [f"{RUN}/{file}" for file in (*COURSE_FILES * COURSE, *[HDF5] * BUNDLE)]
CONVERGENCE = [f"{RUN}/convergence.jsonl"] * CONFIG.is_listed
MANIFESTS = {stage: str(manifest_of(Path(RUN), stage)) for stage in STAGES}
COMPARED = [str(file) for file in compared_files(Path(RUN), CONFIG.report.compare)]
ROW_ORDERS = [str(file) for file in (CONFIG.export.infosets_0, CONFIG.export.infosets_1) if file]

DECISIONS = Decisions(workflow, ancient, Job)
for structure, each in STRUCTURES.items():
    DECISIONS.add(structure, partial(requested_stages, each, Path(structure), SHARED))
for run, each in RUNS.items():
    DECISIONS.add(run, partial(requested_stages, each, Path(run)))


onstart:
    DECISIONS.begin()


onsuccess:
    DECISIONS.end()


wildcard_constraints:
    structure="|".join(map(re.escape, STRUCTURES)),
    run="|".join(map(re.escape, RUNS)),


localrules:
    all,


# A missing manifest is noticed only if it is an input here.
rule all:
    default_target: True
    input:
        [*MANIFESTS.values()],
        EXPORTED,
        CONVERGENCE,
        f"{RUN}/convergence.svg",
        f"{RUN}/opening.svg",
        f"{RUN}/report.html",
        f"{RUN}/measurements.html",
    message:
        f"The results are in {RUN}."


rule enumerate:
    input:
        lambda wildcards: DECISIONS.inputs(wildcards.structure, "enumerate"),
    output:
        manifest="{structure}/enumerate.json",
    log:
        "{structure}/logs/enumerate.log",
    resources:
        mem_mb=CONFIG.memory_mb + BESIDES_MB,
        budget_mb=CONFIG.memory_mb,
    params:
        game=lambda wildcards: STRUCTURES[wildcards.structure].game,
    message:
        "Enumerate all views of the players of {params.game}."
    script:
        "workflow/scripts/enumerate.py"


rule index:
    input:
        lambda wildcards: DECISIONS.inputs(wildcards.structure, "index"),
    output:
        manifest="{structure}/index.json",
    log:
        "{structure}/logs/index.log",
    resources:
        mem_mb=CONFIG.memory_mb + BESIDES_MB,
        budget_mb=CONFIG.memory_mb,
    params:
        game=lambda wildcards: STRUCTURES[wildcards.structure].game,
        symmetry=lambda wildcards: STRUCTURES[wildcards.structure].symmetry,
    message:
        "Index all decisions of {params.game} (symmetry: {params.symmetry})."
    script:
        "workflow/scripts/index.py"


rule solve:
    input:
        lambda wildcards: DECISIONS.inputs(wildcards.run, "solve"),
    output:
        manifest="{run}/solve.json",
        convergence="{run}/convergence.jsonl",
    log:
        "{run}/logs/solve.log",
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb + BESIDES_MB,
        budget_mb=CONFIG.memory_mb,
    params:
        game=lambda wildcards: RUNS[wildcards.run].game,
        symmetry=lambda wildcards: RUNS[wildcards.run].symmetry,
        settings=lambda wildcards: normal_solve(RUNS[wildcards.run].solve).model_dump(mode="json"),
    message:
        "Solve by {params.settings[algorithm]} on up to {threads} threads, until the gap is {params.settings[target_nashconv]}"
        " or {params.settings[max_iterations]} iterations or {params.settings[max_minutes]} minutes are over."
    script:
        "workflow/scripts/solve.py"


rule finish:
    input:
        lambda wildcards: DECISIONS.inputs(wildcards.run, "finish"),
    output:
        manifest="{run}/finish.json",
        rounds="{run}/rounds.jsonl",
    log:
        "{run}/logs/finish.log",
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb + BESIDES_MB,
        budget_mb=CONFIG.memory_mb,
    params:
        game=lambda wildcards: RUNS[wildcards.run].game,
        symmetry=lambda wildcards: RUNS[wildcards.run].symmetry,
        settings=lambda wildcards: RUNS[wildcards.run].finish.model_dump(mode="json"),
        listed=lambda wildcards: RUNS[wildcards.run].is_listed,
    message:
        "Find the exact equilibrium (finish: {params.settings[method]}), in at most {params.settings[max_minutes]} minutes."
    script:
        "workflow/scripts/finish.py"


rule evaluate:
    input:
        lambda wildcards: DECISIONS.inputs(wildcards.run, "evaluate"),
    output:
        manifest="{run}/evaluate.json",
    log:
        "{run}/logs/evaluate.log",
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb + BESIDES_MB,
        budget_mb=CONFIG.memory_mb,
    params:
        game=lambda wildcards: RUNS[wildcards.run].game,
        symmetry=lambda wildcards: RUNS[wildcards.run].symmetry,
        listed=lambda wildcards: RUNS[wildcards.run].is_listed,
    message:
        "Evaluate the strategies and uniform play against best responses."
    script:
        "workflow/scripts/evaluate.py"


rule export:
    input:
        lambda wildcards: DECISIONS.inputs(RUN, "export"),
        ancient(ROW_ORDERS),
    output:
        EXPORTED,
        manifest=f"{RUN}/export.json",
    log:
        f"{RUN}/logs/export.log",
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb + BESIDES_MB,
        budget_mb=CONFIG.memory_mb,
    params:
        game=CONFIG.game,
        symmetry=CONFIG.symmetry,
        settings=normal_export(CONFIG.export, CONFIG.game).model_dump(mode="json"),
    message:
        "Write the two strategies in the course's format."
    script:
        "workflow/scripts/export.py"


rule report:
    input:
        lambda wildcards: DECISIONS.inputs(RUN, "report"),
        ancient(CONVERGENCE),
        ancient(COMPARED),
    output:
        report(f"{RUN}/report.html", caption="workflow/report/report.rst", category="Report"),
        report(f"{RUN}/measurements.html", caption="workflow/report/measurements.rst", category="Report"),
        report(f"{RUN}/convergence.svg", caption="workflow/report/convergence.rst", category="Pictures"),
        report(f"{RUN}/opening.svg", caption="workflow/report/opening.rst", category="Pictures"),
        manifest=f"{RUN}/report.json",
    log:
        f"{RUN}/logs/report.log",
    resources:
        mem_mb=CONFIG.memory_mb + BESIDES_MB,
        budget_mb=CONFIG.memory_mb,
    params:
        config={**CONFIG.model_dump(mode="json", include={"game", "symmetry", "report"}), "listed": CONFIG.is_listed},
    message:
        "Write the report."
    script:
        "workflow/scripts/report.py"


for wing in WINGS:

    include: f"workflow/rules/{wing}.smk"
