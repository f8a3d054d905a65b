// SPDX-License-Identifier: Apache-2.0
#include "refactor/exact_json.hpp"

#include <cstddef>
#include <vector>

#include "base/json.hpp"

namespace accelopt::refactor {
namespace {

using base::Json;

/// Builds the value. Whole numbers that the library's types do not keep become strings of their digits: those over
/// 64 bits, of which it keeps the nearest double, and -0, as C's %g writes a negative zero. The first letter of every
/// string tells which it was.
class ExactValue final : public nlohmann::json_sax<Json> {
 public:
  [[nodiscard]] const Json& value() const { return root_; }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return value == 0 ? put("n-0") : put(value); }  // has a sign
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& digits) override {
    if (digits.find_first_of(".eE") == digits.npos) return put("n" + digits);
    return put(value);
  }
  bool string(string_t& text) override { return put("s" + text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool key(string_t& name) override {
    member_ = &(*open_.back())[name];
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  /// Where the value stands now; it stays there while it is open, as only the innermost one grows.
  Json* place(Json value) {
    Json* const here = open_.empty() ? &root_ : open_.back()->is_object() ? member_ : &open_.back()->emplace_back();
    *here = std::move(value);
    return here;
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    open_.push_back(place(std::move(value)));
    return open_.size() <= base::kDeepestJson;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;
};

}  // namespace

std::optional<std::string> exact_json(std::string_view text) {
  ExactValue read;
  if (!Json::sax_parse(text, &read)) return std::nullopt;
  return base::canonical(read.value());
}

}  // namespace accelopt::refactor
