// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/client.hpp"

#include <algorithm>
#include <iterator>

#include "base/hash.hpp"
#include "evaluation/evaluator_json.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;
using base::Json;
using evaluation::Bounds;
using evaluation::CallEnd;

constexpr std::chrono::seconds kOpenLimit{90};
constexpr std::chrono::seconds kLoadLimit{60};
constexpr std::chrono::minutes kSlotLimit{12};    ///< five runs of the reference, two minutes each
constexpr std::chrono::seconds kCallSlack{40};    ///< over what the calls may take: copies and checks
constexpr std::size_t kMostKeptBytes = 64 << 20;  ///< of what the host's reference said of a slot
constexpr int kMostAttempts = 3;                  ///< of one call in the server

/// Forgets what takes much of the worker's memory: it is asked for again where it is needed again.
void drop_large(SlotRecipe& recipe) {
  std::size_t bytes = 0;
  for (const SlotRecipe::HostResult& one : recipe.said) {
    for (const std::string& piece : one.bulk) bytes += piece.size();
  }
  if (bytes <= kMostKeptBytes) return;
  recipe.said.clear();
  recipe.request.given.clear();
}

Json request_json(const char* op, Json fields) {
  fields["op"] = op;
  return fields;
}

}  // namespace

base::Result<std::vector<std::string>> drawn_here(const std::vector<SlotInput>& inputs,
                                                  const std::vector<evaluation::InputDraw>& draws) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].bulk) continue;
    std::string& bytes = out.emplace_back(inputs[i].count * model::size_of(inputs[i].dtype), '\0');
    TRY(evaluation::draw_input(draws.at(i), std::as_writable_bytes(std::span(bytes))));
  }
  return out;
}

base::Result<void> ask_host(SlotRecipe& recipe) {
  for (std::size_t v = recipe.said.size(); recipe.host && v < recipe.draws.size(); ++v) {
    TRY_ASSIGN(auto said, recipe.host(v, recipe.draws[v]));
    recipe.request.given.push_back(said.outputs);
    recipe.said.push_back(std::move(said));
  }
  return {};
}

base::Result<void> DeviceClient::ready() {
  if (process_.generation() != 0 && process_.generation() == opened_) return {};
  open_.check_bytes = check_cubin_.size();
  TRY_ASSIGN(const Json answer, process_.ask(request_json("open", open_), {check_cubin_}, kOpenLimit));
  TRY_ASSIGN(facts_, base::decode<DeviceFacts>(answer, "accelopt-device"));
  if (!check_cubin_.empty()) opened_ = process_.generation();
  return {};
}

base::Result<DeviceFacts> DeviceClient::facts() {
  TRY(ready());
  return facts_;
}

base::Result<evaluation::Peaks> DeviceClient::measure_peaks(const std::string& cubin) {
  TRY(ready());
  TRY_ASSIGN(const Json answer, process_.ask(request_json("peaks", {{"bytes", cubin.size()}}), {cubin}, kOpenLimit));
  return base::decode<evaluation::Peaks>(answer, "accelopt-device");
}

std::string DeviceClient::add(ProgramPtr program) {
  ProgramRequest request;
  for (const ProgramCubin& cubin : program->cubins) request.cubins.push_back(base::sha256_hex(cubin.bytes));
  request.plans = program->plans;
  request.id = base::sha256_hex(base::canonical(Json(request)));
  programs_.try_emplace(request.id, Known{std::move(program), std::move(request.cubins), 0});
  return request.id;
}

base::Result<void> DeviceClient::ready_cubin(const std::string& name, const std::string& bytes) {
  std::uint64_t& generation = cubins_[name];
  if (generation == process_.generation()) return {};
  TRY(process_.ask(request_json("cubin", CubinRequest{name, bytes.size()}), {bytes}, kLoadLimit));
  generation = process_.generation();
  return {};
}

base::Result<void> DeviceClient::ready_program(const std::string& id) {
  Known& known = programs_.at(id);
  if (known.generation == process_.generation()) return {};
  for (std::size_t i = 0; i < known.cubins.size(); ++i)
    TRY(ready_cubin(known.cubins[i], known.program->cubins[i].bytes));
  const ProgramRequest request{id, known.cubins, known.program->plans};
  TRY(process_.ask(request_json("program", request), {}, kLoadLimit));
  known.generation = process_.generation();
  return {};
}

