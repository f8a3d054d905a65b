// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace accelopt::model {

/// How the elements of an input are drawn.
enum class InitKind {
  normal,
  abs_normal,
  uniform,
  integers,
  zeros,
  ones,
  constant,
  permutation,
  indptr,
  sorted,
  distinct,
  values
};

/// `normal(mean, deviation)`, `abs_normal(mean, deviation)` (absolute value), `uniform(low, high)`, `integers(low,
/// high)` (low included, high not), `zeros`, `ones`, `constant(value)`, `permutation` (of 0..n-1 along the last axis),
/// `indptr(total)` (non-decreasing from 0 to total), `sorted(low, high)` (uniform, ascending along the last axis),
/// `distinct(low, high)` (as integers, none twice along the last axis), `values(a, b, ...)` (these, row-major).
/// An argument may be an expression over the axes; `bound` gives it its value.
struct InitSpec {
  InitKind kind = InitKind::normal;
  double first = 0;                          ///< mean, low, value or total
  double second = 1;                         ///< deviation or high
  std::array<std::string, 2> expressions{};  ///< in place of first and second; empty: the number holds
  std::vector<double> values{};              ///< of `values`
  std::array<std::int64_t, 2> rest{};        ///< what first and second lack of a whole number that no double holds
  bool operator==(const InitSpec&) const = default;
};

/// The most numbers that `values` lists.
inline constexpr std::size_t kMostInitValues = 4096;

/// @error parse: unknown generator, wrong number of arguments, no number and no expression; the message lists the known
/// ones.
base::Result<InitSpec> parse_init(std::string_view text);
std::string to_string(const InitSpec& spec);
/// The generator with the values of its expressions. @error as base::evaluate_expression.
base::Result<InitSpec> bound(const InitSpec& spec, const std::map<std::string, std::int64_t>& axes);
/// first (`place` 0) or second (1) where it is a whole number from -2^63 to 2^64: exact, modulo 2^64.
std::uint64_t whole_argument(const InitSpec& spec, std::size_t place);
/// Whether first is below second.
bool is_ascending(const InitSpec& spec);
/// Whether an element depends on the others of its row: permutation, indptr, sorted, distinct, values.
bool draws_whole_rows(InitKind kind);

/// A transformation of the declared init under which an operator is checked.
enum class Family {
  as_declared,
  positive,
  scaled_up,
  scaled_down,
  heavy,
  sparse,
  rows,
  late,
  blocks,
  signed_zeros,
  near_ties,
  extremes,
  outliers,
  coarse
};
/// What an input may be transformed by.
inline constexpr std::array kTransformations{
    Family::positive, Family::scaled_up, Family::scaled_down, Family::heavy,        Family::sparse,
    Family::rows,     Family::late,      Family::blocks,      Family::signed_zeros, Family::near_ties,
    Family::extremes, Family::outliers,  Family::coarse};
std::string_view to_string(Family family);
/// What `families = [...]` may name, separated by commas; `outliers` comes with scaled.
inline constexpr std::string_view kFamilyNames =
    "positive, scaled, heavy, sparse, rows, late, blocks, signed_zeros, near_ties, coarse, extremes";
/// Those of floating inputs.
inline constexpr std::string_view kFloatFamilyNames = kFamilyNames.substr(0, kFamilyNames.rfind(','));
/// One of kFamilyNames, scaled_up or scaled_down; scaled gives both of these.
base::Result<std::vector<Family>> parse_family(std::string_view name);

}  // namespace accelopt::model
