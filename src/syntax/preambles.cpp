// SPDX-License-Identifier: Apache-2.0
#include "syntax/preambles.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace accelopt::syntax {
namespace {

/// A preamble of the C++ library's usual headers takes some 30 MB.
constexpr std::size_t kMostKept = 6;

CXIndex make_index(const Api& api) {
  CXIndexOptions options{};
  options.Size = sizeof options;
  options.ExcludeDeclarationsFromPCH = 1;
  options.StorePreamblesInMemory = 1;  // a process that is killed leaves no file behind
  return api.createIndexWithOptions(&options);
}

base::Error failure(int code) {
  return {base::ErrorCode::internal,
          "libclang could not read the source (its error code " + std::to_string(code) + ")"};
}

}  // namespace

struct Preambles::Kept {
  Kept(const Api& functions, std::string text)
      : headers(std::move(text)), api(functions), translation(api, make_index(api)) {}

  /// @error internal: libclang gave no tree.
  base::Result<void> read(TranslationInput& input) {
    const auto count = static_cast<unsigned>(input.files.size());
    if (translation.unit != nullptr) {
      if (api.reparseTranslationUnit(translation.unit, count, input.files.data(), 0) == CXError_Success) return {};
      // What failed to be read again can only be thrown away.
      api.disposeTranslationUnit(translation.unit);
      translation.unit = nullptr;
    }
    const CXErrorCode code =
        api.parseTranslationUnit2(translation.index(), input.files.front().Filename, input.arguments.data(),
                                  static_cast<int>(input.arguments.size()), input.files.data(), count,
                                  CXTranslationUnit_KeepGoing | CXTranslationUnit_PrecompiledPreamble |
                                      CXTranslationUnit_CreatePreambleOnFirstParse,
                                  &translation.unit);
    if (code != CXError_Success || translation.unit == nullptr) return tl::make_unexpected(failure(code));
    return {};
  }

  const std::string headers;
  const Api api;
  std::mutex in_use;
  Translation translation;
};

Preambles::Preambles()
    : file_(memfd_create("source", MFD_CLOEXEC)),
      file_name_(std::string(kOpenFiles) + (file_.valid() ? std::to_string(file_.get()) : "source")) {}

std::shared_ptr<Preambles::Kept> Preambles::find(const Api& api, const std::string& headers) {
  const std::scoped_lock lock(mutex_);
  auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) { return kept->headers == headers; });
  if (found == kept_.end()) {
    kept_.push_front(std::make_shared<Kept>(api, headers));
    if (kept_.size() > kMostKept) kept_.pop_back();
  } else {
    kept_.splice(kept_.begin(), kept_, found);
  }
  return kept_.front();
}

base::Result<void> Preambles::translate(const Api& api, const std::string& headers, TranslationInput input,
                                        const std::function<void(CXTranslationUnit)>& use) {
  const std::shared_ptr<Kept> kept = find(api, headers);
  const std::scoped_lock lock(kept->in_use);
  TRY(kept->read(input));
  use(kept->translation.unit);
  return {};
}

}  // namespace accelopt::syntax
