"""Draw the pictures of the documentation from the package's own data.

Usage: ``python docs/make/pictures.py [DATA]``, where DATA is the directory of a finished run (default:
``data/pttt-abrupt/full``).  Without one, the picture of the result is left as it is.
"""

import csv
import gzip
import json
import sys
import zipfile
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import mask_of
from pttt_ooc.games.structure.counts import counts_of
from pttt_ooc.games.structure.orders import all_orders, order_counts
from pttt_ooc.games.structure.views import Pairs, find_pairs, image_of
from pttt_ooc.learners.report import AXES, figure_of
from pttt_ooc.other_games.arena.experiments import records
from pttt_ooc.other_games.arena.experiments.significance import Units
from pttt_ooc.pipeline.frontier.report import interval_figure
from pttt_ooc.pipeline.show.pictures import PALETTE, draw_board

PICTURES, RECORDS = (Path(__file__).parents[1] / name for name in ("pictures", "records"))
PROOF = Path(__file__).parents[2] / "proof"
INK, MUTED, LINE, ACCENT, WARM = (PALETTE[name] for name in ("ink", "muted", "line", "accent", "warm"))
STYLE = {
    **{"svg.fonttype": "path", "svg.hashsalt": "pttt-ooc", "font.size": 10, "text.color": INK},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": LINE, "axes.labelcolor": MUTED},
    **{"xtick.color": LINE, "ytick.color": LINE, "xtick.labelcolor": MUTED, "ytick.labelcolor": MUTED},
}

FRONTIER = ["pttt-2x5k3-abrupt", "pttt-3x4k3-abrupt", "dark-hex-3x4-abrupt"]
FRONTIER += ["pttt-2x6k3-abrupt", "dark-hex-4x4-classical"]
"""The games in the picture of docs/lab/frontier.md."""

# The pair of views in the example of docs/method.md: (squares placed, squares failed) of player 0 and of player 1.
EXAMPLE = (((0, 1), (4,)), ((3, 4), (0,)))
KEYS = ((4, 1), (0, 0))  # each key square with the player who placed there


def save(figure: Figure, name: str) -> None:
    """Write a picture; the same data give the same bytes."""
    figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.1)
    if len(sys.argv) > 2:  # a second argument: a directory for previews
        figure.savefig(Path(sys.argv[2]) / f"{name}.png", dpi=110, bbox_inches="tight", pad_inches=0.1)


# ---------------------------------------------------------------------------------------------
# A pair of views and its orders


def attempt(player: int, square: int) -> str:
    """An attempt in the notation of the infosets."""
    return f"{square}{'*' if square in EXAMPLE[player][0] else '.'}"


def texts(player: int, orders: np.ndarray) -> list[str]:
    """Orders in the notation of the infosets."""
    return ["|" + "".join(attempt(player, square) for square in order) for order in orders]


def times(order: np.ndarray, player: int) -> dict[int, int]:
    """The half-move at which each square was attempted."""
    return {int(square): 2 * t + player for t, square in enumerate(order)}


def in_time(order0: np.ndarray, order1: np.ndarray) -> list[bool]:
    """For each key square, whether it was placed before the other player failed on it."""
    both = (times(order0, 0), times(order1, 1))
    return [both[owner][square] < both[1 - owner][square] for square, owner in KEYS]


