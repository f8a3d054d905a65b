#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solutions that attack the server, the machine or the next solution. After each the same honest one is captured as before."""

import glob
import os
import tempfile
import unittest

import support
from kernels import ADD_INTO, HEAD, TUNED
from support import tensor

X, Y, Z = tensor("x", 1000), tensor("y", 1000), tensor("z", 1000)
LIMITS = {"wall_s": 30, "host_s": 5}


def body(text):
    return HEAD + "import ctypes, os, signal, socket, sys, threading, time\ndef run(x, y, z):\n" + "".join(
        f"    {line}\n" for line in text.strip("\n").split("\n"))


def tried(*statements):
    """A solution that raises what of these has worked."""
    lines = ["worked = []"]
    for statement in statements:
        lines += ["try:", *(f"    {line}" for line in statement.split("\n")), f"    worked.append({statement!r})",
                  "except Exception: pass"]
    return body("\n".join([*lines, "raise RuntimeError(f'worked: {worked}')"]))


class Attacks:
    """What every attack is measured by."""

    options: tuple = ()
    wrapper: tuple = ()

    captured = 0

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        wrapper = [cls.scratch.name if part is None else part for part in cls.wrapper]
        cls.server = support.Server("--scratch", cls.scratch.name, *cls.options, wrapper=wrapper)
        cls.honest = cls.capture_honest()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.scratch.cleanup()

    @classmethod
    def capture_honest(cls):
        cls.captured += 1  # another text each time: its machine code is compiled, and not what was kept
        answer = cls.server.capture(f"{ADD_INTO}# {cls.captured}\n", [X, Y], [Z])
        answer["ok"].pop("seconds")
        return answer

    def tearDown(self):
        self.assertEqual(self.capture_honest(), self.honest)
        self.assertEqual(os.listdir(self.scratch.name), [])
        self.assertEqual(self.children(), [])

    def children(self):
        """Processes below the server."""
        with open(f"/proc/{self.server.process.pid}/task/{self.server.process.pid}/children", encoding="ascii") as file:
            return file.read().split()

    def attack(self, source, kind=None, call=None, inputs=(X, Y), **options):
        answer = self.server.capture(source, inputs, [Z], limits={**LIMITS, **options})
        if kind is not None:
            self.assertIn("error", answer)
            self.assertEqual(answer["error"]["kind"], kind, answer["error"])
        if call is not None:
            self.assertEqual(answer["error"].get("call"), call, answer["error"])
        return answer


class Processes(Attacks):
    """Attacks that a namespace ends; they have to fail where there is none, too."""

    def test_endless_loop(self):
        self.attack(body("while True: pass"), "limit", "host_s", host_s=0.5)
        self.attack(body("signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass"), "limit", "wall_s", wall_s=1)
        self.attack(body("signal.signal(signal.SIGALRM, signal.SIG_IGN)\ntime.sleep(1000)"), "limit", "wall_s", wall_s=1)

    def test_fork_bomb(self):
        """It can start nothing, whether somebody counts its processes or not."""
        self.attack(body("while True:\n    try: os.fork()\n    except OSError: pass"), "limit", "host_s", host_s=0.5)
        answer = self.attack(tried("os._exit(os.fork())", "os.posix_spawn('/bin/true', ['true'], {})", "os.execv('/bin/true', ['true'])",
                                   "threading.Thread(target=print).start()"), "python")
        self.assertIn("worked: []", answer["error"]["message"])

    def test_other_processes_and_the_kernel(self):
        server = self.server.process.pid
        answer = self.attack(tried(
            *(f"os.kill({pid}, {number})" for pid in (server, os.getpid()) for number in (0, 9)),
            f"open('/proc/{server}/mem', 'r+b')", "open('/proc/self/mem', 'r+b')", f"os.open('/proc/{server}/fd/1', os.O_WRONLY)",
            "os.open(f'/proc/{os.getppid()}/fd/1', os.O_WRONLY)", "socket.socket()", "socket.create_connection(('127.0.0.1', 1))",
            "assert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0", "assert ctypes.CDLL(None).unshare(0x10000000) == 0",
            "assert ctypes.CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, 0) == 0", "assert ctypes.CDLL(None).syscall(425, 1, 0) >= 0",
            "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (-1, -1))", "os.setuid(12345)", "os.setpriority(0, 0, -5)",
            f"import resource\nresource.prlimit({server}, resource.RLIMIT_NOFILE, (1, 1))", f"os.sched_setaffinity({server}, {{0}})"), "python")
        self.assertIn("worked: []", answer["error"]["message"])

    def test_daemons_end_with_their_request(self):
        self.attack(body("if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)\nos.wait()"))
        self.attack(ADD_INTO + "    import os, time\n    if os.fork() == 0: time.sleep(1000)\n")

    def test_compilers_that_never_end(self):
        source = TUNED.replace("    tl.store(", "    for k in tl.static_range(1 << 30):\n        n += k\n    tl.store(")
        begun = support.now()
        self.attack(source, "limit", "compile_s", [X], compile_s=1)
        self.assertLess(support.now() - begun, 60)

    def test_descriptors_and_environment(self):
        answer = self.attack(body("found = []\nfor fd in range(3, 1024):\n    try: os.fstat(fd); found.append(fd)\n    except OSError: pass\n"
                                  "raise RuntimeError(f'{len(found)} {sorted(os.environ)}')"), "python")
        self.assertRegex(answer["error"]["message"], r"^RuntimeError: 1 \['HOME', 'LANG', 'PATH', 'TMPDIR', 'TRITON_CACHE_DIR', 'TRITON_INTERPRET'\]$")


