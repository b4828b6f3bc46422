"""A Slurm cluster of two nodes on this machine: authentication, controller and daemons, all in one directory.

It needs Debian's packages slurm-wlm and munge, and root.  Nothing of the system's own Slurm is used or changed, and all
of it ends with the context manager.
"""

import os
import shutil
import signal
import socket
import subprocess
from contextlib import contextmanager

from tests.kits.patience import wait_until

_PATH = f"{os.environ['PATH']}:/usr/sbin"
COMMANDS = ("srun", "sbatch", "scancel")
PROGRAMS = {name: shutil.which(name, path=_PATH) for name in ("munged", "slurmctld", "slurmd", *COMMANDS)}
NODES = ("n1", "n2")
CPUS = 2

CONF = """
ClusterName=pttt
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={here}/munge.socket
CredType=cred/munge
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool-%n
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd-%n.pid
SlurmctldLogFile={here}/slurmctld.log
SlurmdLogFile={here}/slurmd-%n.log
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams={over_memory}
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
MinJobAge=600
ReturnToService=2
KillWait=5
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Cluster:
    """A cluster at work in a directory."""

    def __init__(self, here):
        self.here = here
        conf, path = here / "slurm.conf", here / "bin"
        self.environment = {**os.environ, "SLURM_CONF": str(conf), "PATH": f"{path}:{os.environ['PATH']}"}
        path.mkdir()
        # Within a job, Snakemake's plugin forgets most variables of Slurm, this one too.
        for name in COMMANDS:
            (path / name).write_text(f'#!/bin/sh\nSLURM_CONF={conf} exec {PROGRAMS[name]} "$@"\n')
            (path / name).chmod(0o755)
        self.daemons = []

    def ask(self, *command):
        """What one of Slurm's commands prints."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True).stdout

    def start(self, name, *arguments):
        with open(self.here / f"{name}.out", "ab") as out:
            command = [PROGRAMS[name], *map(str, arguments)]
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=out, stderr=out))

    def jobs(self):
        """Fields of all jobs that the controller remembers, by their numbers."""
        found = {}
        for line in self.ask("scontrol", "--oneliner", "show", "jobs").splitlines():
            fields = dict(part.partition("=")[::2] for part in line.split() if "=" in part)
            if "JobId" in fields:
                found[int(fields["JobId"])] = fields
        return found

    def stop(self):
        for number in [job for job, fields in self.jobs().items() if fields["JobState"] in ("RUNNING", "PENDING")]:
            subprocess.run(["scancel", str(number)], env=self.environment, check=False)
        wait_until(lambda: not self.ask("squeue", "--noheader").strip())
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in reversed(self.daemons):
            daemon.wait(60)


@contextmanager
def cluster(here, node_mb, over_memory="NoOverMemoryKill"):
    """Two nodes with :data:`CPUS` processors and `node_mb` MiB each."""
    here.mkdir(mode=0o755)
    ports = free_ports(1 + len(NODES))
    host = socket.gethostname()
    nodes = "\n".join(
        f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CPUS} RealMemory={node_mb}"
        for node, port in zip(NODES, ports[1:], strict=True)
    )
    (here / "slurm.conf").write_text(
        CONF.format(host=host, ports=ports, here=here, nodes=nodes, over_memory=over_memory)
    )
    (here / "munge.key").write_bytes(os.urandom(1024))
    (here / "munge.key").chmod(0o400)
    for node in NODES:
        (here / f"spool-{node}").mkdir()
    (here / "state").mkdir()
    made = Cluster(here)
    files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid"}
    files |= {"log-file": "munged.log", "seed-file": "munged.seed"}
    try:
        made.start("munged", "--foreground", "--force", *(f"--{key}={here / file}" for key, file in files.items()))
        wait_until((here / "munge.socket").exists)
        made.start("slurmctld", "-D", "-i")
        for node in NODES:
            made.start("slurmd", "-D", "-N", node)
        wait_until(lambda: idle(made))
        yield made
    finally:
        made.stop()


def idle(made):
    try:
        return made.ask("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle"] * len(NODES)
    except subprocess.CalledProcessError:
        return False
