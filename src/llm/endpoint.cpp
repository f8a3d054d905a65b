// SPDX-License-Identifier: Apache-2.0
#include "llm/endpoint.hpp"

#include <algorithm>
#include <array>

#include "http/url.hpp"
#include "llm/anthropic_wire.hpp"
#include "llm/gemini_wire.hpp"
#include "llm/openai_wire.hpp"
#include "llm/wire.hpp"

namespace accelopt::llm {
namespace {

/// Efforts, with the thinking tokens that they stand for.
struct EffortBudget {
  std::string_view word;
  int tokens;
};
constexpr std::array<EffortBudget, 5> kEfforts{
    {{"none", 0}, {"minimal", 1'024}, {"low", 2'048}, {"medium", 8'192}, {"high", 24'576}}};

/// Least that Anthropic's API takes as a thinking budget, and as much again for the answer.
constexpr int kLeastWithThinking = 2'048;

struct ApiNames {
  Api api;
  std::string_view name;
  std::string_view default_url;
  std::string_view version_path;  ///< that a bare address lacks
};
constexpr std::array<ApiNames, 3> kApis{
    {{Api::openai, "openai", "", ""},
     {Api::anthropic, "anthropic", "https://api.anthropic.com/v1", "/v1"},
     {Api::gemini, "gemini", "https://generativelanguage.googleapis.com/v1beta", "/v1beta"}}};

const ApiNames& names_of(Api api) {
  return *std::ranges::find(kApis, api, &ApiNames::api);
}

base::Result<void> check_ranges(const EndpointOptions& options) {
  const auto refuse = [&](const std::string& what) {
    return base::fail(base::ErrorCode::invalid_argument, options.model + ": " + what);
  };
  const double hottest = options.api == Api::anthropic ? 1 : 2;
  if (options.temperature && !(*options.temperature >= 0 && *options.temperature <= hottest)) {
    return refuse("temperature must be from 0 to " + std::to_string(static_cast<int>(hottest)));
  }
  if (options.max_output_tokens && *options.max_output_tokens < 1)
    return refuse("max_output_tokens must be at least 1");
  if (options.max_concurrency < 1) return refuse("max_concurrency must be at least 1");
  if (options.requests_per_minute && *options.requests_per_minute < 1) {
    return refuse("requests_per_minute must be at least 1");
  }
  if (options.tokens_per_minute && *options.tokens_per_minute < 1) {
    return refuse("tokens_per_minute must be at least 1");
  }
  if (auto reasoning = check(options.reasoning); !reasoning) return refuse(reasoning.error().message);
  const bool thinks = is_asked(options.reasoning) && budget_tokens(options.reasoning) > 0;
  if (options.api == Api::anthropic && thinks &&
      options.max_output_tokens.value_or(kLeastWithThinking) < kLeastWithThinking) {
    return refuse("max_output_tokens must be at least " + std::to_string(kLeastWithThinking) +
                  " for a model that reasons");
  }
  return {};
}

}  // namespace

std::string_view to_string(Api api) {
  return names_of(api).name;
}

base::Result<Api> parse_api(std::string_view name) {
  const auto found = std::ranges::find(kApis, name, &ApiNames::name);
  if (found != kApis.end()) return found->api;
  return base::fail(base::ErrorCode::invalid_argument,
                    "unknown api \"" + std::string(name) + "\"; known are openai, anthropic, gemini and mailbox");
}

std::string_view default_base_url(Api api) {
  return names_of(api).default_url;
}

bool is_asked(const Reasoning& reasoning) {
  return reasoning.tokens.has_value() || !reasoning.effort.empty();
}

int budget_tokens(const Reasoning& reasoning) {
  if (reasoning.tokens) return *reasoning.tokens;
  const auto found = std::ranges::find(kEfforts, std::string_view(reasoning.effort), &EffortBudget::word);
  return found == kEfforts.end() ? 0 : found->tokens;
}

std::string effort_word(const Reasoning& reasoning) {
  if (!reasoning.tokens) return reasoning.effort;
  if (*reasoning.tokens == 0) return "none";
  const auto nearer = [&](const EffortBudget& a, const EffortBudget& b) {
    return std::abs(a.tokens - *reasoning.tokens) < std::abs(b.tokens - *reasoning.tokens);
  };
  // "minimal" is not known everywhere, so a number never becomes it.
  return std::string(std::min_element(kEfforts.begin() + 2, kEfforts.end(), nearer)->word);
}

base::Result<void> check(const Reasoning& reasoning) {
  if (reasoning.tokens && *reasoning.tokens < 0) {
    return base::fail(base::ErrorCode::invalid_argument, "reasoning must be at least 0 tokens");
  }
  if (reasoning.effort.empty() ||
      std::ranges::find(kEfforts, std::string_view(reasoning.effort), &EffortBudget::word) != kEfforts.end()) {
    return {};
  }
  return base::fail(
      base::ErrorCode::invalid_argument,
      "unknown reasoning \"" + reasoning.effort + "\"; write none, minimal, low, medium, high or a number of tokens");
}

const WireFormat& wire_format(Api api) {
  switch (api) {
    case Api::openai:
      return openai_wire();
    case Api::anthropic:
      return anthropic_wire();
    case Api::gemini:
      return gemini_wire();
  }
  return openai_wire();
}

std::string base_address(Api api, std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  // Addresses are often copied with what every request adds.
  for (const std::string_view tail : {std::string_view("/chat/completions"), std::string_view("/messages")}) {
    if (url.ends_with(tail)) url.remove_suffix(tail.size());
  }
  std::string address(url);
  const std::size_t host = url.find("://");
  const bool bare = host != std::string_view::npos && url.find('/', host + 3) == std::string_view::npos;
  if (bare) address += names_of(api).version_path;
  return address;
}

base::Result<EndpointOptions> normalized(EndpointOptions options) {
  if (options.model.empty()) {
    return base::fail(base::ErrorCode::invalid_argument, "no model is named; set model");
  }
  TRY(check_ranges(options));
  if (options.base_url.empty()) options.base_url = default_base_url(options.api);
  options.base_url = base_address(options.api, options.base_url);
  if (auto origin = http::origin_of(options.base_url); !origin) {
    return tl::make_unexpected(base::with_context(std::move(origin).error(), "base_url of " + options.model));
  }
  return options;
}

base::Result<std::unique_ptr<ChatModel>> make_endpoint_model(EndpointOptions options, http::Client& client,
                                                             Clock& clock, std::shared_ptr<Gate> gate) {
  const RetryPolicy retry = options.retry;
  if (!gate) {
    gate = std::make_shared<Gate>(
        GateLimits{options.max_concurrency, options.requests_per_minute, options.tokens_per_minute}, clock,
        retry.notice);
  }
  TRY_ASSIGN(auto provider, make_endpoint_provider(std::move(options), client, clock, gate));
  return make_retrying_model(make_limited_provider(std::move(provider), std::move(gate), retry.longest_retry_after),
                             retry, clock);
}

}  // namespace accelopt::llm
