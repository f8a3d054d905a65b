// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/fields.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

constexpr std::size_t kMostTexts = 1024;

template <class Number>
std::optional<Number> whole_text(std::string_view text) {
  text = base::trimmed(text);
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const OrderedJson& nothing() {
  static const OrderedJson kNothing;
  return kNothing;
}

}  // namespace

std::optional<std::int64_t> lax_count(const OrderedJson& value) {
  std::optional<std::int64_t> out;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      out = static_cast<std::int64_t>(number);
  } else if (value.is_number_integer()) {
    out = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < 0x1p53) out = static_cast<std::int64_t>(number);
  } else if (value.is_string()) {
    out = whole_text<std::int64_t>(value.get_ref<const std::string&>());
  }
  return out && *out >= 0 ? out : std::nullopt;
}

std::optional<double> lax_number(const OrderedJson& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  const std::string small = base::lower(base::trimmed(text));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (small == "nan") return std::nan("");
  if (small == "infinity" || small == "inf") return kInfinity;
  if (small == "-infinity" || small == "-inf") return -kInfinity;
  return whole_text<double>(text);
}

bool fits_double(std::int64_t value) {
  const auto number = static_cast<double>(value);
  return number < 0x1p63 && static_cast<std::int64_t>(number) == value;
}

bool is_rounded(const OrderedJson& value) {
  if (value.is_number_unsigned()) {
    const auto whole = value.get<std::uint64_t>();
    const auto number = static_cast<double>(whole);
    return number >= 0x1p64 || static_cast<std::uint64_t>(number) != whole;
  }
  if (value.is_number_integer()) return !fits_double(value.get<std::int64_t>());
  if (!value.is_string()) return false;
  const auto whole = whole_text<std::int64_t>(value.get_ref<const std::string&>());
  return whole && !fits_double(*whole);
}

Fields::Fields(const OrderedJson& object, std::string path, std::string& problem)
    : object_(object), path_(std::move(path)), problem_(problem) {
  if (!object_.is_object() && problem_.empty()) problem_ = (path_.empty() ? "it" : path_) + " must be an object";
}

std::string Fields::path(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

void Fields::refuse(std::string_view name, std::string_view why) {
  if (problem_.empty()) problem_ = base::ascii_line(path(name), 200) + " " + std::string(why);
}

const OrderedJson* Fields::find(const char* name) const {
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool Fields::has(const char* name) const {
  return find(name) != nullptr;
}

const OrderedJson* Fields::require(const char* name) {
  const OrderedJson* const found = find(name);
  if (found == nullptr) refuse(name, "is missing");
  return found;
}

std::string Fields::text_or(const char* name) {
  const OrderedJson* const found = find(name);
  if (found == nullptr) return "";
  if (found->is_string()) return found->get<std::string>();
  refuse(name, "must be a string");
  return "";
}

std::string Fields::text(const char* name) {
  if (require(name) == nullptr) return "";
  std::string out = text_or(name);
  if (out.empty()) refuse(name, "must not be empty");
  return out;
}

std::int64_t Fields::count(const char* name) {
  const OrderedJson* const found = require(name);
  if (found == nullptr) return 0;
  const auto value = lax_count(*found);
  if (!value) refuse(name, "must be a whole number, 0 or more");
  return value.value_or(0);
}

double Fields::number(const char* name) {
  const OrderedJson* const found = require(name);
  if (found == nullptr) return 0;
  const auto value = lax_number(*found);
  if (!value) refuse(name, "must be a number");
  return value.value_or(0);
}

std::optional<bool> Fields::boolean(const char* name) {
  const OrderedJson* const found = find(name);
  if (found == nullptr) return std::nullopt;
  if (found->is_boolean()) return found->get<bool>();
  refuse(name, "must be true or false");
  return std::nullopt;
}

std::vector<std::string> Fields::texts(const char* name) {
  std::vector<std::string> out;
  const OrderedJson* const found = find(name);
  if (found == nullptr) return out;
  if (!found->is_array() || found->size() > kMostTexts) {
    refuse(name, "must be a list of at most " + std::to_string(kMostTexts) + " strings");
    return out;
  }
  for (const OrderedJson& one : *found) {
    if (!one.is_string() || one.get_ref<const std::string&>().empty()) {
      refuse(name, "must hold strings that are not empty");
      return {};
    }
    out.push_back(one.get<std::string>());
  }
  return out;
}

const OrderedJson& Fields::object(const char* name) {
  const OrderedJson* const found = require(name);
  if (found != nullptr && !found->is_object()) refuse(name, "must be an object");
  return found != nullptr && found->is_object() ? *found : nothing();
}

const OrderedJson& Fields::array(const char* name) {
  const OrderedJson* const found = require(name);
  if (found != nullptr && !found->is_array()) refuse(name, "must be a list");
  return found != nullptr && found->is_array() ? *found : nothing();
}

}  // namespace accelopt::suites::flashinfer_trace
