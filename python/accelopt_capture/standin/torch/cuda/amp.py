# SPDX-License-Identifier: Apache-2.0
"""torch.cuda.amp, under its older name."""

from torch.amp import autocast, custom_bwd, custom_fwd  # noqa: F401