def draw_timeline(ax: Axes, order0: np.ndarray, order1: np.ndarray, last: bool) -> None:
    """Both orders, half-move by half-move, and the constraints of the key squares."""
    good = in_time(order0, order1)
    ax.set(xlim=(-1.5, 5.6), ylim=(-0.62, 1.75))
    ax.axis("off")
    ax.set_title("these two orders fit together" if all(good) else "these two do not", size=10, color=MUTED, loc="left")
    for player, order in enumerate((order0, order1)):
        y = 1 - player
        ax.text(-1.5, y, f"player {player}", va="center", color=MUTED, size=9)
        ax.plot((-0.4, 5.55), (y, y), color=LINE, zorder=0, lw=1)
        for t, square in enumerate(order):
            x = 2 * t + player
            box = {"boxstyle": "round,pad=0.02", "fc": "white", "ec": MUTED, "lw": 0.8}
            ax.add_patch(FancyBboxPatch((x - 0.26, y - 0.2), 0.52, 0.4, **box))
            ax.text(x, y, attempt(player, square), ha="center", va="center")
    both = (times(order0, 0), times(order1, 1))
    for (square, owner), fine in zip(KEYS, good, strict=True):
        begin, end = (both[owner][square], 1 - owner), (both[1 - owner][square], owner)
        colour = ACCENT if fine else WARM
        down = 1 if owner == 0 else -1
        arrow = FancyArrowPatch(
            (begin[0], begin[1] - 0.24 * down),
            (end[0], end[1] + 0.24 * down),
            arrowstyle="-|>",
            mutation_scale=10,
            color=colour,
            lw=1.3,
        )
        ax.add_patch(arrow)
    if last:
        ax.annotate("", (5.55, -0.5), (-0.45, -0.5), arrowprops={"arrowstyle": "->", "color": MUTED, "lw": 0.8})
        ax.text(2.55, -0.62, "time", ha="center", va="top", color=MUTED, size=9)


def draw_matrix(ax: Axes, orders0: np.ndarray, orders1: np.ndarray) -> None:
    """The timing operator of the pair."""
    for i, one in enumerate(orders0):
        for j, other in enumerate(orders1):
            fits = all(in_time(one, other))
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor=ACCENT if fits else "white", edgecolor=LINE))
            ax.text(j + 0.5, i + 0.52, int(fits), ha="center", va="center", color="white" if fits else MUTED, size=9)
    ax.set(xlim=(0, len(orders1)), ylim=(len(orders0), 0), aspect="equal")
    ax.set_xticks(np.arange(len(orders1)) + 0.5, texts(1, orders1), rotation=60, ha="left", rotation_mode="anchor")
    ax.set_yticks(np.arange(len(orders0)) + 0.5, texts(0, orders0))
    ax.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False, labelsize=9)
    for side in ax.spines.values():
        side.set_visible(False)
    caption = "orders of player 0 (down) and of player 1 (across)"
    ax.text(len(orders1) / 2, len(orders0) + 0.25, caption, ha="center", va="top", color=MUTED, size=9)


def timing_picture() -> None:
    """Two views, two pairs of orders on a time axis, and all pairs of orders."""
    game = named_game("pttt-abrupt")
    orders = []
    for player, (placed, failed) in enumerate(EXAMPLE):
        orders.append(all_orders(mask_of(placed), mask_of(failed), *order_counts(game, player).tables))
    figure = Figure(figsize=(10.2, 3.5))
    for player, bottom in ((0, 0.52), (1, 0.01)):
        ax = figure.add_axes((0.0, bottom, 0.13, 0.37))
        draw_board(ax, game, player, texts(player, orders[player])[0], highlighted=[square for square, _ in KEYS])
        ax.set_title(f"view of player {player}", size=10, color=MUTED)
    find = [texts(p, orders[p]).index for p in (0, 1)]
    shown = (("|0*1*4.", "|3*4*0."), ("|1*4.0*", "|3*4*0."))
    for number, (one, other) in enumerate(shown):
        ax = figure.add_axes((0.17, 0.52 - 0.53 * number, 0.43, 0.42))
        draw_timeline(ax, orders[0][find[0](one)], orders[1][find[1](other)], number == 1)
    draw_matrix(figure.add_axes((0.69, 0.1, 0.31, 0.66)), *orders)
    save(figure, "timing")


# ---------------------------------------------------------------------------------------------
# Sizes


def visited_pairs(pairs: Pairs) -> int:
    """Number of pairs that the sweep for player 0 visits: of representatives, where the mover can win at once."""
    masks = np.stack([pairs.placed[0], pairs.failed[0]])
    images = [image_of(masks, symmetry) for symmetry in named_game("pttt-abrupt").symmetries]
    first = np.min([image[0] << 9 | image[1] for image in images], axis=0)
    chosen = (first == masks[0] << 9 | masks[1]) & (pairs.winning_squares != 0)
    return int(chosen.sum())


