# SPDX-License-Identifier: Apache-2.0
from accelopt_nki.isa import *  # noqa: F403
from accelopt_nki.isa import __getattr__ as __getattr__
