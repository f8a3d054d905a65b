# SPDX-License-Identifier: Apache-2.0
"""python3 -I -S .../accelopt_capture --triton SITE_PACKAGES: works as a folder, nothing has to be installed."""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry).resolve() != FOLDER]
sys.path.insert(0, str(FOLDER.parent))

from accelopt_capture import server  # noqa: E402

if __name__ == "__main__":
    sys.exit(server.main(sys.argv[1:]))
