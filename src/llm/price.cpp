// SPDX-License-Identifier: Apache-2.0
#include "llm/price.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace accelopt::llm {
namespace {

/// Bytes of code and English that make a token, at least, for the tokenizers in use.
constexpr double kBytesPerToken = 3.0;
/// Of a message, besides its text: the marks of its role.
constexpr std::int64_t kTokensPerMessage = 8;

constexpr std::string_view kAsOf = "2025-10";

struct Listed {
  std::string_view host;
  std::string_view model;
  Price price;
};

constexpr std::string_view kOpenAi = "api.openai.com";
constexpr std::string_view kAnthropic = "api.anthropic.com";
constexpr std::string_view kGoogle = "generativelanguage.googleapis.com";

/// A version with a price of its own stands before its model, whose other versions cost what it costs.
/// @source the vendors' price lists of that month, standard tier.
constexpr std::array kListed{
    Listed{kOpenAi, "gpt-5", {1.25, 0.125, 10}},
    Listed{kOpenAi, "gpt-5-mini", {0.25, 0.025, 2}},
    Listed{kOpenAi, "gpt-5-nano", {0.05, 0.005, 0.4}},
    Listed{kOpenAi, "gpt-4.1", {2, 0.5, 8}},
    Listed{kOpenAi, "gpt-4.1-mini", {0.4, 0.1, 1.6}},
    Listed{kOpenAi, "gpt-4o-2024-05-13", {5, 5, 15}},  // no discount for cached input
    Listed{kOpenAi, "gpt-4o", {2.5, 1.25, 10}},
    Listed{kOpenAi, "gpt-4o-mini", {0.15, 0.075, 0.6}},
    Listed{kOpenAi, "o3", {2, 0.5, 8}},
    Listed{kOpenAi, "o4-mini", {1.1, 0.275, 4.4}},
    Listed{kAnthropic, "claude-opus-4-1", {15, 1.5, 75}},
    Listed{kAnthropic, "claude-sonnet-4", {3, 0.3, 15}},
    Listed{kAnthropic, "claude-sonnet-4-5", {3, 0.3, 15}},
    Listed{kAnthropic, "claude-haiku-4-5", {1, 0.1, 5}},
    Listed{kGoogle, "gemini-2.5-flash", {0.3, 0.075, 2.5}},
    Listed{kGoogle, "gemini-2.5-flash-lite", {0.1, 0.025, 0.4}},
};

/// "https://api.openai.com:443/v1" -> "api.openai.com".
std::string_view host_of(std::string_view base_url) {
  if (const auto scheme = base_url.find("://"); scheme != std::string_view::npos) base_url.remove_prefix(scheme + 3);
  return base_url.substr(0, base_url.find_first_of(":/"));
}

/// Whether `rest` is nothing, or a date as vendors append one: "-2024-08-06", "-20250929".
bool is_date(std::string_view rest) {
  constexpr std::size_t kDigits = 8;
  const auto digits = std::count_if(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
  const auto dashes = std::count(rest.begin(), rest.end(), '-');
  return rest.empty() ||
         (rest.front() == '-' && digits == kDigits && digits + dashes == static_cast<std::ptrdiff_t>(rest.size()));
}

}  // namespace

double cost_usd(const model::Usage& usage, const Price& price) {
  constexpr double kTokensOfPrice = 1e6;
  const auto fresh = static_cast<double>(usage.input_tokens - usage.cached_input_tokens);
  const auto cached = static_cast<double>(usage.cached_input_tokens);
  const auto output = static_cast<double>(usage.output_tokens);
  return (fresh * price.input + cached * price.cached_input + output * price.output) / kTokensOfPrice;
}

std::int64_t estimated_tokens(std::size_t bytes) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / kBytesPerToken));
}

std::int64_t estimated_prompt_tokens(std::size_t bytes, std::size_t messages) {
  return estimated_tokens(bytes) + kTokensPerMessage * static_cast<std::int64_t>(messages);
}

std::optional<ListPrice> list_price(std::string_view base_url, std::string_view model) {
  const std::string_view host = host_of(base_url);
  for (const Listed& listed : kListed) {
    if (host == listed.host && model.starts_with(listed.model) && is_date(model.substr(listed.model.size())))
      return ListPrice{listed.price, kAsOf};
  }
  return std::nullopt;
}

}  // namespace accelopt::llm
