"""`pttt lab fsck` where manifests, products or whole stages are missing; the files are small inventions."""

import shutil

import numpy as np
import pytest

from pttt_ooc.cli import commands as cli
from pttt_ooc.disk.files import fresh_store
from pttt_ooc.disk.manifests import read_manifest, write_manifest
from pttt_ooc.disk.store import write_array, write_attrs
from pttt_ooc.learners.runs import STAGES as LEARNER
from pttt_ooc.other_games.smbc.pipeline import STAGES as SMBC
from pttt_ooc.pipeline.frontier.pipeline import STAGES as FRONTIER
from pttt_ooc.pipeline.stages.directories import home_of, manifest_of
from pttt_ooc.pipeline.stages.product_check import describe_product
from pttt_ooc.pipeline.stages.stage_sets import UNLISTED, WORKFLOW

PACKED = (".zip", ".h5")  # formats of their own, which the tests of contents know
SETS = {
    "workflow": (WORKFLOW, {"game": "g", "symmetry": "full"}),
    "unlisted": (UNLISTED, {"game": "g", "symmetry": "full", "listed": False}),
    "smbc": (SMBC, {}),
    "frontier": (FRONTIER, {}),
    "learner": (LEARNER, {"game": "g"}),
}


def product_of(path):
    if path.suffix == ".zarr":
        with fresh_store(path) as store:
            write_array(store, "a", np.arange(1000), compress=True)
    elif path.name == "snapshots":
        product_of(path / "1.zarr")
    else:
        path.write_text('{"row": 1}\n')


def make_stage(results, kind, stage, **facts):
    """Leave what a stage leaves, as if it had read the products of all earlier ones."""
    home = home_of(results, stage)
    home.mkdir(parents=True, exist_ok=True)
    products = [name for name in kind.products[stage] if not name.endswith(PACKED)]
    for name in products:
        product_of(home / name)
    read = {}
    for earlier in list(kind.products)[: list(kind.products).index(stage)]:
        if (file := manifest_of(results, earlier)).exists():
            made = read_manifest(file, earlier)["products"]
            read |= {name: facts["digest"] for name, facts in made.items()}
    told = {name: describe_product(home / name) for name in products}
    write_manifest(manifest_of(results, stage), stage, products=told, made_from=read, **facts)


