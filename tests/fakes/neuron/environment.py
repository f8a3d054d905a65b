#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""environment.py FOLDER SIMULATOR: makes FOLDER a Python environment with the stand-in for the vendor's package, as a user's would lie there."""

import compileall
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parents[2] / "python"


def make(folder, simulator):
    shutil.rmtree(folder, ignore_errors=True)
    programs = folder / "bin"
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    programs.mkdir(parents=True)
    real = pathlib.Path(sys.executable).resolve()
    (folder / "pyvenv.cfg").write_text(f"home = {real.parent}\ninclude-system-site-packages = false\n")
    (programs / "python3").symlink_to(real)
    shutil.copy(HERE / "neuron-profile", programs)
    shutil.copy(simulator, programs / "neuron_simulator")
    for package in ("accelopt_nki", "neuronxcc"):
        shutil.copytree(PYTHON / package, packages / package, ignore=shutil.ignore_patterns("__pycache__"))
    (packages / "numpy").mkdir()
    shutil.copy(HERE / "numpy.py", packages / "numpy" / "__init__.py")
    nki = packages / "neuronxcc" / "nki"
    (nki / "__init__.py").rename(nki / "_front_end.py")
    shutil.copy(HERE / "nki.py", nki / "__init__.py")
    with (packages / "neuronxcc" / "__init__.py").open("a") as file:
        file.write('\n__version__ = "2.25.0+standin"\n')
    compileall.compile_dir(packages, quiet=1)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