def sizes_picture() -> None:
    """From histories to pairs of views."""
    game = named_game("pttt-abrupt")
    pairs = find_pairs(game)
    counts = counts_of(game, pairs)
    bars = [
        ("histories", counts["histories"]),
        ("infosets of both players", sum(counts["total_infosets"])),
        ("pairs of views", counts["pairs"]),
        ("pairs that a sweep visits", visited_pairs(pairs)),
    ]
    figure = Figure(figsize=(8, 2.1))
    ax = figure.add_axes((0.26, 0.14, 0.72, 0.84))
    for y, (_, size) in enumerate(bars):
        ax.barh(y, size, height=0.62, color=ACCENT, zorder=2)
        ax.text(size * 1.25, y, f"{size:,}", va="center")
    ax.set_yticks(range(len(bars)), [name for name, _ in bars])
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.set(xscale="log", xlim=(1e3, 2e12), ylim=(len(bars) - 0.5, -0.5))
    ax.set_xticks([1e3, 1e6, 1e9], ["a thousand", "a million", "a billion"])
    ax.set_xticks([10.0**k for k in range(3, 13)], minor=True, labels=[])
    ax.grid(axis="x", which="both", color=LINE, lw=0.5)
    ax.set_axisbelow(True)
    save(figure, "sizes")


# ---------------------------------------------------------------------------------------------
# A result


def first_row(file: Path) -> np.ndarray:
    """The opening of a strategy: the first row of its tensor."""
    with zipfile.ZipFile(file) as archive, archive.open(archive.namelist()[0]) as stream:
        np.lib.format.read_magic(stream)
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        return np.frombuffer(stream.read(shape[1] * dtype.itemsize), dtype)


def result_picture(data: Path) -> None:
    """How the gap closed by both methods, without the seconds of evaluations, and how both players open."""
    solver, rounds = (
        [json.loads(line) for line in (data / name).read_text().splitlines()]
        for name in ("convergence.jsonl", "rounds.jsonl")
    )
    begin = solver[-1]["seconds"]
    lines = (
        ("SAPDCFR+, 23 million infosets", ACCENT, [(row["seconds"], row["nashconv"]) for row in solver]),
        ("lazy double oracle", WARM, [(begin + row["seconds"], row["nashconv"]) for row in rounds]),
    )
    figure = Figure(figsize=(9.6, 2.9))
    ax = figure.add_axes((0.07, 0.17, 0.4, 0.72))
    for label, colour, points in lines:
        ax.semilogy(*zip(*points, strict=True), color=colour, marker=".", ms=4, lw=1.3, label=label)
    ax.set(xlabel="seconds", yticks=[10.0**power for power in range(-15, 1, 3)], ylim=(3e-16, 5))
    ax.minorticks_off()
    ax.set_title("NashConv: what both could still gain", size=10, color=MUTED)
    ax.legend(loc="lower left", fontsize=9, frameon=False)
    ax.grid(color=LINE, lw=0.5)
    for player in (0, 1):
        ax = figure.add_axes((0.53 + 0.25 * player, 0.1, 0.22, 0.8))
        opening = first_row(data / f"pttt_pl{player}.zip").tolist()
        draw_board(ax, named_game("pttt-abrupt"), player, "|", opening, digits=3)
        ax.set_title(f"first attempt of player {player}", size=10, color=MUTED)
    save(figure, "result")


def learners_picture() -> None:
    """How the learners' gaps fell on the full game, from ``records/learners.csv``; of runs with three seeds, one."""
    curves: dict[str, list[dict[str, float]]] = {}
    with open(RECORDS / "learners.csv", newline="") as file:
        for row in (row for row in csv.DictReader(file) if "-seed" not in row["run"]):
            measured = {name: float(row[name]) for name in AXES}
            curves.setdefault(row["run"], []).append(measured | {"nashconv": 2 * float(row["half_gap"])})
    (uniform,) = curves.pop("uniform")
    save(figure_of({name: ({}, rows) for name, rows in curves.items()}, uniform["nashconv"] / 2), "learners")


