// SPDX-License-Identifier: Apache-2.0
// Which reorderings of loops keep what a kernel computes. Conservative: whatever is not understood is refused. Arrays
// of different names are taken to be different memory, as a kernel's inputs and outputs are.
#pragma once

#include "recipes/subject.hpp"

namespace accelopt::recipes {

/// Whether the iterations of the loops of a nest may run in any order that keeps the order of each accumulation's terms
/// or reorders them: every array that the nest writes is always accessed at one subscript, and scalars belong to an
/// iteration.
bool is_permutable(const Part& part, const syntax::Loop& nest);

/// Whether the loop's iterations are independent: what they write differs from iteration to iteration.
bool is_parallel(const Part& part, const syntax::Loop& loop);

/// Whether the loop's bounds use the other's variable, or cannot be read.
bool bounds_use(const syntax::Loop& loop, const syntax::Loop& other, const syntax::IndexScope& scope);

/// The loop that is alone in the other's body. Null: there is none.
const syntax::Loop* only_child(const syntax::Loop& loop);

/// Whether the expression can have different values in different iterations of the loop.
bool varies(const syntax::Expression& expression, const syntax::Loop& loop, const syntax::IndexScope& scope);

/// Statements that take the loop's place: in braces of their own where the loop is the whole body of another statement.
std::string as_one_statement(const syntax::Loop& loop, const std::string& statements);

/// `for (k) { const float x = a[k]; for (j) use(x); }` with the values put where they are used, so that the loops
/// become adjacent. None: the body has another form, or a value may change between the two places.
std::optional<std::string> perfected(Subject& subject, const Part& part, const syntax::Loop& outer);

/// Whether the loop and the one that is alone in it can change places.
bool can_interchange(const Part& part, const syntax::Loop& outer);
/// The kernel's text with them changed. Requires can_interchange.
base::Result<std::string> interchanged(Subject& subject, const syntax::Loop& outer);

/// The canonical loop's header with its variable running over other bounds.
std::string header_text(const syntax::LoopHeader& header, const std::string& begin, const std::string& end);

}  // namespace accelopt::recipes