base::Result<std::vector<Bounds>> DeviceClient::make_slot(KnownSlot& slot) {
  if (slot.recipe.host) {
    TRY(ask_host(slot.recipe));
  } else {
    TRY(ready_program(slot.recipe.request.in_double.program));
    TRY(ready_program(slot.recipe.request.in_float.program));
  }
  const std::size_t there = slot.generation == process_.generation() ? slot.variants : 0;
  std::vector<std::vector<std::string>> drawn;
  for (std::size_t v = there; v < slot.recipe.request.variants.size(); ++v) {
    TRY_ASSIGN(auto of_variant, drawn_here(slot.recipe.request.variants[v], slot.recipe.draws[v]));
    drawn.push_back(std::move(of_variant));
  }
  std::vector<std::string_view> bulk;
  for (std::size_t v = there; v < slot.recipe.request.variants.size(); ++v) {
    bulk.insert(bulk.end(), drawn[v - there].begin(), drawn[v - there].end());
    if (slot.recipe.host) bulk.insert(bulk.end(), slot.recipe.said[v].bulk.begin(), slot.recipe.said[v].bulk.end());
  }
  const Json request = request_json("slot", slot.recipe.request);
  auto answer = process_.ask(request, bulk, kSlotLimit);
  if (!answer && answer.error().code == ErrorCode::exhausted) {
    // Slots can be made again: the others give way to this one.
    TRY(process_.ask(request_json("forget_all_but", {{"number", slot.recipe.request.number}}), {}, kLoadLimit));
    for (auto& [number, other] : slots_) {
      if (&other != &slot) other.generation = 0;
    }
    answer = process_.ask(request, bulk, kSlotLimit);
  }
  if (!answer) return tl::make_unexpected(answer.error());
  slot.generation = process_.generation();
  slot.variants = slot.recipe.request.variants.size();
  drop_large(slot.recipe);
  try {
    answer->at("bytes").get_to(slot.bytes);
    answer->at("equal").get_to(slot.equal);
    TRY(free_slots(slot));
    return bounds_from(answer->at("bounds"));
  } catch (const nlohmann::json::exception& problem) {
    return base::fail(ErrorCode::internal, std::string("accelopt-device: ") + problem.what());
  }
}

base::Result<void> DeviceClient::free_slots(const KnownSlot& but) {
  for (;;) {
    std::uint64_t bytes = 0;
    auto oldest = slots_.end();
    for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
      if (slot->second.generation != process_.generation()) continue;
      bytes += slot->second.bytes;
      if (&slot->second != &but && (oldest == slots_.end() || slot->second.needed < oldest->second.needed))
        oldest = slot;
    }
    if (bytes <= most_slot_bytes_ || oldest == slots_.end()) return {};
    TRY(process_.ask(request_json("forget", {{"number", oldest->first}}), {}, kLoadLimit));
    oldest->second.generation = 0;
  }
}

base::Result<std::vector<Bounds>> DeviceClient::ready_slot(std::uint64_t number) {
  const auto slot = slots_.find(number);
  if (slot == slots_.end()) return base::fail(ErrorCode::invalid_argument, "the slot was never prepared");
  KnownSlot& known = slot->second;
  known.needed = ++needed_;
  if (known.generation == process_.generation() && known.variants == known.recipe.request.variants.size())
    return std::vector<Bounds>();
  return make_slot(known);
}

base::Result<std::vector<Bounds>> DeviceClient::prepare(std::uint64_t number, SlotRecipe recipe) {
  TRY(ready());
  KnownSlot& slot = slots_[number];
  slot.recipe = std::move(recipe);
  slot.needed = ++needed_;
  return make_slot(slot);
}

base::Result<std::vector<std::size_t>> DeviceClient::equal_outputs(std::uint64_t number, SlotRecipe recipe) {
  recipe.request.compare = true;
  TRY(prepare(number, std::move(recipe)));
  std::vector<std::size_t> out = std::move(slots_.at(number).equal);
  forget(number);
  return out;
}

SlotRecipe* DeviceClient::find(std::uint64_t number) {
  const auto slot = slots_.find(number);
  return slot == slots_.end() ? nullptr : &slot->second.recipe;
}

