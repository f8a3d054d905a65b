#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make-deb.sh BUILD OUT: a Debian package of what BUILD installs, as OUT/accelopt_VERSION_ARCHITECTURE.deb. It depends on the libraries that its
# programs are linked with, by the packages that hold them on this machine.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 BUILD OUT" >&2; exit 2; }
for tool in cmake dpkg-deb dpkg-query ldd; do
  command -v "$tool" > /dev/null || { echo "make-deb: $tool is needed (Debian: dpkg, cmake, libc-bin)" >&2; exit 1; }
done
build=$(realpath "$1") out=$(realpath -m "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/usr" --strip > /dev/null

# The packages of the libraries; some file systems hold them under /usr, and dpkg knows them without.
packages=$(find "$work/usr/bin" "$work/usr/libexec" -type f -print0 | xargs -0 ldd | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u | while read -r library; do
  real=$(realpath "$library")
  dpkg-query -S "$real" 2> /dev/null || dpkg-query -S "${real#/usr}" 2> /dev/null || dpkg-query -S "$library" 2> /dev/null ||
    echo "make-deb: no package holds $library; the package does not name it" >&2
done | sed 's/:.*//' | sort -u)

version=$("$work/usr/bin/accelopt" version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
mkdir -p "$work/DEBIAN" "$out"
chmod 755 "$work"
cat > "$work/DEBIAN/control" <<CONTROL
Package: accelopt
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: accelopt developers <accelopt@localhost>
Installed-Size: $(du -sk "$work/usr" | cut -f1)
Depends: $(paste -sd, <<< "$packages" | sed 's/,/, /g')
Recommends: g++, libclang1-19, libcurl4, libtree-sitter0
Section: devel
Priority: optional
Description: self-improving optimizer for compute kernels
 Plans optimizations of a kernel, by a language model or built-in recipes, builds
 them in a sandbox, verifies them, and confirms what is faster.
CONTROL
dpkg-deb --root-owner-group --build "$work" "$out/accelopt_${version}_$(dpkg --print-architecture).deb"
