"""The scales of shades: they are fixed, and every text is read on every shade, in both schemes, by WCAG's formula."""

import re
from pathlib import Path

import pytest

import pttt_ooc
from pttt_ooc.site.explore.boards import BELIEF, DARKEST, LOSS, PROBABILITY, REGRET, VALUE

ROOT = Path(pttt_ooc.__file__).parent
SCALES = {"probability": PROBABILITY, "belief": BELIEF, "value": VALUE, "regret": REGRET, "loss": LOSS}
TEXTS = ("p", "square", "mark")  # on shades; `.zero` is on what is about 0, the opponent's marks on no shade
LEAST = 4.5


def schemes():
    """The colours of the light and of the dark scheme."""
    text = (ROOT / "site" / "shell" / "static" / "shell.css").read_text()
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6})", one)) for one in re.findall(r":root \{(.*?)\}", text, re.S))
    return {"light": light, "dark": light | dark}


def rules():
    """The colour variable of each class of text and shade on boards."""
    text = "".join(
        (ROOT / path).read_text() for path in ("site/shell/static/shell.css", "site/explore/static/explore.css")
    )
    found = {}
    for selectors, colour in re.findall(r"([^{}]+)\{ ?fill: var\(--(\w+)\)", text):
        found |= {one.strip(): colour for one in selectors.split(",")}
    return found


def rgb(colour):
    return [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]


def luminance(colour):
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def over(colour, opacity, paper):
    return [opacity * c + (1 - opacity) * p for c, p in zip(rgb(colour), rgb(paper), strict=True)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_is_read_on_every_shade(scheme):
    colours, fills = schemes()[scheme], rules()
    shades = {"ours": colours[fills[".board .shade"]], "theirs": colours[fills[".board .shade.theirs"]]}
    assert len(set(shades.values())) == 2
    texts = {name: colours[fills[f".board .{name}"]] for name in TEXTS}
    told = {}
    for tone, shade in shades.items():
        for step in range(101):
            behind = over(shade, DARKEST * step / 100, colours["paper"])
            told |= {(tone, step, name): contrast(rgb(text), behind) for name, text in texts.items()}
        faint = over(shade, float(PROBABILITY.opacity(0.0005)), colours["paper"])  # about 0: see boards
        told[tone, "faint"] = contrast(rgb(colours[fills[".board .zero"]]), faint)
    told["opponent’s mark"] = contrast(rgb(colours[fills[".board .mark.theirs"]]), rgb(colours["paper"]))
    assert {what: ratio for what, ratio in told.items() if ratio < LEAST} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_shades_of_squares_leave_their_text_readable(scheme):
    """Beliefs in a review, and probabilities of secret goals; digits and numbers have the colour of ink there."""
    colours, text = schemes()[scheme], (ROOT / "site" / "shell" / "static" / "board.css").read_text()
    steps = re.findall(r"\.shade-(\d+) \{ background: color-mix\(in srgb, var\(--tone, var\(--warmer\)\) (\d+)%", text)
    assert [int(step) for step, _ in steps] == list(
        range(1, 11)
    ) and '[class*="shade-"] .square { color: var(--ink)' in text
    assert ".probabilities { --tone: var(--shade); }" in text
    told = {
        (tone, step): contrast(rgb(colours["ink"]), over(colours[tone], int(percent) / 100, colours["paper"]))
        for tone in ("warmer", "shade")
        for step, percent in steps
    }
    assert {what: ratio for what, ratio in told.items() if ratio < LEAST} == {}


@pytest.mark.parametrize("name", SCALES)
def test_a_scale_is_fixed_grows_and_ends_at_the_darkest_shade(name):
    scale = SCALES[name]
    shades = [float(scale.opacity(n / 1000)) for n in range(1001)]
    assert shades == sorted(shades) and shades[0] == 0 and shades[-1] == DARKEST
    assert float(scale.opacity(2.0)) == DARKEST and scale.opacity(-0.5) == scale.opacity(0.5)
    assert [float(stop.opacity) for stop in scale.stops] == [float(scale.opacity(n)) for n, _ in scale.shown]
    assert [float(stop.label.replace("−", "-")) for stop in scale.stops] == [n for n, _ in scale.shown]
    signed = name in ("value", "regret")
    assert {stop.tone for stop in scale.stops} == ({"ours", "theirs"} if signed else {scale.positive})


def test_colours_say_whose_or_how_good():
    assert (PROBABILITY.positive, BELIEF.positive, LOSS.positive) == ("ours", "theirs", "theirs")
    assert [VALUE.tone(n) for n in (-0.1, 0.1)] == [REGRET.tone(n) for n in (-0.1, 0.1)] == ["theirs", "ours"]
