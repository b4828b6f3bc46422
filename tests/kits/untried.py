"""The end of a run says in one line what was not tried on this machine, and what to install so that it is."""

from collections import Counter

NEEDS = {
    # what is in the reason of a skipped test: (what was not tried, Debian's packages, what `make` installs)
    "chromium": ("in a browser", "chromium-headless-shell fonts-dejavu-core", ""),
    "playwright": ("in a browser", "", "make env"),
    "axe_": ("of accessibility", "", "make env"),
    "nginx": ("behind nginx", "nginx-light openssl", ""),
    "PostgreSQL": ("on PostgreSQL", "postgresql", ""),
    "psycopg": ("on PostgreSQL", "", "make env"),
    "libseccomp": ("of bots behind walls", "libseccomp2", ""),
    "pyseccomp": ("of bots behind walls", "", "make env"),
    "OpenSpiel": ("with OpenSpiel as referee", "", "make env"),
    "pyspiel": ("with OpenSpiel as referee", "", "make env"),
    "JAX": ("of deep learners", "", "make env"),
    "PettingZoo": ("of environments", "", "make env"),
    "scipy": ("of linear programs", "", "make env"),
    "highspy": ("of exact equilibria", "", "make env"),
    "distributed": ("of several machines", "", "make env"),
    "dask-jobqueue": ("with Slurm", "", "pip install dask-jobqueue"),
    "flint": ("of exact equilibria", "", "make env"),
    "swiglpk": ("of exact equilibria", "", "make env"),
    "sqlalchemy": ("of the course", "", "make env"),
    "other version of Python": ("with other versions of Python", "", "pyenv install 3.12 3.13"),
    "Slurm": ("with Slurm", "slurm-wlm munge", ""),
    "systemd-analyze": ("of the service for systemd", "systemd", ""),
    "Python 2.7": ("of bots in Python 2", "", "pyenv install 2.7"),
    "needs zsh": ("of completion in zsh", "zsh", ""),
    "needs fish": ("of completion in fish", "fish", ""),
    "needs torch": ("of agents in files", "", "pip install 'pttt-ooc[scoring]'"),
    "needs stable_baselines3": ("of agents in files", "", "pip install 'pttt-ooc[scoring]'"),
    "needs sb3_contrib": ("of agents in files", "", "pip install 'pttt-ooc[scoring]'"),
    "needs onnxruntime": ("of agents in files", "", "pip install 'pttt-ooc[scoring]'"),
    "needs onnx,": ("of agents in files", "", "pip install onnx"),
    "the extra mcp": ("of MCP", "", "pip install mcp"),
    "needs pgx": ("of environments, by pgx", "", "pip install pgx"),
    "Coq is not": ("of theorems", "coq", ""),
    "OCaml is not": ("of theorems", "ocaml-nox", ""),
    "no make": ("of make", "make", ""),
    "no direct reads": ("of moved arrays", "", "TMPDIR=/var/tmp"),
    "no unshare": ("of bots behind walls", "util-linux", ""),
}


def untried(skipped):
    """The line, or an empty text.

    Parameters
    ----------
    skipped
        For each skipped test, or file of tests, the reason.
    """
    counts, packages, commands = Counter(), [], []
    for reason in skipped:
        for part, (what, debian, command) in NEEDS.items():
            if part in reason:
                counts[what] += 1
                packages += debian.split()
                commands += [command] if command else []
                break
    if not counts:
        return ""
    advice = []
    if packages:
        advice.append(f"apt-get install {' '.join(dict.fromkeys(packages))}")
    advice += dict.fromkeys(commands)
    tried = ", ".join(f"{count} {what}" for what, count in counts.items())
    return f"Not tried: {tried}. To try all: {'; '.join(advice)}."


class Untried:
    """A plugin; processes that run tests hand on what they skip while collecting, which xdist does not report."""

    def __init__(self, config):
        self.config, self.files = config, {}

    def pytest_collectreport(self, report):
        if report.skipped:
            self.files[report.nodeid] = report.longrepr[2]

    def pytest_sessionfinish(self):
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["untried"] = self.files

    def pytest_testnodedown(self, node):
        self.files |= getattr(node, "workeroutput", {}).get("untried", {})

    def pytest_terminal_summary(self, terminalreporter):
        tests = terminalreporter.stats.get("skipped", [])
        reasons = {test.nodeid: test.longrepr[2] for test in tests} | self.files
        if line := untried(reasons.values()):
            terminalreporter.write_line(line, yellow=True)
