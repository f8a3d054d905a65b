// SPDX-License-Identifier: Apache-2.0
// A child's own view of the file systems, in which it can change nothing but its own folders.
#pragma once

#include <span>

namespace accelopt::sandbox {

/// In a mount namespace of this process's own: no file can be changed any more, nor its mode, owner or times, which
/// Landlock leaves free, but below `writable` (paths that are there; devices can be written all the same). For a child
/// that shares its parent's memory: allocates nothing. False: errno says why.
bool make_read_only(std::span<const char* const> writable);

}  // namespace accelopt::sandbox
