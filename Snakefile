# From the rules of the game to exported strategies and a report.  The stages, in their order:
#
#   enumerate -> index -> solve -> evaluate -> export -> report
#
# Each leaves a manifest, <stage>.json, with content hashes of what it made, and these manifests are
# the edges between the rules.  Stores, which are directories, are not declared: Snakemake cannot see
# what is in them.  Instead, a manifest whose products are gone or incomplete is deleted right here,
# before Snakemake looks; one that describes other products than config.yaml does is set aside; and
# times in the future, of a clock that was wrong, are set right.  A rule's parameters are the part of
# config.yaml that it depends on, and a digest of its sources.  What the solver resumes from is in
# work/, where Snakemake deletes nothing.

import sys
from os.path import relpath
from pathlib import Path

from pttt_ooc.config import check_config, read_yaml
from pttt_ooc.errors import PtttError
from pttt_ooc.stages.place import check_place
from pttt_ooc.stages.provenance import source_digest
from pttt_ooc.disk.resources import small_threads
from pttt_ooc.stages import STAGES
from pttt_ooc.stages.common import check_writable, forget_future, forget_lost
from pttt_ooc.stages.described import set_aside

small_threads()  # the jobs inherit it

try:
    check_place(Path(sys.executable), Path.cwd(), Path(workflow.basedir))
    for file in map(Path, ["config.yaml", *map(relpath, workflow.overwrite_configfiles)]):
        if file.exists():
            read_yaml(file)  # of a doubled key, Snakemake would take the last without a word
except PtttError as error:
    sys.exit(str(error))


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


try:
    CONFIG = check_config(config, " over ".join(map(relpath, workflow.configfiles)))
    DATA = f"data/{CONFIG.game}/{CONFIG.symmetry}"
    check_writable(Path(DATA))
    forget_lost(Path(DATA))
    if workflow.is_main_process:  # what a job finds, the run has begun with
        for sentence in set_aside(Path(DATA), CONFIG):
            print(sentence, file=sys.stderr)
    forget_future(Path(DATA))
except PtttError as error:
    sys.exit(str(error))

BUNDLE = [f"{DATA}/strategies.h5"] if CONFIG.export.bundle else []
ROW_ORDERS = [str(file) for file in (CONFIG.export.infosets_0, CONFIG.export.infosets_1) if file]


localrules:
    all,


# A manifest that is missing is noticed only if it is asked for here.
rule all:
    default_target: True
    input:
        [f"{DATA}/{stage}.json" for stage in STAGES],
        f"{DATA}/pttt_pl0.zip",
        f"{DATA}/pttt_pl1.zip",
        f"{DATA}/player0-infosets.txt",
        f"{DATA}/player1-infosets.txt",
        BUNDLE,
        f"{DATA}/convergence.jsonl",
        f"{DATA}/convergence.svg",
        f"{DATA}/opening.svg",
        f"{DATA}/report.html",
    message:
        "All results are there."


rule enumerate:
    output:
        manifest=f"{DATA}/enumerate.json",
    log:
        f"{DATA}/logs/enumerate.log",
    conda:
        "envs/pttt.yaml"
    resources:
        mem_mb=CONFIG.memory_mb,
    params:
        game=CONFIG.game,
        sources=source_digest("enumerate"),
    message:
        "Enumerate all that the players of {params.game} can see."
    script:
        "workflow/scripts/enumerate.py"


rule index:
    input:
        f"{DATA}/enumerate.json",
    output:
        manifest=f"{DATA}/index.json",
    log:
        f"{DATA}/logs/index.log",
    conda:
        "envs/pttt.yaml"
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb,
    params:
        game=CONFIG.game,
        symmetry=CONFIG.symmetry,
        sources=source_digest("index"),
    message:
        "Index all decisions of {params.game} (symmetry: {params.symmetry})."
    script:
        "workflow/scripts/index.py"


rule solve:
    input:
        f"{DATA}/enumerate.json",
        f"{DATA}/index.json",
    output:
        manifest=f"{DATA}/solve.json",
        convergence=f"{DATA}/convergence.jsonl",
    log:
        f"{DATA}/logs/solve.log",
    conda:
        "envs/pttt.yaml"
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb,
    params:
        game=CONFIG.game,
        symmetry=CONFIG.symmetry,
        settings=CONFIG.solve.model_dump(mode="json"),
        sources=source_digest("solve"),
    message:
        "Solve by {params.settings[algorithm]} on {threads} threads, until the gap is {params.settings[target_nashconv]}"
        " or {params.settings[max_iterations]} iterations or {params.settings[max_minutes]} minutes are over."
    script:
        "workflow/scripts/solve.py"


rule evaluate:
    input:
        f"{DATA}/enumerate.json",
        f"{DATA}/index.json",
        f"{DATA}/solve.json",
    output:
        manifest=f"{DATA}/evaluate.json",
    log:
        f"{DATA}/logs/evaluate.log",
    conda:
        "envs/pttt.yaml"
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb,
    params:
        game=CONFIG.game,
        symmetry=CONFIG.symmetry,
        sources=source_digest("evaluate"),
    message:
        "Evaluate the solution and uniform play against best responses."
    script:
        "workflow/scripts/evaluate.py"


rule export:
    input:
        f"{DATA}/enumerate.json",
        f"{DATA}/index.json",
        f"{DATA}/solve.json",
        f"{DATA}/evaluate.json",
        ROW_ORDERS,
    output:
        f"{DATA}/pttt_pl0.zip",
        f"{DATA}/pttt_pl1.zip",
        f"{DATA}/player0-infosets.txt",
        f"{DATA}/player1-infosets.txt",
        BUNDLE,
        manifest=f"{DATA}/export.json",
    log:
        f"{DATA}/logs/export.log",
    conda:
        "envs/pttt.yaml"
    threads: workflow.cores
    resources:
        mem_mb=CONFIG.memory_mb,
    params:
        game=CONFIG.game,
        symmetry=CONFIG.symmetry,
        settings=CONFIG.export.model_dump(mode="json"),
        sources=source_digest("export"),
    message:
        "Write the two strategies in the course's format."
    script:
        "workflow/scripts/export.py"


rule report:
    input:
        [f"{DATA}/{stage}.json" for stage in STAGES[:-1]],
        f"{DATA}/convergence.jsonl",
    output:
        report(f"{DATA}/report.html", caption="workflow/report/report.rst", category="Report"),
        report(f"{DATA}/convergence.svg", caption="workflow/report/convergence.rst", category="Pictures"),
        report(f"{DATA}/opening.svg", caption="workflow/report/opening.rst", category="Pictures"),
        manifest=f"{DATA}/report.json",
    log:
        f"{DATA}/logs/report.log",
    conda:
        "envs/pttt.yaml"
    resources:
        mem_mb=CONFIG.memory_mb,
    params:
        config=CONFIG.model_dump(mode="json", exclude={"memory_mb"}),
        sources=source_digest("report"),
    message:
        "Write the report."
    script:
        "workflow/scripts/report.py"


onsuccess:
    print(f"The results are in {DATA}.", file=sys.stderr)
