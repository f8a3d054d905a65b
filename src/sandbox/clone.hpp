// SPDX-License-Identifier: Apache-2.0
// Children that share this process's memory until they have started a program.
#pragma once

// The C library's clone(2) by its other name. Clang's ThreadSanitizer steps in at `clone`, takes every child for a
// fork, and ends the records of the threads in the memory that such a child shares.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept;  // NOLINT
