"""The core's configuration: error messages for refused values."""

import pytest

from pttt_ooc.config import check_config, shorten
from pttt_ooc.errors import ConfigError

BAD = ("", "..", "a/b", "a b", "-n", "runs/x", "a" * 65, "ä", "a\n", 7, None)  # names that are no run's
NAME = "a name of at most 64 letters, digits, _, + and -, with a letter or digit first"


def refusal(content):
    with pytest.raises(ConfigError) as caught:
        check_config(content)
    sentence = str(caught.value)
    assert sentence.startswith("config.yaml: ") and sentence.endswith(".") and "\n" not in sentence
    return sentence


BOARD = {"rows": 2, "columns": 4, "k": 3, "turn_rule": "abrupt"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"solve": {"max_minutes": -3}}, "solve.max_minutes is -3, but must be greater than 0."),
        ({"solve": {"max_minutes": "60 min"}}, "solve.max_minutes is '60 min', but must be a number."),
        ({"solve": {"max_iterations": True}}, "solve.max_iterations is true, but must be a number."),
        ({"solve": {"max_iterations": 2.5}}, "solve.max_iterations is 2.5, but must be a whole number."),
        ({"solve": {"max_iterations": 0}}, "solve.max_iterations is 0, but must be greater than or equal to 1."),
        ({"solve": {"evaluate_every": 1}}, "solve.evaluate_every is 1, but must be greater than 1."),
        (
            {"solve": {"commit_seconds": float("inf")}},
            "solve.commit_seconds is Infinity, but must be a number, and finite.",
        ),
        ({"solve": {"alpha": 1001}}, "solve.alpha is 1001, but must be less than or equal to 1000."),
        (
            {"solve": {"algorithm": "dcfr", "beta": -1e4}},
            "solve.beta is -10000.0, but must be greater than or equal to -1000.",
        ),
        ({"solve": {"gamma": 1e300}}, "solve.gamma is 1e+300, but must be less than or equal to 1000."),
        ({"solve": {"gamma": float("nan")}}, "solve.gamma is NaN, but must be a number, and finite."),
        (
            {"solve": {"algorithm": "sapcfr+", "asymmetry": -0.1}},
            "solve.asymmetry is -0.1, but must be greater than or equal to 0.",
        ),
        ({"solve": {"horizon": 10**10}}, "solve.horizon is 10000000000, but must be less than or equal to 1000000000."),
        (
            {"solve": {"horizon": 1 << 20000}},
            "solve.horizon is a number of thousands of digits, but must be less than or equal to 1000000000.",
        ),
        (
            {"solve": {"max_iterations": "9" * 4999}},
            f"solve.max_iterations is '{'9' * 57}...', but must be a whole number with fewer digits.",
        ),
        (
            {"solve": {"max_minutes": 1e300}},
            "solve.max_minutes is 1e+300, but must be less than or equal to 1000000000.",
        ),
        ({"memory_mb": 10**400}, f"memory_mb is 1{'0' * 56}..., but must be less than or equal to 1000000000."),
        ({"solve": {"max_minuts": 3}}, "there is no key solve.max_minuts (did you mean max_minutes?)."),
        (
            {"target_nashconv": 1},
            "there is no key target_nashconv (did you mean solve.target_nashconv, in the section solve?).",
        ),
        ({"solve": {1: 2}}, "there is no key solve.1."),
        (
            {"solve": {"max_iterations": 1e99}},
            "solve.max_iterations is 1e+99, but must be a whole number with fewer digits.",
        ),
        ({"report": {"title": 3}}, "report.title is 3, but must be a text."),
        ({"slove": {}}, "there is no key slove (did you mean solve?)."),
        (
            {"colour": 1},
            "there is no key colour; choose from game, symmetry, run, memory_mb, listed, solve, finish, export, "
            "report.",
        ),
        (
            {1: 2},
            "there is no key 1; choose from game, symmetry, run, memory_mb, listed, solve, finish, export, report.",
        ),
        ({"solve": None}, "solve is empty, but must be a section: keys with values, indented below it."),
        ({"solve": 3}, "solve is 3, but must be a section: keys with values, indented below it."),
        (
            {"solve": {"algorithm": "dcrf"}},
            "solve.algorithm is 'dcrf', but must be one of cfr, cfr+, linear-cfr, dcfr, pcfr+, pdcfr+, sapcfr+,"
            " sapdcfr+, hs-dcfr, hs-pcfr+ (did you mean dcfr?).",
        ),
        ({"solve": {"updates": "both"}}, "solve.updates is 'both', but must be one of alternating, simultaneous."),
        ({"solve": {"restart_average": 1}}, "solve.restart_average is 1, but must be greater than 1."),
        ({"solve": {"horizon": 0}}, "solve.horizon is 0, but must be greater than or equal to 1."),
        ({"symmetry": "half"}, "symmetry is 'half', but must be one of full, none."),
        (
            {"game": "pttt-abrubt"},
            "game is 'pttt-abrubt', but must be the name of a game (did you mean pttt-abrupt?),"
            " as in the list of `pttt info`.",
        ),
        (
            {"game": {"rows": 2, "columns": 4}},
            'game is {"rows": 2, "columns": 4}, but must be the name of a game, or'
            " {rows: 2, columns: 4, k: 3, turn_rule: abrupt} with other numbers.",
        ),
        (
            {"game": BOARD | {"turn_rule": "abrubt"}},
            'game is {"rows": 2, "columns": 4, "k": 3, "turn_rule": "abrubt"}, but must be a game with the turn_rule'
            " abrupt or classical.",
        ),
        (
            {"game": "pttt-4x5k3-abrupt"},
            "game is 'pttt-4x5k3-abrupt', but must be another game: Game pttt-4x5k3-abrupt: a board of 4 x 5 squares;"
            " a game has 1 to 16.",
        ),
        (
            {"game": "pttt-2x2k4-abrupt"},
            "game is 'pttt-2x2k4-abrupt', but must be another game: Game pttt-2x2k4-abrupt: on a board of 2 x 2 squares"
            " nobody can have 4 in a row.",
        ),
        (
            {"game": "pttt-3x3k3-abrupt"},
            "game is 'pttt-3x3k3-abrupt', but must be another game: There is one name for each game: pttt-3x3k3-abrupt"
            " is called pttt-abrupt.",
        ),
        ({"game": ["a"]}, 'game is ["a"], but must be the name of a game, as in the list of `pttt info`.'),
        ({"export": {"compression_level": 10}}, "export.compression_level is 10, but must be less than or equal to 9."),
        ({"export": {"bundle": "perhaps"}}, "export.bundle is 'perhaps', but must be true or false."),
        ({"export": {"infosets_0": "no.txt"}}, "export.infosets_0 is 'no.txt', but there is no such file."),
        ({"export": {"infosets_0": "a" * 300}}, f"export.infosets_0 is '{'a' * 57}...', but there is no such file."),
        ({"export": {"infosets_1": 3}}, "export.infosets_1 is 3, but must be the name of a file."),
        *[({"run": name}, f"run is {shorten(name)}, but must be {NAME}.") for name in BAD],
        ({"report": {"compare": ["a", "../b"]}}, f"report.compare[1] is '../b', but must be {NAME}."),
        ({"report": {"infosets": "|"}}, "report.infosets is '|', but must be a list."),
        ({"report": {"title": ""}}, "report.title is '', but must be a text that is not empty."),
        ([1], "there are no keys with values, but [1]."),
    ],
)
def test_refusals(content, sentence):
    assert refusal(content) == f"config.yaml: {sentence}"


@pytest.mark.parametrize(
    ("board", "name"),
    [(BOARD, "pttt-2x4k3-abrupt"), ({**BOARD, "columns": 2, "k": 2}, "mini-2x2k2-abrupt")]
    + [({**BOARD, "rows": 3, "columns": 3, "turn_rule": rule}, f"pttt-{rule}") for rule in ("abrupt", "classical")],
)
def test_a_custom_board_has_a_name(board, name):
    assert check_config({"game": board}).game == name


def test_a_refused_infoset_is_reported_with_its_position():
    assert "report.infosets[1] is '0*4.', but must be an infoset" in refusal({"report": {"infosets": ["|", "0*4."]}})


def test_numbers_that_yaml_reads_as_text():
    assert check_config({"solve": {"target_nashconv": "1e-4"}}).solve.target_nashconv == 1e-4


def test_exponents_may_be_negative_and_the_asymmetry_may_be_zero():
    assert check_config({"solve": {"algorithm": "dcfr", "beta": -3}}).solve.beta == -3
    assert check_config({"solve": {"algorithm": "sapcfr+", "asymmetry": 0}}).solve.asymmetry == 0
