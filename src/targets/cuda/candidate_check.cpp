// SPDX-License-Identifier: Apache-2.0
#include "targets/cuda/candidate_check.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

#include "model/c_tokens.hpp"
#include "syntax/source_check.hpp"
#include "targets/cuda/declarations.hpp"

namespace accelopt::targets::cuda {
namespace {

using devices::cuda::Cubin;
using devices::cuda::CubinVariable;

/// Redefined, these would make a declaration read as something that it is not.
constexpr std::array kKeptWords =
    std::to_array<std::string_view>({"const", "constexpr", "static", "extern", "volatile", "namespace", "__device__",
                                     "__global__", "__constant__", "__managed__", "__shared__", "__restrict__"});

/// Namespaces of CUDA's own headers.
constexpr std::array kHeaderNamespaces =
    std::to_array<std::string_view>({"cuda", "cooperative_groups", "cub", "thrust", "nvcuda"});

/// Of zeros a cubin has no bytes, as of variables without a value. Constants that are zero are scalars.
constexpr std::int64_t kScalarBytes = 8;

bool is_kept_word(std::string_view word) {
  return std::find(kKeptWords.begin(), kKeptWords.end(), word) != kKeptWords.end();
}

std::string demangled_name(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "a" would be a type's
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

bool has_value(const CubinVariable& variable) {
  return variable.initialised || variable.bytes <= kScalarBytes;
}

bool of_cuda(const CubinVariable& variable, const std::string& name, const Declarations& declarations) {
  if (declarations.variable(declared_name(name).text) || !has_value(variable)) return false;
  // Tables of the mathematical functions, e.g. of the argument reduction of sinf.
  if (variable.name.starts_with("__cudart_") || variable.name.starts_with("__internal_")) return true;
  return std::any_of(kHeaderNamespaces.begin(), kHeaderNamespaces.end(), [&](std::string_view space) {
    if (declarations.opens_namespace(space)) return false;
    const std::string prefix = std::string(space) + "::";
    return name.starts_with(prefix) || name.find("::" + prefix) != std::string::npos;
  });
}

std::string reason_of_missing(const std::string& name) {
  if (name == "vprintf") return "device-side printf is refused: a kernel has nowhere to print to; remove it";
  if (name == "malloc" || name == "free")
    return "device-side malloc, new and free are refused: declare //@ scratch memory instead";
  if (name == "__assertfail") return "device-side assert is refused; remove it";
  if (name.starts_with("cudaLaunch") || name.starts_with("cudaGetParameterBuffer") || name.starts_with("cudaDevice") ||
      name.starts_with("cudaCDP"))
    return "a kernel cannot launch kernels or call the CUDA runtime; write another //@ launch";
  return "the function " + name + " is called and defined nowhere";
}

}  // namespace

std::string refused_device_text(std::string_view source) {
  if (std::string reason = syntax::refused_text(source); !reason.empty()) return reason;
  for (const model::Token& token : model::c_tokens(source)) {
    if (token.kind != model::TokenKind::preprocessor) continue;
    const std::vector<model::Token> words = model::c_tokens(std::string_view(token.text).substr(1));
    const bool defines = words.size() > 1 && (words[0].text == "define" || words[0].text == "undef");
    if (!defines || !is_kept_word(words[1].text)) continue;
    const std::string_view before = source.substr(0, token.offset);
    return std::to_string(std::count(before.begin(), before.end(), '\n') + 1) + ":1: error: a macro named " +
           words[1].text + " is refused";
  }
  return {};
}

std::string refused_cubin(const Cubin& cubin, const model::Solution& solution) {
  for (const std::string& name : cubin.missing) return "error: " + reason_of_missing(name);
  if (cubin.variables.empty()) return {};
  const Declarations declarations(solution);
  for (const CubinVariable& variable : cubin.variables) {
    const std::string name = demangled_name(variable.name);
    if (of_cuda(variable, name, declarations)) continue;
    const DeclaredName own = declared_name(name);
    const bool constant = declarations.constant(own);
    if (has_value(variable) && constant) continue;
    if (variable.initialised && variable.name.starts_with("$str")) continue;
    const std::string found =
        "error: \"" + own.text + "\" (" + std::to_string(variable.bytes) + " bytes of global memory) ";
    if (constant)
      return found +
             "is a constant of zeros, of which a cubin has no bytes: it looks like memory that keeps its value, which "
             "is refused; declare it __constant__ outside of functions, or write 0 where it is read";
    return found +
           "would keep its value from call to call, which is refused; declare it const with its values, by a name that "
           "nothing else has, or use //@ scratch memory";
  }
  return {};
}

}  // namespace accelopt::targets::cuda
