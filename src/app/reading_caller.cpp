// SPDX-License-Identifier: Apache-2.0
#include "app/reading_caller.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/c_tokens.hpp"
#include "suites/mutant_text.hpp"

namespace accelopt::app {
namespace {

bool holds(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

bool is_store_past_caches(const model::Token& token) {
  switch (token.kind) {
    case model::TokenKind::identifier:
      return token.text == "__builtin_nontemporal_store" || token.text.starts_with("__builtin_ia32_movnt") ||
             (token.text.starts_with("_mm") && holds(token.text, "_stream_") && !holds(token.text, "_stream_load"));
    case model::TokenKind::string:  // of an asm statement, of _Pragma
      return holds(token.text, "movnt") || holds(token.text, "nontemporal");
    case model::TokenKind::preprocessor:
      return holds(token.text, "nontemporal") || holds(token.text, "_stream_") || holds(token.text, "movnt");
    default:
      return false;
  }
}

}  // namespace

bool stores_past_caches(const model::Solution& solution) {
  const std::vector<model::Token> tokens = model::c_tokens(model::main_text(solution));
  return std::ranges::any_of(tokens, is_store_past_caches);
}

model::Solution with_outputs_read(const model::Definition& definition, const model::Solution& solution) {
  std::string names;
  const auto pass = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
  for (const model::TensorSpec& input : definition.inputs) {
    if (model::is_passed_as_input(input)) pass(input.name);
  }
  std::string reads;
  for (const model::TensorSpec& output : definition.outputs) {
    pass(output.name);
    reads += fmt::format(
        "  for (int64_t i = 0; i < (int64_t)sizeof *{0} * ({1}); i += 64)\n"
        "    (void)((const volatile unsigned char*){0})[i];\n",
        output.name, suites::elements(output));
  }
  for (const std::string& axis : model::variable_axes(definition)) pass(axis);
  return model::with_main_text(
      solution, fmt::format("#define kernel kernel_that_is_timed\n{}\n#undef kernel\n#ifdef __cplusplus\nextern \"C\"\n"
                            "#endif\nvoid kernel({}) {{\n  kernel_that_is_timed({});\n{}}}\n",
                            model::main_text(solution), suites::kernel_parameters(definition), names, reads));
}

}  // namespace accelopt::app
