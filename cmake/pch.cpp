// SPDX-License-Identifier: Apache-2.0
// The translation unit that the precompiled header belongs to.
