// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/solution.hpp"
#include "model/tuning.hpp"

namespace accelopt::model {

/// A solution with what is read off its text, its source id and its tuned names: made once, where it comes in. Nothing
/// of it changes afterwards, and copies share it.
class Kernel {
 public:
  Kernel() = default;  ///< of no source, and with an empty id
  explicit Kernel(Solution solution);

  [[nodiscard]] const Solution& solution() const;
  [[nodiscard]] const std::string& id() const;
  /// The configurations that its directives leave open (`expand_tuning`); none without any `//@ tune`.
  [[nodiscard]] tl::expected<TuningSpace, DirectiveProblem> space(const Definition& definition) const;
  /// With one value for each tuned name. None: it has no such directives, or not as many names.
  [[nodiscard]] std::optional<Kernel> with_values(const TuningValues& values) const;

  /// Whether both are of the same text.
  bool operator==(const Kernel& other) const { return solution() == other.solution(); }

 private:
  struct Read;
  std::shared_ptr<const Read> read_;  ///< none: of no source
};

/// As its solution.
void to_json(base::Json& out, const Kernel& kernel);
void from_json(const base::Json& in, Kernel& kernel);
void write_json(base::JsonText& out, const Kernel& kernel);

}  // namespace accelopt::model