def ppo_picture() -> None:
    """What PPO in JAX learns, scored exactly on the way, from ``records/ppo-jax.csv``."""
    curves: dict[str, list[dict[str, float]]] = {}
    with open(RECORDS / "ppo-jax.csv", newline="") as file:
        for row in csv.DictReader(file):
            numbers = {name: float(row[name]) for name in ("steps", "mean", "last")}
            curves.setdefault(row["run"], []).append(numbers)
    lines = {"uniform play": curves.pop("uniform"), "equilibrium with this entropy": curves.pop("quantal response")}
    figure = Figure(figsize=(6.4, 3.1))
    ax = figure.add_axes((0.09, 0.16, 0.88, 0.8))
    end = max(row["steps"] for rows in curves.values() for row in rows) / 1e6
    for (name, (point,)), (x, side) in zip(lines.items(), ((end, "right"), (0.05, "left")), strict=True):
        ax.axhline(point["mean"], color=MUTED, lw=1, linestyle=(0, (4, 3)))
        ax.text(x, point["mean"] + 0.012, f"{name}: {point['mean']:.3f}", ha=side, color=MUTED)
    for number, rows in enumerate(curves.values()):
        for column, colour, label in (("last", WARM, "last network"), ("mean", ACCENT, "mean of networks")):
            points = [(row["steps"] / 1e6, row[column]) for row in rows]
            label = label if number == 0 else "_"
            ax.plot(*zip(*points, strict=True), color=colour, lw=1.3, marker=".", ms=4, label=label)
    ax.set(xlabel="million attempts", ylabel="mean exploitability", xlim=(0, 1.01 * end), ylim=(0, 0.76))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.88), frameon=False, ncols=2)
    ax.grid(color=LINE, lw=0.5)
    ax.set_axisbelow(True)
    save(figure, "ppo-jax")


def frontier_picture() -> None:
    """The proven intervals of games beyond enumeration over time, from ``records/frontier.csv``."""
    curves: dict[str, list[dict[str, float]]] = {}
    with open(RECORDS / "frontier.csv", newline="") as file:
        for row in csv.DictReader(file):
            ends = {f"value_{end}": float(row[end]) for end in ("lower", "upper")}
            curves.setdefault(row["game"], []).append({"seconds": float(row["seconds"]), **ends})
    save(interval_figure({game: curves[game] for game in FRONTIER}), "frontier")


def ultimate_picture() -> None:
    """The figures of the Ultimate report, from our matches: times by depth and turn, and the score by time."""
    lines = records.read(RECORDS / "arena" / "ultimate.jsonl")
    timed = records.read(RECORDS / "arena" / "ultimate-timed.jsonl")
    figure = Figure(figsize=(10.5, 3.3))
    by_depth, by_turn, by_time = figure.subplots(1, 3)
    depths = [
        (int(line["part"]), line["mean_of_agent_0"]["processor_milliseconds"])
        for line in lines
        if line["name"] == "depth-times"
    ]
    by_depth.plot(*zip(*depths, strict=True), color=ACCENT, marker="o")
    by_depth.set(title="alpha-beta with heur3", xlabel="depth", yscale="log")
    by_depth.set_ylabel("milliseconds for a move (mean)")
    for depth, colour in ((2, WARM), (3, ACCENT)):
        (turns,) = (line["turns_of_agent_0"] for line in lines if line["name"] == f"turns-depth-{depth}")
        often = [n for n, moves in enumerate(turns["moves"]) if moves >= 10]
        numbers = [turns["turn"][n] + 1 for n in often]
        by_turn.plot(numbers, [turns["processor_milliseconds"][n] for n in often], color=colour, label=f"depth {depth}")
    by_turn.set(title="the same, by the number of the move", xlabel="move", yscale="log")
    by_turn.legend(frameon=False)
    rivals = (("time-depth-2", "depth 2", WARM), ("time-depth-3", "depth 3", ACCENT), ("time-time", "0.1 s", INK))
    for name, rival, colour in rivals:
        points = []
        for line in timed:
            if line["name"] == name:
                units = Units.of(line)
                points.append((float(line["part"]), units.rate, *units.interval))
        seconds, scores, low, high = map(np.array, zip(*sorted(points), strict=True))
        errors = [scores - low, high - scores]
        by_time.errorbar(seconds, scores, yerr=errors, color=colour, marker="o", capsize=3)
        beside = {"xytext": (8, -3), "textcoords": "offset points", "color": colour}
        by_time.annotate(rival, (seconds[-1], scores[-1]), **beside)
    by_time.axhline(0.5, color=LINE, linewidth=1, zorder=0)
    by_time.set(title="what more time wins, against ...", xlabel="seconds for a move", ylabel="score")
    by_time.set(xscale="log", xlim=(6e-5, 12), ylim=(0, 1))
    figure.tight_layout(w_pad=2)
    save(figure, "ultimate")