std::uint64_t DeviceClient::bytes_of(std::uint64_t number) const {
  const auto slot = slots_.find(number);
  return slot == slots_.end() ? 0 : slot->second.bytes;
}

void DeviceClient::forget(std::uint64_t number) {
  const auto slot = slots_.find(number);
  if (slot == slots_.end()) return;
  const bool there = slot->second.generation != 0 && slot->second.generation == process_.generation();
  slots_.erase(slot);
  if (there) std::ignore = process_.ask(request_json("forget", {{"number", number}}), {}, kLoadLimit).has_value();
}

base::Result<void> DeviceClient::release_memory() {
  if (process_.generation() == 0) return {};
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  TRY(process_.ask(request_json("forget_all_but", {{"number", kNone}}), {}, kLoadLimit));
  for (auto& [number, slot] : slots_) slot.generation = 0;
  return {};
}

std::uint64_t DeviceClient::new_live(const std::string& program) {
  lives_[++last_live_] = {program, 0, {}};
  return last_live_;
}

void DeviceClient::end_live(std::uint64_t live) {
  const auto found = lives_.find(live);
  if (found == lives_.end()) return;
  const bool there = found->second.generation != 0 && found->second.generation == process_.generation();
  lives_.erase(found);
  if (there) std::ignore = process_.ask(request_json("end", {{"number", live}}), {}, kLoadLimit).has_value();
}

base::Result<void> DeviceClient::ready_live(std::uint64_t number) {
  Live& live = lives_.at(number);
  if (live.generation == process_.generation()) return {};
  TRY(ready_program(live.program));
  TRY_ASSIGN(const Json answer,
             process_.ask(request_json("start", StartRequest{number, live.program}), {}, kLoadLimit));
  live.refusal = base::text_at(answer, "reason");
  live.generation = process_.generation();
  return {};
}

base::Result<CallReply> DeviceClient::call(const CallRequest& request, const Program* own) {
  TRY(ready());
  if (request.repeat == evaluation::Repeat::compare && kept_ != process_.generation()) {
    // What was kept went with an earlier process: another load of the same code makes it again.
    CallRequest first = request;
    first.repeat = evaluation::Repeat::keep;
    first.poison_seed = ~request.poison_seed;
    first.live = new_live(lives_.at(request.live).program);
    auto kept = call(first, own);
    end_live(first.live);
    if (!kept || kept->outcome.end != CallEnd::returned) return kept;
  }
  auto reply = call_once(request, own);
  if (reply && request.repeat == evaluation::Repeat::keep) kept_ = process_.generation();
  return reply;
}

base::Result<CallReply> DeviceClient::call_once(const CallRequest& request, const Program* own) {
  TRY(ready());
  TRY(ready_slot(request.slot));
  TRY(ready_live(request.live));
  CallReply reply;
  reply.outcome.end = CallEnd::died;
  if (reply.outcome.reason = lives_.at(request.live).refusal; !reply.outcome.reason.empty()) return reply;
  const auto variants = static_cast<std::int64_t>(slots_.at(request.slot).variants);
  const auto limit = std::chrono::nanoseconds(kMostAttempts * variants * request.limit_ns) + kCallSlack;
  CallRequest whole = request;
  if (own != nullptr) {
    const auto plan = own->plans.find(request.plan);
    if (plan == own->plans.end())
      return base::fail(ErrorCode::not_found, "the slot's program has no plan \"" + request.plan + "\"");
    whole.own = plan->second;
    for (const ProgramCubin& cubin : own->cubins) {
      whole.own_cubins.push_back(base::sha256_hex(cubin.bytes));
      TRY(ready_cubin(whole.own_cubins.back(), cubin.bytes));
    }
  }
  const auto answer = process_.ask(request_json("call", whole), {}, limit);
  if (answer) return base::decode<CallReply>(*answer, "accelopt-device");
  if (answer.error().code == ErrorCode::timed_out) {
    reply.outcome.end = CallEnd::timed_out;
    reply.outcome.reason = "did not return, and the device's process was killed";
    return reply;
  }
  if (answer.error().code == ErrorCode::unavailable) {
    reply.outcome.reason = "took the device's process down: " + answer.error().message;
    return reply;
  }
  return tl::make_unexpected(answer.error());
}

}  // namespace accelopt::devices::cuda
