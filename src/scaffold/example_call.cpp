// SPDX-License-Identifier: Apache-2.0
#include "scaffold/example_call.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.hpp"
#include "suites/c_names.hpp"

namespace accelopt::scaffold {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kForm =
    "write it like \"x: float16[M=4096, K=512], w: float16[K], eps: float32 -> y: float16[M, K]\"";

bool is_name(std::string_view text) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), plain);
}

std::optional<std::int64_t> extent_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

/// Between commas that stand in no brackets.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    if (const auto part = base::trimmed(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
    begin = i + 1;
  }
  return parts;
}

class Reader {
 public:
  Result<ExampleCall> read(std::string_view text) {
    const std::size_t arrow = text.find("->");
    TRY(read_list(text.substr(0, arrow), out_.inputs));
    if (arrow != std::string_view::npos) TRY(read_list(text.substr(arrow + 2), out_.outputs));
    return std::move(out_);
  }

 private:
  static tl::unexpected<base::Error> refuse(std::string_view part, const std::string& why) {
    return fail(ErrorCode::invalid_argument, "--example: \"" + std::string(part) + "\" " + why + "; " + kForm);
  }

  Result<void> read_list(std::string_view text, std::vector<ExampleTensor>& list) {
    for (const std::string_view part : parts_of(text)) {
      TRY_ASSIGN(ExampleTensor tensor, read_tensor(part));
      for (const auto* other : {&out_.inputs, &out_.outputs}) {
        if (std::ranges::find(*other, tensor.name, &ExampleTensor::name) != other->end())
          return refuse(part, "names " + tensor.name + " a second time");
      }
      list.push_back(std::move(tensor));
    }
    return {};
  }

  Result<ExampleTensor> read_tensor(std::string_view part) {
    const std::size_t colon = part.find(':');
    ExampleTensor tensor{.name = std::string(base::trimmed(part.substr(0, colon)))};
    if (!is_name(tensor.name)) return refuse(part, "begins with no name");
    if (colon == std::string_view::npos) return refuse(part, "has no dtype");
    const std::string_view type = base::trimmed(part.substr(colon + 1));
    const std::size_t open = type.find('[');
    const std::string dtype(base::trimmed(type.substr(0, open)));
    const auto known = model::parse_dtype(dtype);
    if (!known) return refuse(part, "has no dtype that is known");
    tensor.dtype = *known;
    if (open == std::string_view::npos) return tensor;
    if (type.back() != ']') return refuse(part, "has no end of its shape");
    tensor.shape.emplace();
    for (const std::string_view axis : parts_of(type.substr(open + 1, type.size() - open - 2))) {
      TRY_ASSIGN(const std::string name, read_axis(part, axis));
      tensor.shape->push_back(name);
    }
    return tensor;
  }

  Result<std::string> read_axis(std::string_view part, std::string_view text) {
    const std::size_t equals = text.find('=');
    ExampleAxis axis{.name = std::string(base::trimmed(text.substr(0, equals)))};
    if (const auto number = extent_of(axis.name)) {
      axis = {"D" + axis.name, number, true};
    } else if (!is_name(axis.name)) {
      return refuse(part, "has an axis that is neither a name nor a number: " + axis.name);
    } else if (const std::string reason = suites::refuse_c_name(axis.name); !reason.empty()) {
      return refuse(part, "has an axis that a task cannot have: " + reason);
    }
    if (equals != std::string_view::npos) {
      axis.extent = extent_of(base::trimmed(text.substr(equals + 1)));
      if (!axis.extent) return refuse(part, "gives " + axis.name + " no positive whole number");
    }
    const auto known = std::ranges::find(out_.axes, axis.name, &ExampleAxis::name);
    if (known == out_.axes.end()) {
      out_.axes.push_back(axis);
    } else if (!known->extent) {
      known->extent = axis.extent;
    } else if (axis.extent && known->extent != axis.extent) {
      return refuse(part, "gives " + axis.name + " a second extent");
    }
    return axis.name;
  }

  ExampleCall out_;
};

}  // namespace

Result<ExampleCall> parse_example(std::string_view text) {
  return Reader().read(text);
}

}  // namespace accelopt::scaffold
