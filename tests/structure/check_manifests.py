#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manifests of examples/kubernetes are what the API's schema says, with no field that it does not know. Prints every violation and
exits with 1 if there is one, and with 77 where the readers are missing."""

import copy
import json
import pathlib
import sys

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing} (python3-yaml, python3-jsonschema)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "tests" / "fixtures" / "kubernetes" / "schema.json").read_text(encoding="utf-8"))
KINDS = {("batch/v1", "Job"): "V1Job", ("apps/v1", "StatefulSet"): "V1StatefulSet"}


def violations(manifest):
    kind = KINDS.get((manifest.get("apiVersion"), manifest.get("kind")))
    if kind is None:
        return [f"{manifest.get('apiVersion')} {manifest.get('kind')} is no known kind"]
    reader = jsonschema.Draft7Validator({**SCHEMA, "$ref": f"#/$defs/{kind}"})
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in reader.iter_errors(manifest)]


def check_self_test(manifest):
    """The check itself must be able to fail: an unknown field, a wrong type, a missing one."""
    for spoil in (lambda pod: pod.update(restart="Never"), lambda pod: pod.update(containers="worker"), lambda pod: pod.pop("containers")):
        spoiled = copy.deepcopy(manifest)
        spoil(spoiled["spec"]["template"]["spec"])
        if not violations(spoiled):
            return ["check_manifests.py: violations is broken"]
    return []


def main():
    problems, files = [], sorted((ROOT / "examples" / "kubernetes").glob("*.yaml"))
    for file in files:
        manifest = yaml.safe_load(file.read_text(encoding="utf-8"))
        problems += [f"{file.name}: {problem}" for problem in violations(manifest)] or check_self_test(manifest)
    print("\n".join(problems) if problems else f"{len(files)} manifests")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
