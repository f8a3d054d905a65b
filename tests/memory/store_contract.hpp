// SPDX-License-Identifier: Apache-2.0
// What every knowledge store must do (store_contract.cpp), run against each one that is instantiated:
//
//   INSTANTIATE_TEST_SUITE_P(File, StoreContract, testing::Values(StoreMaker{"file", make_fixture}), name_of);
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "memory/knowledge_store.hpp"

namespace accelopt::memory {

/// Where one test's store lives: opens it anew any number of times, empty at the first time.
class StorePlace {
 public:
  virtual ~StorePlace() = default;
  virtual base::Result<std::unique_ptr<KnowledgeStore>> open() = 0;
};

struct StoreMaker {
  std::string name;
  std::function<std::unique_ptr<StorePlace>()> place;  ///< null: not to be had on this machine, the test is skipped

  friend void PrintTo(const StoreMaker& maker, std::ostream* out) { *out << maker.name; }
};

class StoreContract : public testing::TestWithParam<StoreMaker> {
 protected:
  void SetUp() override {
    place_ = GetParam().place();
    if (!place_) GTEST_SKIP() << GetParam().name << " is not to be had on this machine";
    reopen();
  }
  void reopen() {
    store_.reset();
    auto opened = place_->open();
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
  }
  KnowledgeStore& store() { return *store_; }
  StorePlace& place() { return *place_; }

 private:
  std::unique_ptr<StorePlace> place_;
  std::unique_ptr<KnowledgeStore> store_;
};

inline std::string name_of(const testing::TestParamInfo<StoreMaker>& info) {
  return info.param.name;
}

/// An experience with all fields, told apart by its number.
model::Experience sample_experience(int number);
/// The ids that a store gives these, in order.
std::vector<std::string> store_ids(const std::vector<model::Experience>& experiences);

}  // namespace accelopt::memory
