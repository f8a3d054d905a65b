// SPDX-License-Identifier: Apache-2.0
#include "llm/endpoint_check.hpp"

#include <utility>

#include "base/json.hpp"
#include "llm/wire.hpp"
#include "llm/wire_json.hpp"

namespace accelopt::llm {
namespace {

using State = EndpointFinding::State;

constexpr http::Limits kCheckLimits{.connect = std::chrono::seconds(5),
                                    .stall = std::chrono::seconds(10),
                                    .total = std::chrono::seconds(15),
                                    .body_bytes = std::size_t{32} << 20U};

/// Where the API tells of its models: all of them, or the one that is meant.
std::string question_path(const EndpointOptions& options) {
  switch (options.api) {
    case Api::openai:
      return "/models";
    case Api::anthropic:
      return "/models/" + options.model;
    case Api::gemini:
      return "/" + std::string(options.model.find('/') == std::string::npos ? "models/" : "") + options.model;
  }
  return "/models";
}

EndpointFinding key_finding(const EndpointOptions& options, int status, const std::string& words) {
  if (status != 401 && status != 403) {
    if (options.key.empty()) return {"key", State::ok, "none is sent, and none is asked for", ""};
    return {"key", State::ok, "accepted", ""};
  }
  const std::string detail = options.base_url + " answers " + std::to_string(status) + ": " + words;
  if (options.key.empty()) {
    return {"key", State::missing, detail, "no key was sent: set key_env or key_command of this model"};
  }
  const std::string where = options.key_source.empty() ? "" : " in " + options.key_source;
  return {"key", State::missing, blotted(detail, options.key), blotted("check the key" + where, options.key)};
}

/// Whether a list of models, as chat-completions servers give it, names the model; none where it is no such list.
std::optional<bool> lists_model(const std::string& body, const std::string& model) {
  const base::Json value = base::json_or_discarded(body);
  const base::Json& data = member(value, "data");
  if (!data.is_array()) return std::nullopt;
  for (const base::Json& item : data) {
    if (member(item, "id") == model) return true;
  }
  return false;
}

EndpointFinding model_finding(const EndpointOptions& options, int status, const std::string& body,
                              const std::string& words) {
  const std::string unknown_advice = "check the name of model, and that base_url ends where the API begins (/v1)";
  if (status == 200 && options.api == Api::openai) {
    const auto listed = lists_model(body, options.model);
    if (listed == true) return {"model", State::ok, options.model, ""};
    if (listed == false)
      return {"model", State::missing, options.model + " is not in the server's list", unknown_advice};
    return {"model", State::unknown, "the server's list of models cannot be read", unknown_advice};
  }
  if (status == 200) return {"model", State::ok, options.model, ""};
  const std::string said = "asked for its models it answers " + std::to_string(status) + ": " + words;
  // Some servers that speak chat completions list nothing; the other two tell of one model, and 404 is about it.
  if (status == 404 && options.api != Api::openai) return {"model", State::missing, said, unknown_advice};
  if (status == 404) return {"model", State::unknown, said, "if asking it fails: " + unknown_advice};
  return {"model", State::unknown, said, "try again later"};
}

}  // namespace

std::vector<EndpointFinding> check_endpoint(const EndpointOptions& given, http::Client& client,
                                            const std::stop_token& stop) {
  const auto options = normalized(given);
  if (!options) return {{"settings", State::missing, options.error().message, "mend them in accelopt.toml"}};
  std::vector<EndpointFinding> findings{{"settings", State::ok, "api " + std::string(to_string(options->api)), ""}};
  http::Request request{.url = options->base_url + question_path(*options), .limits = kCheckLimits};
  request.ca_file = options->ca_file;
  request.secrets = {options->key.reveal()};
  request.headers = wire_format(options->api).headers(options->key);
  const auto response = client.send(request, stop);
  if (!response) {
    findings.push_back({"endpoint", State::missing, blotted(response.error().message, options->key), ""});
    return findings;
  }
  findings.push_back({"endpoint", State::ok, options->base_url + " answers", ""});
  const std::string words = server_words(response->body, options->key);
  // Gemini refuses a key with 400.
  const bool names_key = response->head.status == 400 && words.find("API key") != std::string::npos;
  const int status = names_key ? 401 : response->head.status;
  findings.push_back(key_finding(*options, status, words));
  if (findings.back().state == State::ok) findings.push_back(model_finding(*options, status, response->body, words));
  return findings;
}

}  // namespace accelopt::llm
