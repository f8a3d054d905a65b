#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a binary links only to libraries whose sonames newer distributions still carry. Prints the ones that are not
on the list and exits with 1 if there is one."""

import re
import subprocess
import sys

# Sonames that Debian 12 and 13, Ubuntu 22.04 to 25.10 and Fedora 40 to 42 all have.
STABLE = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
    "libcurl.so.4", "libsqlite3.so.0", "libcrypto.so.3", "libseccomp.so.2",
    # Only in builds with sanitizers.
    "libasan.so.8", "libubsan.so.1", "libtsan.so.2",
}


def needed(binary: str) -> set[str]:
    listing = subprocess.run(["readelf", "-d", binary], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.+?)\]", listing))


def main() -> int:
    found = needed(sys.argv[1])
    if not found:
        print(f"{sys.argv[1]}: readelf lists no library")
        return 1
    strangers = sorted(found - STABLE)
    for name in strangers:
        print(f"{sys.argv[1]} links {name}: not on the list of libraries that newer distributions carry")
    print(f"{len(found)} libraries, {len(strangers)} strangers")
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main())