class Hostile(Processes, unittest.TestCase):
    def test_memory_bomb(self):
        self.attack(body("a = []\nwhile True: a.append(bytearray(1 << 26))"), "limit", "memory_bytes", memory_bytes=1 << 28)
        self.attack(body("import mmap\na = []\nwhile True:\n    m = mmap.mmap(-1, 1 << 27)\n    m[:] = bytes(1 << 27)\n    a.append(m)"),
                    memory_bytes=1 << 28)

    def test_thread_bomb(self):
        self.attack(body("while True: threading.Thread(target=time.sleep, args=(100,)).start()"))

    def test_prints_without_end(self):
        self.attack(body("while True: os.write(1, b'x' * 65536)"), "limit", "printed_bytes")
        self.attack(body("while True: print('x' * 65536, file=sys.stderr)"), "limit", "printed_bytes")

    def test_metadata_of_files_elsewhere(self):
        with tempfile.NamedTemporaryFile() as victim:
            before = os.stat(victim.name)
            answer = self.attack(tried(f"os.chmod({victim.name!r}, 0o4777)", f"os.utime({victim.name!r}, (0, 0))",
                                       f"os.chown({victim.name!r}, 0, 0)", f"os.setxattr({victim.name!r}, 'user.x', b'1')",
                                       "os.memfd_create('a')"), "python")
            self.assertIn("worked: []", answer["error"]["message"])
            after = os.stat(victim.name)
            self.assertEqual((before.st_mode, before.st_mtime, before.st_uid), (after.st_mode, after.st_mtime, after.st_uid))

    def test_folders_in_folders_go(self):
        self.attack(body("for _ in range(2500):\n    os.mkdir('d')\n    os.chdir('d')\nraise ValueError('deep')"), "python")

    def test_half_a_character(self):
        answer = self.attack(body("raise ValueError('half \\ud800')"), "python")
        self.assertIn("half ?", answer["error"]["message"])

    def test_a_result_with_infinities(self):
        forge = "import struct\nt = b'{\"ok\":{\"cubins\":[],\"choices\":[],\"findings\":[],\"plans\":[],\"seconds\":{\"host\":1e999}}}'\n" \
                "for fd in range(3, 64):\n    try: os.write(fd, struct.pack('<4sII', b'ACp1', len(t), 0) + t)\n    except OSError: pass\nos._exit(0)"
        self.attack(body(forge), "crashed")

    def test_large_files(self):
        self.attack(body("with open('f', 'wb') as f:\n    while True: f.write(bytes(1 << 20))"), file_bytes=1 << 22)

    def test_dies(self):
        self.attack(body("os._exit(0)"), "crashed")
        self.attack(body("os.abort()"), "crashed")
        self.attack(body("ctypes.string_at(0)"), "crashed")

    def test_garbage_in_every_descriptor(self):
        write = "for fd in range(3, 512):\n    try: os.write(fd, {})\n    except OSError: pass\nos._exit(0)"
        self.attack(body(write.format("b'garbage' * 100")), "crashed")
        forged = "__import__('struct').pack('<4sII', b'ACp1', {}, 0) + {}"
        for text in (b"[]", b"{}", b'{"ok": {}}', b'{"ok": 3, "error": 4}', b'{"ok": {"cubins": [{}], "choices": [], "plans": [], '
                     b'"findings": [], "seconds": {}}}', b'{"error": {"kind": "odd", "message": ""}}', b"[" * 5000, b"NaN", b"\xff"):
            self.attack(body(write.format(forged.format(len(text), text))), "crashed")
        self.attack(body(write.format("__import__('struct').pack('<4sII', b'ACp1', 1 << 31, 1 << 31)")), "crashed")
        self.attack(body("while True:\n    for fd in range(3, 16):\n        try: os.write(fd, bytes(1 << 20))\n        except OSError: pass"),
                    "limit", cubin_bytes=1 << 20)

    def test_forged_results_have_the_protocols_form(self):
        forge = "import gc\nfor p in gc.get_objects():\n    if type(p).__name__ == 'Plan': p.ops.append({})\n"
        for op in ({"op": "launch"}, {"op": "eat"}, [], {"op": "fill", "to": 3, "bits": 0}, {"op": "choose", "choice": 0, "alternatives": [3]}):
            with self.subTest(op):
                answer = self.attack(body(forge.format(op)))
                self.assertIn(answer["error"]["kind"], ("crashed", "python"), answer)

    def test_no_cubin_comes_from_where_a_solution_runs(self):
        """It is compiled in another process, from the solution's text."""
        source = ADD_INTO + "    m = __import__('accelopt_capture.compiling', fromlist=['x'])\n" \
            "    m.compile_all = m.compile_job = lambda *_: [m.Compiled({}, '', b'\\x7fELF forged')]\n"
        self.assertEqual(self.attack(source)["ok"]["cubins"], self.honest["ok"]["cubins"])

    def test_kernels_of_no_file(self):
        made = "import linecache\ntext = '@triton.jit\\ndef add(x, y, z, n, BLOCK: tl.constexpr):\\n    tl.store(z, 1.0)\\n'\n" \
            "linecache.cache['m.py'] = (len(text), None, text.splitlines(True), 'm.py')\nexec(compile(text, 'm.py', 'exec'))\n"
        answer = self.attack(ADD_INTO.replace("\ndef run", made + "\ndef run"), "refused", "triton.jit")
        self.assertIn("in the solution's files", answer["error"]["message"])
        forged = ADD_INTO + "    add._unsafe_update_src('def add(x, y, z, n, BLOCK: tl.constexpr):\\n    tl.store(z, 1.0)\\n')\n" \
            "    add[(1,)](x, y, z, n, BLOCK=256)\n"
        self.assertEqual(len(self.attack(forged)["ok"]["cubins"]), 1)  # the file's text is what counts

    def test_forged_records(self):
        """What leaves the solution's process is read as hostile: another index, name or type is no result."""
        forge = "import gc\nj = next(o for o in gc.get_objects() if type(o).__name__ == 'Jobs')\n" \
            "p = next(o for o in gc.get_objects() if type(o).__name__ == 'Plan')\nd = p.ops[-1]['described']\n"
        for line in ("j.functions.forms[0]['file'] = '../etc/passwd'", "j.functions.forms[0]['names']['tl'] = {'of': ['os', 'system']}",
                     "j.functions.forms[0]['names']['tl'] = {'module': 'os'}", "j.functions.forms[0]['names'] = 7", "j.functions.forms[0]['line'] = 1",
                     "j.functions.forms.clear()", "d['function'] = 7", "d['function'] = -1", "d['values'].pop()", "d['values'][0] = {'odd': 1}",
                     "d['values'][0]['view']['offset'] = 4", "d['values'][0]['view']['shape'] = [-1]", "d['values'][0]['view']['buffer'] = 'w'",
                     "d['values'][0]['view']['dtype'] = 'float99'", "d['options'] = {'num_warps': {'float': 'x'}}",
                     "p.buffers.append(p.buffers[0])", "p.ops[-1]['grid'] = ['x']", "p.ops.append(7)",
                     "p.ops.append({'op': 'choose', 'choice': 3, 'alternatives': []})",
                     "p.ops.append({'op': 'upload', 'data': '!', 'to': d['values'][2]['view']})"):
            with self.subTest(line):
                answer = self.attack(ADD_INTO + "".join(f"    {one}\n" for one in (forge + line).split("\n")))
                self.assertIn(answer["error"]["kind"], ("crashed", "refused", "compile"), answer)

    def test_no_state_from_one_workload_to_the_next(self):
        source = ADD_INTO.replace("def run", "import builtins, os\nseen = []\ndef run") + \
            "    seen.append(1)\n    builtins.seen = getattr(builtins, 'seen', 0) + 1\n    assert len(seen) == builtins.seen == 1, 'state'\n"
        workload = {"inputs": [X, Y], "outputs": [Z]}
        answer = self.server.ask(op="capture", files=[{"name": "main.py", "content": source}], entry="main.py::run",
                                 workloads=[{"name": name, **workload} for name in "abc"])
        self.assertEqual(len(answer["ok"]["plans"]), 3, answer)

    def test_patched_recorder_does_not_outlive_its_process(self):
        self.attack(body("for name, m in list(sys.modules.items()):\n    if name.startswith(('accelopt_capture', 'triton')):\n"
                         "        for key in list(vars(m)):\n            if callable(vars(m)[key]): setattr(m, key, None)"))
        self.attack("import builtins, sys\nfor n in ('len', 'isinstance', 'range', 'print'): setattr(builtins, n, None)\n" + body("pass"))

    def test_stand_in_holds_no_data(self):
        answer = self.attack(body("raise RuntimeError([x.storage_.values, x.storage_.lazy, x.storage_.known(), x.storage_.keep])"))
        self.assertIn("[None, None, None, []]", answer["error"]["message"])

    def test_writes_no_file(self):
        """Neither cache entries, nor a compiler of its own, nor as many as the disk takes."""
        answer = self.attack(tried(
            "os.makedirs(os.environ['TRITON_CACHE_DIR'])", "open('p', 'w')", "os.symlink('/etc', 'l')", "os.mkdir('d')", "os.mkfifo('f')",
            "import tempfile\ntempfile.TemporaryFile()", "open('/dev/shm/p', 'w')", "os.truncate(os.environ['HOME'], 0)"), "python")
        self.assertIn("worked: []", answer["error"]["message"])

    def test_files(self):
        with tempfile.NamedTemporaryFile() as secret:
            answer = self.attack(tried(
                f"open({secret.name!r})", f"open({secret.name!r}, 'w')", "open('/etc/passwd')", "os.listdir('/root')", "os.listdir('/tmp')",
                f"open({self.scratch.name!r} + '/planted', 'w')", f"os.symlink('/etc', {self.scratch.name!r} + '/link')",
                f"open({str(support.PACKAGE / 'planted.py')!r}, 'w')", f"open({str(support.site_packages() / 'planted.py')!r}, 'w')",
                "os.link('/etc/passwd', 'p')\nopen('p')", "os.symlink('/etc/passwd', 'q')\nopen('q')"), "python")
        self.assertIn("worked: []", answer["error"]["message"])
        self.assertEqual(glob.glob(str(support.PACKAGE / "planted*")), [])

    def test_a_compiler_of_its_own(self):
        source = ADD_INTO + "    import os\n    os.environ['TRITON_PTXAS_PATH'] = '/bin/true'\n" \
            "    triton.knobs.nvidia.ptxas_options = '--no-such'\n"
        self.assertEqual(self.attack(source)["ok"]["cubins"], self.honest["ok"]["cubins"])

    def test_hooks_that_fail(self):
        self.attack(TUNED.replace("num_warps=8)", 'num_warps=8, pre_hook=lambda n: __import__("os")._exit(3))'), "crashed", inputs=[X])
        self.attack(ADD_INTO.replace("x.numel()", "x.numel()\n    x.__class__.__getattr__ = None"))


class WithoutNamespaces(Processes, unittest.TestCase):
    """As in a sandbox that lets nobody make namespaces: signals to others are refused instead."""

    options = ("--without", "namespaces")

    def test_reports_its_isolation(self):
        self.assertNotIn("namespace", self.server.ready["isolation"])


class InsideASandbox(Attacks, unittest.TestCase):
    """Without /proc and /dev/null, and with nothing that counts processes."""

    wrapper = (support.python(), os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandboxed.py"), None)

    def test_reports_its_isolation(self):
        self.assertEqual(self.server.ready["isolation"], "landlock+seccomp+rlimits")

    def test_starts_no_process(self):
        self.attack(body("for n in range(20):\n    if os.fork() == 0: time.sleep(1000)"), "python")


if __name__ == "__main__":
    support.main(__name__)
