# SPDX-License-Identifier: Apache-2.0
"""sandboxed.py SCRATCH PROGRAM ARGUMENTS...: runs a program without /proc, /dev/null, namespaces and capabilities, as in a
sandbox of the tightest kind."""

import os
import sys

import support

sys.path.insert(0, str(support.PACKAGE.parent))
from accelopt_capture import landlock, seccomp  # noqa: E402
from accelopt_capture.kernel_calls import PR_SET_NO_NEW_PRIVS, drop_capabilities, prctl  # noqa: E402

prctl(PR_SET_NO_NEW_PRIVS, 1)
drop_capabilities()
readable = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", str(support.PACKAGE.parent), str(support.site_packages()), sys.base_prefix,
            sys.prefix, os.path.realpath(sys.argv[2]), str(support.ROOT / "build" / "python")]
landlock.restrict(readable, [sys.argv[1]])
seccomp.install(signals_refused=False)
os.execv(sys.argv[2], sys.argv[2:])
