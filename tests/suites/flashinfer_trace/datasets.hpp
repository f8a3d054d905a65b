// SPDX-License-Identifier: Apache-2.0
// Datasets that tests write.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"

namespace accelopt::suites::flashinfer_trace {

/// "scale": y = a * x. A definition as datasets have it.
inline const std::string kScale = R"json({
  "name": "scale", "op_type": "elementwise", "description": "y = a * x\nrow by row", "tags": ["status:verified"],
  "axes": {"Z": {"type": "var"}, "N": {"type": "const", "value": "8"}},
  "inputs": {"x": {"shape": ["Z", "N"], "dtype": "float32"}, "a": {"shape": null, "dtype": "float32"}},
  "outputs": {"y": {"shape": ["Z", "N"], "dtype": "float32"}},
  "reference": "import torch\n\ndef run(x, a):\n    return a * x\n",
  "constraints": ["Z >= 1", "x.shape[1] == N"]
})json";

/// Paged: offsets, page ids and lengths, all from one file of tensors.
inline const std::string kPaged = R"json({
  "name": "paged", "op_type": "gqa_paged",
  "axes": {"len_indptr": {"type": "var"}, "num_kv_indices": {"type": "var"}, "num_pages": {"type": "var"},
           "batch": {"type": "var"}, "page_size": {"type": "const", "value": 16}},
  "inputs": {"kv_indptr": {"shape": ["len_indptr"], "dtype": "int32"},
             "kv_indices": {"shape": ["num_kv_indices"], "dtype": "int32"},
             "kv_last_page_len": {"shape": ["batch"], "dtype": "int32"},
             "cache": {"shape": ["num_pages", "page_size"], "dtype": "bfloat16"}},
  "outputs": {"out": {"shape": ["batch"], "dtype": "float32"}},
  "reference": "def run(kv_indptr, kv_indices, kv_last_page_len, cache):\n    return cache.sum()\n",
  "constraints": ["len_indptr == batch + 1", "num_kv_indices == kv_indptr[-1].item()", "max(batch, 2) > 1"]
})json";

inline std::string scale_workload(const std::string& uuid, const std::string& rows, const std::string& a = "0.5") {
  return R"({"definition": "scale", "solution": null, "evaluation": null, "workload": {"uuid": ")" + uuid +
         R"(", "axes": {"Z": )" + rows + R"(}, "inputs": {"x": {"type": "random"}, "a": {"type": "scalar", "value": )" +
         a + "}}}}\n";
}

inline std::string paged_workload(const std::string& uuid, const std::string& axes, const std::string& file) {
  std::string inputs;
  for (const char* name : {"kv_indptr", "kv_indices", "kv_last_page_len"}) {
    inputs += std::string("\"") + name + R"(": {"type": "safetensors", "path": ")" + file + R"(", "tensor_key": ")" +
              name + "\"}, ";
  }
  return R"({"definition": "paged", "workload": {"uuid": ")" + uuid + R"(", "axes": )" + axes + R"(, "inputs": {)" +
         inputs + R"("cache": {"type": "random"}}}})" + "\n";
}

inline std::string solution(const std::string& name, const std::string& definition, const std::string& language,
                            const std::string& entry, const std::string& file, const std::string& escaped_text) {
  return R"({"name": ")" + name + R"(", "definition": ")" + definition +
         R"(", "author": "somebody", "spec": {"language": ")" + language +
         R"(", "target_hardware": ["any"], "entry_point": ")" + entry + R"("}, "sources": [{"path": ")" + file +
         R"(", "content": ")" + escaped_text + R"("}]})";
}

/// A safetensors file of int32 tensors, one after the other.
inline std::string int32_tensors(const std::vector<std::pair<std::string, std::vector<std::int32_t>>>& tensors) {
  std::string header;
  std::string data;
  for (const auto& [name, values] : tensors) {
    const std::size_t begin = data.size();
    for (const std::int32_t value : values) data.append(reinterpret_cast<const char*>(&value), sizeof value);
    header += (header.empty() ? "{" : ",") + ("\"" + name) + R"(":{"dtype":"I32","shape":[)" +
              std::to_string(values.size()) + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
              std::to_string(data.size()) + "]}";
  }
  header += "}";
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

class DatasetTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = base::TemporaryFolder::create("accelopt-dataset");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_ = std::move(*folder);
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_->path() / "data"; }
  [[nodiscard]] std::filesystem::path output() const { return folder_->path() / "tasks"; }
  void put(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root() / name;
    ASSERT_TRUE(base::make_folders(path.parent_path()));
    ASSERT_TRUE(base::write_file(path, text));
  }

  std::optional<base::TemporaryFolder> folder_;
};

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace accelopt::suites::flashinfer_trace