def delete(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results of each set; syncing them to disk takes the time of these tests."""
    place = tmp_path_factory.mktemp("whole")
    for name, (kind, facts) in SETS.items():
        for stage in kind.products:
            make_stage(place / name / "full", kind, stage, **facts)
    return place


@pytest.fixture
def make_all(whole):
    def make_all(results, name, *left_out):
        shutil.copytree(whole / name / "full", results)
        for stage in left_out:
            for left in (f"{stage}.json", *SETS[name][0].products[stage]):
                delete(results / left)
        return results

    return make_all


def fsck(capsys, directory):
    """Code, problems, and facts with the summary."""
    with pytest.raises(SystemExit) as end:
        cli.main(["lab", "fsck", str(directory)])
    out, err = capsys.readouterr()
    return end.value.code or 0, err.splitlines(), out.splitlines()


def is_missing(line, file, *beside):
    return line.startswith(f"{file}, the manifest of stage '{file.stem}', is missing beside {', '.join(beside)}: ")


@pytest.mark.parametrize("name", SETS)
def test_a_whole_set_is_well(make_all, tmp_path, capsys, name):
    place = make_all(tmp_path / "g/full", name)
    for folder in ("logs", ".verified", "solution.zarr.wip"):
        (place / folder).mkdir()
    code, problems, [summary] = fsck(capsys, tmp_path)
    assert (code, problems) == (0, []) and summary.endswith(": all is well.")
    for folder in ("0-0/commits", "snapshots"):  # a state that was killed at once, and what belongs to states
        (place / "work/name" / folder).mkdir(parents=True)
    assert fsck(capsys, tmp_path) == (0, [], [summary.replace("0 saved states", "1 saved state")])


def test_a_deleted_manifest_with_half_of_its_product(make_all, tmp_path, capsys):
    """The chunk is half as long, and nothing is left that says so, except that the manifest is gone."""
    place = make_all(tmp_path / "g/full", "workflow")
    (place / "enumerate.json").unlink()
    [chunk] = [file for file in (place / "views.zarr").rglob("*") if file.is_file() and file.name != "zarr.json"]
    chunk.write_bytes(chunk.read_bytes()[: chunk.stat().st_size // 2])
    code, [problem], [summary] = fsck(capsys, tmp_path)
    later = ["index.json", "solve.json", "finish.json", "evaluate.json", "export.json", "report.json"]
    assert code == 1 and summary.endswith(": 1 problem.")
    assert is_missing(problem, place / "enumerate.json", "views.zarr", *later)


CASES = [(name, stage) for name, (kind, _) in SETS.items() for stage in kind.products]


@pytest.mark.parametrize(("name", "stage"), CASES)
def test_each_missing_manifest_is_told(make_all, tmp_path, capsys, name, stage):
    kind, _ = SETS[name]
    place = make_all(tmp_path / "g/full", name)
    manifest_of(place, stage).unlink()
    there = [name for name in kind.products[stage] if not name.endswith(PACKED)]
    reads = stage != "equilibria"  # later stages run without it, too, and it has no products
    beside = [*there, *[f"{one}.json" for one in kind.later(stage) if reads]]
    code, problems, out = fsck(capsys, place)
    if beside:
        [problem] = problems
        assert code == 1 and is_missing(problem, manifest_of(place, stage), *beside) and len(out) == 1
    else:  # it is optional and has no products
        assert (code, problems) == (0, []) and stage == "equilibria"


@pytest.mark.parametrize(("name", "stage"), [case for case in CASES if case[0] in ("workflow", "frontier")])
def test_later_manifests_alone_are_enough(make_all, tmp_path, capsys, name, stage):
    place, later = make_all(tmp_path / "g/full", name, stage), SETS[name][0].later(stage)
    _, problems, out = fsck(capsys, tmp_path)
    if later:
        [problem] = problems
        assert is_missing(problem, place / f"{stage}.json", *[f"{one}.json" for one in later])
    else:
        assert problems == [] and out[:-1] == [f"{place}: not run yet: {stage}."]


@pytest.mark.parametrize(("name", "stage"), [("workflow", "finish"), ("workflow", "solve"), ("smbc", "report")])
def test_products_alone_are_enough(make_all, tmp_path, capsys, name, stage):
    kind, _ = SETS[name]
    place = make_all(tmp_path / "g/full", name, *kind.later(stage))
    (place / f"{stage}.json").unlink()
    _, [problem], _ = fsck(capsys, tmp_path)
    assert is_missing(problem, place / f"{stage}.json", *kind.products[stage])


def test_stages_that_have_not_run_are_no_problem(make_all, tmp_path, capsys):
    kind, facts = SETS["workflow"]
    place = tmp_path / "g/full"
    rest = ["enumerate", "index", "solve", "finish", "evaluate", "export", "report"]
    while rest:
        make_stage(place, kind, rest.pop(0), **facts)
        told = [stage for stage in rest if stage != "finish"]
        code, problems, out = fsck(capsys, tmp_path)
        assert (code, problems) == (0, [])
        assert out[:-1] == [f"{place}: not run yet: {', '.join(told)}."] * bool(told)
    delete(tmp_path / "g")
    for stage in kind.products:
        if stage != "finish":  # finish: none
            make_stage(place, kind, stage, **facts)
    assert fsck(capsys, tmp_path)[:2] == (0, [])
    match = make_all(tmp_path / "smbc", "smbc", "findings", "report")  # its goals, before its findings
    assert fsck(capsys, match) == (
        0,
        [],
        [f"{match}: not run yet: findings, report.", "Checked 0 saved states and 2 products: all is well."],
    )


def test_manifests_alone_say_whose_they_are(make_all, tmp_path, capsys):
    match = make_all(tmp_path / "smbc", "smbc", "findings", "equilibria", "report")
    for product in SMBC.products["solve"]:
        delete(match / product)
    code, problems, out = fsck(capsys, match)
    assert code == 1 and len(problems) == 2 and all("No such file" in problem for problem in problems)
    assert out[0] == f"{match}: not run yet: findings, report."


def test_no_manifest_is_left(make_all, tmp_path, capsys):
    """Stores alone are enough; a page alone is not, since wings without manifests write pages of the same names."""
    place = make_all(tmp_path / "g/full", "workflow")
    for file in place.glob("*.json"):
        file.unlink()
    code, problems, _ = fsck(capsys, tmp_path)
    assert code == 1
    assert [line.partition(",")[0] for line in problems] == [
        str(place / f"{stage}.json") for stage in ("enumerate", "index", "solve", "finish", "export", "report")
    ]
    learner = make_all(tmp_path / "learners/xfp", "learner")
    (learner / "learn.json").unlink()
    _, [problem], _ = fsck(capsys, tmp_path / "learners")
    assert is_missing(problem, learner / "learn.json", "solution.zarr", "log.jsonl")
    pages = tmp_path / "arena"
    pages.mkdir()
    (pages / "report.html").write_text("of the arena")
    _, [error], _ = fsck(capsys, pages)
    assert "There is no state of the solver and no product" in error


def test_runs_share_a_structure(tmp_path, capsys):
    kind, facts = SETS["workflow"]
    place = tmp_path / "g/full"
    for stage in ("enumerate", "index"):
        make_stage(place, kind, stage, **facts)
    run = place / "runs/other"
    make_stage(run, kind, "solve", **facts)
    code, problems, out = fsck(capsys, tmp_path)
    assert (code, problems) == (0, []) and out[:-1] == [
        f"{place}: not run yet: solve, evaluate, export, report.",
        f"{run}: not run yet: evaluate, export, report.",
    ]
    (place / "index.json").unlink()
    _, [problem], _ = fsck(capsys, tmp_path)
    assert is_missing(problem, place / "index.json", "index.zarr", str(run / "solve.json"))
    _, [problem], _ = fsck(capsys, run)
    assert is_missing(problem, place / "index.json", "index.zarr", str(run / "solve.json"))
    for left in ("enumerate.json", "views.zarr", "index.zarr"):  # nothing is left but the run
        delete(place / left)
    _, [first, second], _ = fsck(capsys, tmp_path)
    assert is_missing(first, place / "enumerate.json", str(run / "solve.json"))
    assert is_missing(second, place / "index.json", str(run / "solve.json"))


def test_the_directory_of_a_named_run_by_any_name(tmp_path, capsys, monkeypatch):
    kind, facts = SETS["workflow"]
    run = tmp_path / "g/full/runs/other"
    for stage in ("enumerate", "index", "solve"):
        make_stage(run, kind, stage, **facts)
    for place, name in ((run, "."), (run.parent, "other"), (run / "snapshots", ".."), (tmp_path, "g/full/runs/other")):
        monkeypatch.chdir(place)
        code, problems, out = fsck(capsys, name)
        assert (code, problems) == (0, []) and "other: not run yet: evaluate, export, report." in out[0], name


def test_a_product_that_its_manifest_does_not_describe(make_all, tmp_path, capsys):
    kind, facts = SETS["workflow"]
    place = make_all(tmp_path / "g/full", "workflow")
    manifest = read_manifest(place / "solve.json", "solve")
    del manifest["products"]["snapshots"], manifest["stage"], manifest["format_version"]
    write_manifest(place / "solve.json", "solve", **manifest)
    code, [problem], _ = fsck(capsys, tmp_path)
    assert code == 1 and problem.startswith(f"{place / 'snapshots'} is there, but {place / 'solve.json'} does not")


def test_what_is_not_checked_is_told(make_all, tmp_path, capsys):
    place = make_all(tmp_path / "g/full", "workflow")
    (place / "notes.txt").write_text("mine")
    (place / "findings.json").write_text("{}")  # another wing's stage has that name
    shutil.copytree(place / "solution.zarr", place / "mine.zarr")
    (tmp_path / "arena/claim").mkdir(parents=True)
    (tmp_path / "arena/claim/result.json").write_text("{}")
    code, problems, out = fsck(capsys, tmp_path)
    assert (code, problems) == (0, []) and out[:-1] == [
        f"{place}: not checked, since no manifest describes it: findings.json, mine.zarr, notes.txt.",
        f"{tmp_path}: not checked, since no manifest describes it: arena.",
    ]


def test_a_stale_stage_is_told(make_all, tmp_path, capsys):
    kind, facts = SETS["workflow"]
    place = make_all(tmp_path / "g/full", "workflow", "export", "report")
    (place / "convergence.jsonl").write_text('{"row": 2}\n')
    manifest = read_manifest(place / "solve.json", "solve")
    manifest["products"]["convergence.jsonl"] = describe_product(place / "convergence.jsonl")
    del manifest["stage"], manifest["format_version"]
    write_manifest(place / "solve.json", "solve", **manifest)
    code, problems, out = fsck(capsys, place)
    another = "was made from it; the next run makes it again."
    assert (code, problems) == (0, []) and out[:2] == [
        f"convergence.jsonl has changed since {place / f'{s}.json'} {another}" for s in ("finish", "evaluate")
    ]


def test_the_solution_of_a_game_without_a_name_has_no_manifest(make_all, tmp_path, capsys):
    make_all(tmp_path / "g/full", "workflow")
    nameless = tmp_path / "rules of my own/none"
    product_of(nameless / "solution.zarr")
    write_attrs(nameless / "solution.zarr", {"rules": {}})
    code, problems, out = fsck(capsys, tmp_path)
    assert (code, problems) == (0, []) and "rules of my own" in out[0] and len(out) == 2


def test_a_wings_damaged_product_is_found(make_all, tmp_path, capsys):
    """Before, only stages of the workflow's names were looked at."""
    run = make_all(tmp_path / "learners/xfp", "learner")
    (run / "log.jsonl").write_text('{"row": 3}\n')
    code, [problem], _ = fsck(capsys, tmp_path)
    assert code == 1 and problem.startswith(f"{run / 'log.jsonl'} was changed or damaged after stage 'learn'")
    match = make_all(tmp_path / "smbc", "smbc")
    (match / "findings.json").write_text("{}")
    assert any(str(match / "findings.json") in line for line in fsck(capsys, match)[1])
