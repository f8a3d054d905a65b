// SPDX-License-Identifier: Apache-2.0
// The type of a parameter in a user's own function: how its elements are reached.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/dtype.hpp"
#include "model/solution.hpp"
#include "syntax/source.hpp"

namespace accelopt::scaffold {

enum class ParameterForm {
  value,            ///< float a
  pointer,          ///< float* x, float x[], float x[16]
  array_reference,  ///< float (&x)[4][8]
  array_pointer,    ///< float x[4][8], float (*x)[8]
  container,        ///< std::span<float> x, const std::vector<float>& x
  other
};

struct ParameterType {
  ParameterForm form = ParameterForm::other;
  std::string element;      ///< canonical, without const: "float", "unsigned long"
  bool is_const = false;    ///< its elements cannot be written through it
  std::string record;       ///< the struct whose members, all of one type, its elements are; `element` is that type
  std::int64_t fields = 0;  ///< members of the record
  std::vector<std::optional<std::int64_t>> extents;  ///< of arrays; none: not a number in the declaration
};

ParameterType type_of(const syntax::Unit& unit, const syntax::Parameter& parameter);

/// What a function of numbers and pointers alone would take in the place of a parameter of another type: "float k" of a
/// const float&, "const float* m" of a const std::array<float, 16>&; of what holds no known number, floats.
std::string flat_declaration(const syntax::Parameter& parameter);

/// What a pointer to its first number is, as an expression: "x", "&x[0][0]", "x.data()".
std::string first_element(const ParameterType& type, const std::string& name);

/// `pointer` as a pointer to another type of the same bytes: "const float*".
std::string cast_pointer(const std::string& type, const std::string& pointer, model::Language language);

/// dtype of a C type's canonical spelling; none where the task format has none.
std::optional<model::DType> dtype_of(const std::string& type);

}  // namespace accelopt::scaffold
