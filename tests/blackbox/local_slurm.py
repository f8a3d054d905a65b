# SPDX-License-Identifier: Apache-2.0
"""A real Slurm of one node: munge, controller and node daemon of this user's own, with all that they write in one folder."""

import getpass
import os
import shutil
import socket
import subprocess
import time
import unittest

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "scontrol", "sinfo", "squeue")
START_SECONDS = 60


def find(name):
    return shutil.which(name) or next((path for folder in ("/usr/sbin", "/usr/local/sbin") if os.access(path := f"{folder}/{name}", os.X_OK)), None)


def free_ports(count):
    """Ports that nobody listens at now, all of them different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class LocalSlurm:
    """`environment` is what Slurm's commands need. The node has eight processors for Slurm, however many it has."""

    def __init__(self, folder):
        self.programs = {name: find(name) for name in PROGRAMS}
        if lacking := [name for name, path in self.programs.items() if path is None]:
            raise unittest.SkipTest(f"needs Slurm and munge on this machine (slurm-wlm, munge): no {', '.join(lacking)}")
        self.folder = folder
        self.daemons = []
        self.node = socket.gethostname().split(".")[0]
        folder.mkdir(mode=0o755)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        self.configuration = folder / "slurm.conf"
        self.environment = {"SLURM_CONF": str(self.configuration)}
        try:
            self.start_munge()
            # Another program may take a port between its choice and Slurm's listening at it.
            if not any(self.start_slurm(number) for number in range(3)):
                raise unittest.SkipTest(f"no Slurm can be run here: {self.said()}")
        except BaseException:
            self.close()
            raise

    def start(self, name, *arguments):
        log = open(self.folder / f"{name}.out", "ab")
        process = subprocess.Popen([self.programs[name], *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env={**os.environ, **self.environment}, start_new_session=True)
        log.close()
        self.daemons.append(process)
        return process

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        socket_path = self.folder / "munge.socket"
        process = self.start("munged", "--foreground", "--force", "--key-file", key, "--socket", socket_path, "--pid-file",
                             self.folder / "munge.pid", "--log-file", self.folder / "munge.log", "--seed-file", self.folder / "munge.seed")
        deadline = time.monotonic() + START_SECONDS
        while not socket_path.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise unittest.SkipTest(f"no munge can be run here: {self.said()}")
            time.sleep(0.02)

    def start_slurm(self, number):
        controller_port, node_port = free_ports(2)
        user = getpass.getuser()
        self.configuration.write_text(f"""\
ClusterName=test
SlurmctldHost={self.node}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={self.folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
MinJobAge=300
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/slurmd.pid
SlurmctldLogFile={self.folder}/slurmctld.log
SlurmdLogFile={self.folder}/slurmd.log
NodeName={self.node} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes={self.node} Default=YES MaxTime=INFINITE State=UP
""", encoding="utf-8")
        daemons = [self.start("slurmctld", "-D", "-c"), self.start("slurmd", "-D")]
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if any(daemon.poll() is not None for daemon in daemons):
                break
            if self.call("sinfo", "--noheader", "--format=%t", check=False).stdout.strip() == "idle":
                return True
            time.sleep(0.1)
        for daemon in daemons:
            self.end(daemon)
        return False

    def said(self):
        """The last words of each daemon."""
        files = [path for pattern in ("*.out", "*.log") for path in sorted(self.folder.glob(pattern))]
        return " ".join(f"{path.name}: {path.read_text(errors='replace')[-300:]!r}" for path in files)

    def call(self, name, *arguments, check=True, seconds=60):
        done = subprocess.run([self.programs[name], *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds,
                              env={**os.environ, **self.environment})
        if check and done.returncode != 0:
            raise AssertionError(f"{name} {arguments}: {done.stderr}\n{self.said()}")
        return done

    def jobs(self, name=None):
        """The ids of the jobs that wait or run, by state."""
        listed = self.call("squeue", "--noheader", "--format=%A %T", *(["--name", name] if name else [])).stdout.split()
        return dict(zip(listed[::2], listed[1::2]))

    def end(self, process):
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def close(self):
        if len(self.daemons) > 1:
            self.call("scancel", "--user", getpass.getuser(), check=False)
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and self.call("squeue", "--noheader", check=False).stdout.strip():
                time.sleep(0.1)
        for process in reversed(self.daemons):
            if process.poll() is None:
                self.end(process)
