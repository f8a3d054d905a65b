# SPDX-License-Identifier: Apache-2.0
from accelopt_nki.language import *  # noqa: F403
from accelopt_nki.language import __getattr__ as __getattr__
