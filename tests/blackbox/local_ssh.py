# SPDX-License-Identifier: Apache-2.0
"""A real ssh server of this user's own on loopback, whose connections can be cut."""

import getpass
import os
import pathlib
import shutil
import socket
import subprocess
import threading
import unittest


def find(name, *folders):
    return shutil.which(name) or next((str(path) for folder in folders if (path := pathlib.Path(folder, name)).exists()), None)


class LocalSsh:
    """Listens on a port that the system chose, and starts an sshd for each connection (`sshd -i`). `command` is the client's."""

    def __init__(self, folder):
        client, server, keygen = find("ssh"), find("sshd", "/usr/sbin", "/usr/local/sbin"), find("ssh-keygen")
        if not (client and server and keygen):
            raise unittest.SkipTest("needs an ssh client and server on this machine (openssh-client, openssh-server)")
        folder.mkdir(mode=0o700)
        for name in ("host_key", "user_key"):
            subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        (folder / "sshd_config").write_text(
            f"HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/authorized_keys\nPidFile none\nStrictModes no\nUsePAM no\n"
            "PasswordAuthentication no\nPermitRootLogin prohibit-password\n", encoding="utf-8")
        if os.geteuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)  # where it locks itself in before it knows the user
        self.server = [server, "-i", "-e", "-f", str(folder / "sshd_config")]
        self.log_path = folder / "log"
        self.log = open(self.log_path, "ab")
        self.lock = threading.Lock()
        self.connections = []  # (socket, process)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()
        self.command = [client, "-F", "none", "-p", str(self.port), "-i", str(folder / "user_key"), "-l", getpass.getuser(), "-o",
                        "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known_hosts", "-o",
                        "LogLevel=ERROR", "localhost"]
        tried = subprocess.run([*self.command, "true"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if tried.returncode != 0:
            self.close()
            raise unittest.SkipTest(f"no ssh server can be run here: {tried.stderr.decode(errors='replace')} "
                                    f"{self.log_path.read_text(errors='replace')[-400:]}")

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return  # closed
            with self.lock:
                process = subprocess.Popen(self.server, stdin=connection, stdout=connection, stderr=self.log)
                self.connections.append((connection, process))

    def cut(self):
        """Ends every connection of the network between client and server; neither is told anything else."""
        with self.lock:
            for connection, _ in self.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it had ended

    def refuse(self):
        """From now on nobody connects."""
        if self.thread.is_alive():
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            self.thread.join()

    def close(self):
        self.refuse()
        self.cut()
        for connection, process in self.connections:
            process.wait(30)
            connection.close()
        self.log.close()
