// SPDX-License-Identifier: Apache-2.0
// The compiler's catalogue of errors: for each entry a kernel of tests/nki/refusals.toml, through front end and check.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/toml.hpp"
#include "targets/trainium/tracer.hpp"

namespace accelopt::targets::trainium {
namespace {

/// The catalogue of the vendor's documents, SDK 2.25 to 2.26.
constexpr std::array kCatalogue{"err_1d_arange_not_supported",
                                "err_activation_bias_invalid_type",
                                "err_activation_scale_invalid_type",
                                "err_activation_scale_scalar_or_vector",
                                "err_ambiguous_tensor_truth_value",
                                "err_annotation_shape_mismatch",
                                "err_bias_tensor_must_be_specified_in_allocation",
                                "err_cannot_assign_to_index",
                                "err_cannot_update_immutable_parameter",
                                "err_control_flow_condition_depending_on_arange",
                                "err_copy_dynamic_indirect_indices_not_natively_supported",
                                "err_dynamic_control_flow_not_supported",
                                "err_exceed_max_supported_dimension",
                                "err_failed_to_infer_tile_from_local_tensor",
                                "err_hbm_tensor_with_init_value_not_supported",
                                "err_indirect_indices_are_not_supported_with_nki_api",
                                "err_indirect_indices_free_dim",
                                "err_local_variable_used_out_of_scope",
                                "err_mutable_parameter_not_returned",
                                "err_nested_kernel_with_spmd_grid",
                                "err_nki_api_outside_of_nki_kernel",
                                "err_num_partition_exceed_arch_limit",
                                "err_num_partition_mismatch",
                                "err_shared_hbm_must_in_kernel_level",
                                "err_size_of_dimension_exceed_arch_limit",
                                "err_store_dst_shape_smaller_than_other_shape",
                                "err_tensor_access_out_of_bound",
                                "err_tensor_creation_on_scratchpad_with_init_value_not_supported",
                                "err_tensor_output_not_written_to",
                                "err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel",
                                "err_unexpected_output_dependencies",
                                "err_unsupported_expression_in_mask",
                                "err_unsupported_memory",
                                "err_unsupported_mixing_basic_advanced_tensor_indexing",
                                "err_while_loop_requires_unconditional_entry"};

capture::PythonOptions python() {
  capture::PythonOptions out;
  for (const char* name : {"ACCELOPT_PYTHON", "PATH"}) {
    if (const char* value = std::getenv(name); value != nullptr) out.environment[name] = value;
  }
  return out;
}

/// The tables of `[[key]]`, each with its texts by name.
std::vector<std::map<std::string, std::string>> rows(const base::TomlNode& root, std::string_view key) {
  std::vector<std::map<std::string, std::string>> out;
  for (const base::TomlEntry& entry : root.entries) {
    if (entry.key != key) continue;
    for (const base::TomlNode& table : entry.value.items) {
      auto& row = out.emplace_back();
      for (const base::TomlEntry& one : table.entries) row[one.key] = one.value.text;
    }
  }
  return out;
}

std::string source_of(const std::map<std::string, std::string>& row) {
  if (row.contains("source")) return row.at("source");
  std::string out =
      "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n\n\n"
      "@nki.jit\ndef kernel(x):\n    y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n    ";
  for (const char c : row.at("body")) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + "\n    return y\n";
}

class TrainiumRefusals : public testing::Test {
 protected:
  void SetUp() override {
    auto table = base::parse_toml(base::read_file(ACCELOPT_NKI_REFUSALS).value());
    ASSERT_TRUE(table) << table.error().message;
    refused_ = rows(*table, "refused");
    unsupported_ = rows(*table, "unsupported");
    model::Task task;
    task.definition.axes = {{"P", 128}, {"F", 64}};
    model::TensorSpec x;
    x.name = "x";
    x.shape = {"P", "F"};
    task.definition.inputs = {x};
    x.name = "y";
    task.definition.outputs = {x};
    task.workloads.push_back({.name = "only", .axes = {}});
    auto made = Tracer::create(task, kTrn1, python(), {});
    ASSERT_TRUE(made) << made.error().message;
    tracer_ = std::move(*made);
  }

