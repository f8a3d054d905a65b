// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/usage.hpp"

namespace accelopt::llm {

/// US dollars for a million tokens.
struct Price {
  double input = 0;
  double cached_input = 0;  ///< input tokens that the server had in its cache
  double output = 0;        ///< reasoning included
};

/// What the tokens cost, in US dollars.
double cost_usd(const model::Usage& usage, const Price& price);

/// Tokens of a text, where nothing is known of the model: on the high side for code and English.
std::int64_t estimated_tokens(std::size_t bytes);
/// The same of a prompt of that many messages.
std::int64_t estimated_prompt_tokens(std::size_t bytes, std::size_t messages);

/// A vendor's list price on some day.
struct ListPrice {
  Price price;
  std::string_view as_of;  ///< "2025-10"
};

/// The list price of a model at its vendor's own endpoint, dated versions of the model included ("gpt-4o-2024-08-06");
/// nothing for any other endpoint or model. Prices change: a configured price wins.
std::optional<ListPrice> list_price(std::string_view base_url, std::string_view model);

}  // namespace accelopt::llm
