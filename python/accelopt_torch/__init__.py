# SPDX-License-Identifier: Apache-2.0
"""The process in which PyTorch itself runs: a task's reference in Python, and a solution's own `run` beside its replay.

Asked and answered in lines of JSON (docs/triton.md, "With PyTorch"); tensors lie in files of one folder, row-major.
"""

PROTOCOL = 1