  std::string diagnostics(const std::map<std::string, std::string>& row) {
    auto built = tracer_->build(
        model::Kernel({.language = model::Language("nki"), .sources = {{"kernel.py", source_of(row)}}}), {});
    EXPECT_TRUE(built) << built.error().message;
    if (!built) return {};
    EXPECT_FALSE((*built)->report.built) << source_of(row);
    return (*built)->report.diagnostics;
  }

  std::vector<std::map<std::string, std::string>> refused_;
  std::vector<std::map<std::string, std::string>> unsupported_;
  std::unique_ptr<Tracer> tracer_;
};

TEST_F(TrainiumRefusals, EveryEntryOfTheCatalogue_HasAKernelThatIsRefusedByItsName) {
  std::set<std::string> names;
  for (const auto& row : refused_) {
    const std::string said = diagnostics(row);
    EXPECT_NE(said.find(row.at("name") + ": "), std::string::npos) << source_of(row) << said;
    EXPECT_NE(said.find("kernel.py:"), std::string::npos) << said;  // and the line
    names.insert(row.at("name"));
  }
  for (const auto& row : unsupported_) names.insert(row.at("name"));
  for (const char* name : kCatalogue) EXPECT_TRUE(names.contains(name)) << name;
  const auto reached = std::count_if(kCatalogue.begin(), kCatalogue.end(), [&](const char* name) {
    return std::any_of(refused_.begin(), refused_.end(), [&](const auto& row) { return row.at("name") == name; });
  });
  EXPECT_GE(reached, 25);
  RecordProperty("reached", static_cast<int>(reached));
}

TEST_F(TrainiumRefusals, ScratchOverTheLimit_IsRefusedByItsLine) {
  const std::string said =
      diagnostics({{"body",
                    "s = nl.ndarray((1500000, 1024), dtype=nl.float32, buffer=nl.private_hbm)\n"
                    "nl.store(s[0:128, 0:64], nl.load(x))\nnl.store(y, nl.load(s[0:128, 0:64]))"}});
  EXPECT_NE(said.find("kernel.py:10: error: here 5859 MiB of the kernel's tiles and tensors are in use at once"),
            std::string::npos)
      << said;
}

TEST_F(TrainiumRefusals, EntriesOfWhatIsNotThere_AreRefusedAsUnsupported) {
  ASSERT_FALSE(unsupported_.empty());
  for (const auto& row : unsupported_) {
    const std::string said = diagnostics(row);
    EXPECT_NE(said.find(row.at("says")), std::string::npos) << said;
  }
}

TEST(Tracer, Remarks_NameWorkloadsAndLeaveOutHeldOutOnes) {
  model::Task task;
  task.definition.axes = {{"P", std::nullopt}, {"F", 64}};
  model::TensorSpec x;
  x.name = "x";
  x.shape = {"P", "F"};
  task.definition.inputs = {x};
  x.name = "y";
  task.definition.outputs = {x};
  task.workloads = {{"wide", {{"P", 128}}, model::Role::race, 1.0},
                    {"odd", {{"P", 61}}, model::Role::check, 1.0},
                    {"secret", {{"P", 97}}, model::Role::held_out, 1.0}};
  const model::Kernel kernel(
      {.language = model::Language("nki"), .sources = {{"kernel.py", R"(import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    assert nl.tile_size.total_available_sbuf_size == 208 * 1024
    y = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(y, nl.load(x))
    return y
)"}}});
  const auto tracer = Tracer::create(task, kTrn2, python(), {});
  ASSERT_TRUE(tracer) << tracer.error().message;
  const auto built = (*tracer)->build(kernel, {});
  ASSERT_TRUE(built) << built.error().message;
  ASSERT_TRUE((*built)->report.built) << (*built)->report.diagnostics;
  const std::vector<std::string>& remarks = (*built)->report.remarks;
  ASSERT_EQ(remarks.size(), 2U);
  EXPECT_EQ(remarks[0].find("modelled, wide: "), 0U) << remarks[0];
  EXPECT_EQ(remarks[1].find("modelled, odd: "), 0U) << remarks[1];
}

}  // namespace
}  // namespace accelopt::targets::trainium