# ---------------------------------------------------------------------------------------------
# The thing itself: proven probabilities on boards

SHOWN = ((0, "|", "First attempt of X"), (1, "|", "First attempt of O"), (1, "|0.", "O found a corner taken"))
"""The infosets of the README's picture: player, text, title."""
SQUARE, GAP, TOP = 84, 64, 40
PALE, DEEP = (232, 240, 249), (29, 95, 158)


def chances_of(game: str, player: int, text: str) -> dict[int, float]:
    """What the plan of a game's certificate plays at an infoset: a probability for each of its squares."""
    lines = gzip.decompress((PROOF / f"{game}.txt.gz").read_bytes()).decode().splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith(f"plan {player} "))
    weights = next(line for line in lines[begin + 1 :] if line.partition(" ")[0] == text).split(" ")[1:]
    pairs = [(int(square, 16), int(weight)) for square, _, weight in (word.partition("=") for word in weights)]
    total = sum(weight for _, weight in pairs)
    return {square: weight / total for square, weight in pairs}


def tile(x: float, y: float, fill: str) -> str:
    """An empty square of a board."""
    return f'<rect x="{x}" y="{y}" width="{SQUARE - 4}" height="{SQUARE - 4}" rx="6" fill="{fill}"/>'


def square_of(x: float, y: float, chance: float, shade: float) -> str:
    """A square with its probability; the shade says how large that is.  Nothing here depends on the page's colour."""
    fill = ",".join(str(round(a + shade * (b - a))) for a, b in zip(PALE, DEEP, strict=True))
    ink, told = "#fff" if shade > 0.72 else "#0b2239", f"{100 * chance:.1f}%" if chance else "0"
    return (
        tile(x, y, f"rgb({fill})")
        + f'<text x="{x + SQUARE / 2 - 2}" y="{y + SQUARE / 2 + 5}" fill="{ink}">{told}</text>'
    )


def board_picture() -> None:
    """Boards with the probabilities of the proven equilibrium; text in mid grey, readable on light and dark pages."""
    width, height = 3 * (3 * SQUARE) + 2 * GAP - 4, 3 * SQUARE + TOP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" text-anchor="middle"',
        ' font-family="system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif" font-size="18">',
        "<title>Perfect play of Phantom Tic-Tac-Toe: with which probability each square is attempted</title>",
    ]
    for number, (player, text, title) in enumerate(SHOWN):
        left = number * (3 * SQUARE + GAP)
        parts.append(f'<text x="{left + 1.5 * SQUARE - 2}" y="22" fill="#768390" font-weight="600">{title}</text>')
        chances = chances_of("pttt-abrupt", player, text)
        for square in range(9):
            x, y = left + square % 3 * SQUARE, TOP + square // 3 * SQUARE
            if str(square) in text:  # the opponent's mark
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{SQUARE - 4}" height="{SQUARE - 4}" rx="6" fill="#b9c2cc"/>'
                )
                cross = f"M{x + 25} {y + 25}l30 30m0 -30l-30 30"
                parts.append(f'<path d="{cross}" stroke="#32404e" stroke-width="7" stroke-linecap="round"/>')
            else:
                chance = chances.get(square, 0)
                parts.append(square_of(x, y, chance, chance / max(chances.values())))
    (PICTURES / "board.svg").write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def main() -> None:
    """Draw all."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("data/pttt-abrupt/full")
    with matplotlib.rc_context(STYLE):
        board_picture()
        timing_picture()
        sizes_picture()
        learners_picture()
        ppo_picture()
        frontier_picture()
        ultimate_picture()
        if (data / "export.json").exists():
            result_picture(data)


if __name__ == "__main__":
    main()
