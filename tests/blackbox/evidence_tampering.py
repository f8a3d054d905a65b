# SPDX-License-Identifier: Apache-2.0
"""Evidence archives taken apart and put together again, with one thing changed: as they are, or with honest hashes over what is dishonest."""

import hashlib
import io
import json
import tarfile

BLOCK = 512


def canonical(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def header(name, size, kind=b"0", **fields):
    """One header as accelopt writes it, but for the fields that are given: (place, bytes)."""
    raw = bytearray(BLOCK)
    raw[0:len(name)] = name.encode()
    for at, text in ((100, b"0000644"), (108, b"0000000"), (116, b"0000000"), (124, b"%011o" % size), (136, b"00000000000"), (257, b"ustar\00000")):
        raw[at:at + len(text)] = text
    raw[156:157] = kind
    for at, text in fields.values():
        raw[at:at + len(text)] = text
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw)
    return bytes(raw)


def member(name, text, kind=b"0", **fields):
    return header(name, len(text), kind, **fields) + text + bytes(-len(text) % BLOCK)


def tar(members):
    """Members in this very order, and the end."""
    return b"".join(member(name, text) for name, text in members) + bytes(2 * BLOCK)


class Archive:
    """An archive's members, open to every change."""

    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.members = {one.name: archive.extractfile(one).read() for one in archive.getmembers()}

    @property
    def run(self):
        return json.loads(self.members["run.json"])

    @property
    def steps(self):
        return [json.loads(line) for line in self.members["steps.jsonl"].splitlines()]

    def change_run(self, change):
        run = self.run
        change(run)
        self.members["run.json"] = canonical(run).encode() + b"\n"

    def change_steps(self, change):
        """`change` is given the list of steps."""
        steps = self.steps
        change(steps)
        self.members["steps.jsonl"] = "".join(canonical(step) + "\n" for step in steps).encode()

    def change_step(self, kind, change, last=False):
        """The first (or last) step whose kind begins so and which passed, where it says whether it did."""
        def change_all(steps):
            fitting = [s for s in steps if s["kind"].startswith(kind) and
                       (not isinstance(s["output"], dict) or s["output"].get("status", "PASSED") == "PASSED")]
            change(fitting[-1 if last else 0])
        self.change_steps(change_all)

    def change_text(self, name, old, new):
        text = self.members[name]
        assert old in text, (name, old)
        self.members[name] = text.replace(old, new, 1)

    @property
    def schema(self):
        return json.loads(self.members["manifest.json"])["schema"]

    def manifest(self, schema):
        members = [{"name": name, "sha256": hashlib.sha256(text).hexdigest(), "size": len(text)}
                   for name, text in sorted(self.members.items()) if name != "manifest.json"]
        root = hashlib.sha256(canonical(members).encode()).hexdigest()
        return canonical({"type": "evidence", "schema": schema, "members": members, "root": root}).encode() + b"\n"

    def sealed(self, schema=None):
        """With hashes that are right."""
        self.members["manifest.json"] = self.manifest(schema or self.schema)
        return self.bytes()

    def bytes(self):
        return tar(sorted(self.members.items()))

    def python_tar(self):
        """As Python's tarfile writes it by default: another form of the same members."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for name, text in sorted(self.members.items()):
                info = tarfile.TarInfo(name)
                info.size = len(text)
                info.mtime = 1
                archive.addfile(info, io.BytesIO(text))
        return out.getvalue()
