// SPDX-License-Identifier: Apache-2.0
// A C or C++ file as a tree of functions, statements and expressions, every node with its place in the text. The tree
// is the reader's own: small values that own no library objects, may be copied, and stay valid when the library's
// handle is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/solution.hpp"
#include "syntax/clang.hpp"

namespace accelopt::syntax {

/// Half-open range of byte offsets in the main file.
struct Extent {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool contains(const Extent& other) const { return begin <= other.begin && other.end <= end; }
  [[nodiscard]] std::size_t size() const { return end - begin; }
  bool operator==(const Extent&) const = default;
};

enum class ExpressionKind {
  integer,      ///< literal; `value`
  floating,     ///< literal; `text` as spelled
  name,         ///< variable, parameter, enumerator or macro; `text`, `declaration`, `value` where it is a constant
  subscript,    ///< operands: base, index; std::vector's operator[] too
  unary,        ///< `text`: - + ! ~ * & ++ -- (prefix) or p++ p-- (postfix)
  binary,       ///< `text`: the operator, without assignments
  assign,       ///< `text`: = += -= *= /= ...; operands: target, value
  conditional,  ///< operands: condition, then, else
  call,         ///< `text`: callee as spelled; operands: arguments
  cast,         ///< `text`: the type that the value is converted to explicitly
  other         ///< anything else; operands hold the expressions inside, so that names can be found
};

/// Parentheses and implicit conversions have no node of their own.
struct Expression {
  ExpressionKind kind = ExpressionKind::other;
  std::string text;
  std::string type;  ///< canonical, without const: "float", "long", "const float *" is "float *"
  std::vector<Expression> operands;
  Extent extent;
  std::int64_t declaration = -1;  ///< name: offset of its declaration in the main file; -1: declared elsewhere
  std::optional<std::int64_t> value;
};

/// A variable that a statement declares.
struct Variable {
  std::string name;
  std::string type;  ///< as spelled: "const float *", "std::vector<float>"; of an array the element's: "float"
  std::int64_t declaration = -1;        ///< offset of its name in the main file: the identity that names refer to
  std::vector<std::string> dimensions;  ///< of an array: each extent as text
  std::optional<Expression> initializer;
  bool constant = false;   ///< const or constexpr at the top level
  bool is_static = false;  ///< static or thread_local
};

enum class StatementKind { block, loop, declaration, expression, branch, return_value, other };

/// `for (T variable = begin; variable < end; variable += step)`, or a for loop of another form (`canonical` false).
struct LoopHeader {
  bool canonical = false;  ///< counts upwards by a constant step, bounds known, variable not changed in the body
  std::string variable;
  std::string variable_type;  ///< as spelled, e.g. "int64_t"; empty when declared outside of the loop
  std::int64_t declaration = -1;
  std::optional<Expression> begin;
  std::optional<Expression> end;  ///< exclusive bound; where `inclusive`, the last value
  bool inclusive = false;         ///< `<=`
  std::int64_t step = 1;
  Extent extent;  ///< from `for` to the closing parenthesis
};

struct Statement {
  StatementKind kind = StatementKind::other;
  Extent extent;                         ///< with its semicolon
  std::vector<Statement> children;       ///< block: statements; loop: the body; branch: then, else
  std::vector<Variable> variables;       ///< declaration
  std::optional<Expression> expression;  ///< expression, branch (its condition), return_value
  std::optional<LoopHeader> loop;        ///< loop
};

/// One use of a variable, enumerator or function.
struct NameUse {
  std::string name;
  std::int64_t declaration = -1;
  Extent extent;
};

struct Parameter {
  std::string name;
  std::string type;        ///< as spelled: "const float *"
  std::string value_type;  ///< canonical, without pointers and const: "float", "long", "int"
  int pointer_depth = 0;   ///< 0: by value
  bool is_const = false;   ///< what it points to (by value: itself) is const
  bool is_restrict = false;
  Extent extent;
  std::int64_t declaration = -1;
};

enum class FunctionKind { plain, static_member, member };

struct Function {
  std::string name;
  std::string scope;  ///< named namespaces and classes around it, each with its "::": "app::Filter::"
  FunctionKind kind = FunctionKind::plain;
  std::string return_type;        ///< as spelled: "uint32_t"
  std::string return_value_type;  ///< canonical, without const: "unsigned int"
  std::vector<Parameter> parameters;
  Extent extent;               ///< whole definition, `extern "C"` of a single declaration and templates not included
  Extent body;                 ///< with its braces
  Statement block;             ///< the body's statements
  std::vector<NameUse> names;  ///< every use inside the definition, in order
  std::vector<std::string> helpers;  ///< functions of the same file that it calls, directly, each once
  std::size_t returns = 0;           ///< return statements in it, those of lambdas too

  [[nodiscard]] std::string qualified_name() const { return scope + name; }
};

struct Include {
  std::string name;  ///< as spelled with its delimiters: "<cmath>", "\"task.h\""
  Extent line;       ///< the whole line, line end excluded
};

struct Diagnostic {
  int line = 0;
  int column = 0;
  std::string message;
};

/// A file that was read.
struct Unit {
  std::string source;
  model::Language language = model::Language::cpp;
  std::vector<Function> functions;  ///< definitions in this file, in order
  std::vector<Function> members;    ///< definitions of classes' member functions, in order
  std::vector<Include> includes;
  std::vector<std::string> files_read;  ///< on disk: headers of the system, which are most of the time that parse takes
  std::vector<Diagnostic> errors;       ///< in this file itself; what could be read is there all the same

  /// The text at an extent.
  [[nodiscard]] std::string_view text(const Extent& extent) const {
    return std::string_view(source).substr(extent.begin, extent.size());
  }
  /// The definition of that name, or null.
  [[nodiscard]] const Function* find(std::string_view name) const;
};

/// A file that exists only in memory, found by `#include "name"`.
struct HeaderFile {
  std::string name;
  std::string text;
};

struct ParseInput {
  std::string source;
  model::Language language = model::Language::cpp;  ///< c or cpp
  std::vector<HeaderFile> headers;
  std::vector<std::string> arguments;  ///< further compiler arguments; "-std=" defaults to c17 or c++20
  std::string before{};                ///< the text of a header that is read before the source, as by -include
};

/// Reads the file. Headers that cannot be found are left out, and what does not depend on them is read.
/// Threads: may be called from several at once with the same handle.
/// @error invalid_argument: another language than C or C++; internal: libclang gave no tree.
base::Result<Unit> parse(const Clang& clang, const ParseInput& input);

/// Loops whose variable is changed in their own body, inside of the statement, are no longer canonical.
void mark_modified_loops(Statement& statement);

}  // namespace accelopt::syntax
