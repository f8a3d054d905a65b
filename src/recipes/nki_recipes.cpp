// SPDX-License-Identifier: Apache-2.0
#include "recipes/nki_recipes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "recipes/nki_affine.hpp"
#include "recipes/nki_blocks.hpp"
#include "recipes/nki_keep.hpp"
#include "recipes/nki_psum.hpp"
#include "recipes/nki_rows.hpp"
#include "recipes/nki_source.hpp"
#include "recipes/nki_tiles.hpp"

namespace accelopt::recipes {
namespace {

using nki::Call;
using NkiStatement = nki::Statement;
using nki::Token;
using Statements = std::vector<NkiStatement>;

constexpr const char* kWholeKernel = "kernel:all";
constexpr int kNarrowest = 16;        ///< what has less is a column of its own
constexpr int kWidest = 4096;         ///< elements of a partition: a quarter of what a few tiles may have
constexpr int kMostMoving = 512;      ///< columns of a matrix multiplication
constexpr double kDescriptorNs = 98;  ///< of a row in HBM
constexpr double kBytesPerNs = 27.2;  ///< of an engine that moves it
constexpr double kFewerInstructions = 1.15;
constexpr double kAnotherLoop = 1.2;
constexpr const char* kTogether = "all at once";
constexpr double kAllTogether = 1.6;
constexpr double kAllInBlocks = 1.7;
constexpr double kInBlocks = 1.5;
constexpr double kReusedTiles = 1.35;
constexpr double kWholeRows = 1.3;
constexpr double kLeftResults = 1.2;
constexpr double kCopiedOperands = 1.3;

int number_of(const std::string& text) {
  return nki::number_of({}, text);
}

/// What all kernels with loops like these have in common.
std::string shape_of(const Statements& all) {
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::any_of(all.begin(), all.end(), [&](const NkiStatement& one) {
      return std::any_of(names.begin(), names.end(), [&](const char* name) { return nki::calls(one, name); });
    });
  };
  std::string out = "tiles";
  if (any({"nc_matmul", "matmul"})) out += ".matmul";
  if (any({"tensor_reduce", "sum", "max", "loop_reduce"})) out += ".reduction";
  return out;
}

// Wider tiles.

/// The width n of nl.arange(n)[None, :], or where it is a name the number that the name is given.
std::set<int> widths(const Statements& all) {
  std::set<int> out;
  for (const NkiStatement& one : all) {
    const std::vector<Token>& t = one.tokens;
    for (std::size_t i = 0; i + 7 < t.size(); ++i) {
      if (t[i].value != "arange" || t[i + 1].value != "(" || t[i + 3].value != ")" || t[i + 5].value != "None")
        continue;
      if (const int n = number_of(t[i + 2].value); n > 0) out.insert(n);
      for (const NkiStatement& other : all) {
        if (other.target == t[i + 2].value && other.tokens.size() == 3 && number_of(other.tokens[2].value) > 0)
          out.insert(number_of(other.tokens[2].value));
      }
    }
  }
  return out;
}

Statements widened(const Statements& all, int from, int to) {
  Statements out;
  for (const NkiStatement& one : all) {
    std::string text = one.text;
    for (std::size_t i = one.tokens.size(); i-- > 0;) {
      const int n = one.tokens[i].kind == Token::Kind::number ? number_of(one.tokens[i].value) : 0;
      if (n == from || (n == from - 1 && n > 0))
        text.replace(one.tokens[i].at, one.tokens[i].value.size(), std::to_string(n == from ? to : to - 1));
    }
    out.push_back(nki::statement_of(one.indent, std::move(text)));
  }
  return out;
}

double descriptor_ns_per_byte(int elements) {
  const double bytes = 4.0 * elements;
  return (kDescriptorNs + bytes / kBytesPerNs) / bytes;
}

void propose_wider(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  const bool multiplies = shape.find("matmul") != std::string::npos;
  std::set<int> partitions;
  for (const auto& [name, extent] : nki::tiles_of(all).indices) partitions.insert(nki::number_of(all, extent.first));
  for (const int from : widths(all)) {
    if (from < kNarrowest || partitions.contains(from)) continue;  // numbers of partitions are no widths
    for (int to = from * 2; to <= (multiplies ? kMostMoving : kWidest); to *= 2) {
      Application one;
      one.recipe = "wider tiles";
      one.location = "kernel:" + std::to_string(from);
      one.parameters = {{"from", std::to_string(from)}, {"to", std::to_string(to)}};
      one.title = fmt::format("Widen free tiles from {} to {} elements", from, to);
      one.text = "Longer rows are moved by fewer DMA descriptors, and instructions on longer rows start less often.";
      one.prior = 1 + 0.6 * (descriptor_ns_per_byte(from) / descriptor_ns_per_byte(to) - 1);
      one.shape = shape;
      result.push_back(std::move(one));
    }
  }
}

// What changes the kernel as a whole.

Application of_whole_kernel(const char* recipe, double prior, const std::string& shape, std::string title,
                            std::string text) {
  Application one;
  one.recipe = recipe;
  one.location = kWholeKernel;
  one.title = std::move(title);
  one.text = std::move(text);
  one.prior = prior;
  one.shape = shape;
  return one;
}

// Rows and tiles that loops make again.

void propose_reuse(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  if (!nki::reused(all, 2)) return;
  result.push_back(of_whole_kernel(
      nki::kReuse, kReusedTiles, shape, "Load rows whole, and make before every loop what it makes again and again",
      "Long rows are moved by fewer DMA descriptors, and tiles that stay in SBUF are loaded, transposed and broadcast "
      "once."));
}

// Rows that loops store in pieces.

/// Without multiplications tiles may be wider themselves, and rows have any length: they may not fit.
bool multiplies(const std::string& shape) {
  return shape.find("matmul") != std::string::npos;
}

void propose_whole_stores(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  if (!multiplies(shape) || !nki::with_whole_stores(all)) return;
  result.push_back(of_whole_kernel(nki::kWholeStores, kWholeRows, shape,
                                   "Store rows whole, after the loops that make their parts",
                                   "Long rows are moved by fewer DMA descriptors."));
}

// Several iterations of an outer loop side by side.

constexpr const char* kParts = "parts";
constexpr std::array kMostParts{4, 2};

int parts_of(const Application& application) {
  const auto found = application.parameters.find(kParts);
  return found == application.parameters.end() ? 0 : number_of(found->second);
}

std::optional<Statements> reused_and_blocked(const Statements& all, int most) {
  const auto reused = nki::reused(all, 1);
  return nki::blocked(reused ? *reused : all, most);
}

void propose_blocks(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  for (const int most : kMostParts) {
    if (!reused_and_blocked(all, most)) continue;
    result.push_back(of_whole_kernel(
        nki::kBlocks, kInBlocks, shape, fmt::format("Make {} iterations of the outer loop side by side", most),
        "What they all need is loaded once for all of them, so that DMA keeps up with TensorE."));
    result.back().parameters = {{kParts, std::to_string(most)}};
  }
}

// Operands of VectorE.

constexpr const char* kResults = "results";

void propose_psum(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  const auto left = nki::through_psum(all, nki::InPsum::results);
  const auto copied = nki::through_psum(all, nki::InPsum::copies);
  for (const bool copies : {true, false}) {
    if (copies ? !copied || (left && nki::text_of(*left) == nki::text_of(*copied)) : !left) continue;
    Application one;
    one.recipe = nki::kPsum;
    one.location = std::string("kernel:") + (copies ? "operands" : kResults);
    one.title = copies ? "Give VectorE one operand in PSUM, copied there where it lies in SBUF"
                       : "Leave results in PSUM where VectorE reads them again";
    one.text = "An instruction on two tiles takes half as long where one of them lies in PSUM.";
    one.prior = copies ? kCopiedOperands : kLeftResults;
    one.shape = shape;
    result.push_back(std::move(one));
  }
}

// Kinds of loops.

void propose_affine(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!nki::made_affine(all, i)) continue;
    Application found;
    found.recipe = "affine loop";
    found.location = "kernel:" + all[i].variable;
    found.title = fmt::format("Make the loop over {} an affine_range", all[i].variable);
    found.text = "Tiles of independent iterations have two places each, so that loads run ahead of the arithmetic.";
    found.prior = kAnotherLoop;
    found.shape = shape;
    result.push_back(std::move(found));
  }
}

std::optional<Statements> make_affine(const Statements& all, const std::string& variable) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].variable != variable) continue;
    if (auto changed = nki::made_affine(all, i)) return changed;
  }
  return std::nullopt;
}

// Fewer instructions: patterns of statements that follow each other in one block, whose results have no other readers.

/// How often anything reads the name.
std::size_t readers(const Statements& all, std::string_view name) {
  std::size_t out = 0;
  for (const NkiStatement& one : all) out += nki::times_read(one, name);
  return out;
}

/// The statement that gives the name its only value before `user`, in the same block; none: there is none.
std::optional<std::size_t> source_of(const Statements& all, std::string_view name, std::size_t user) {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].target != name) continue;
    if (out || i >= user || all[i].indent != all[user].indent || nki::block_end(all, i) != i + 1) return std::nullopt;
    out = i;
  }
  return out;
}

std::string mask_of(const Call& call) {
  const std::string mask = nki::named(call, "mask");
  return mask.empty() ? "" : ", mask=" + mask;
}

/// A reciprocal of 1 + exp(-x): a function of its own on ScalarE.
std::optional<Statements> sigmoid(Statements all, std::size_t place) {
  const auto last = nki::call_of(all[place]);
  if (!last || last->function != "reciprocal" || last->arguments.empty()) return std::nullopt;
  const auto sum_at = source_of(all, last->arguments[0], place);
  if (!sum_at || readers(all, last->arguments[0]) != 1) return std::nullopt;
  const auto sum = nki::call_of(all[*sum_at]);
  if (!sum || sum->function != "add" || sum->arguments.size() < 2 || sum->arguments[1] != "1.0") return std::nullopt;
  const auto power_at = source_of(all, sum->arguments[0], *sum_at);
  if (!power_at || readers(all, sum->arguments[0]) != 1) return std::nullopt;
  const auto power = nki::call_of(all[*power_at]);
  if (!power || power->function != "activation" || power->arguments.size() < 2 || power->arguments[0] != "nl.exp" ||
      nki::named(*power, "scale") != "-1.0" || !nki::named(*power, "bias").empty())
    return std::nullopt;
  all[place] = nki::statement_of(
      all[place].indent, fmt::format("{} = nl.sigmoid({}{})", all[place].target, power->arguments[1], mask_of(*last)));
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(*sum_at));
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(*power_at - (*power_at > *sum_at ? 1 : 0)));
  return all;
}

/// "nl.multiply" for nl.multiply(x, 2.0); empty: it is no operation of a tile and a number.
std::string scalar_operation(const Call& call) {
  constexpr std::array kKnown{"add", "subtract", "multiply", "divide", "maximum", "minimum"};
  const bool known = std::find(kKnown.begin(), kKnown.end(), call.function) != kKnown.end();
  if (!known || call.arguments.size() < 2) return {};
  const std::vector<Token> operand = nki::tokens_of(call.arguments[1]);
  const bool number = !operand.empty() && operand.back().kind == Token::Kind::number &&
                      (operand.size() == 1 || (operand.size() == 2 && operand[0].value == "-"));
  return number ? "nl." + call.function : std::string();
}

/// Two operations with numbers, one after the other: one instruction.
std::optional<Statements> two_scalars(Statements all, std::size_t place) {
  const auto second = nki::call_of(all[place]);
  if (!second || scalar_operation(*second).empty()) return std::nullopt;
  const auto at = source_of(all, second->arguments[0], place);
  if (!at || readers(all, second->arguments[0]) != 1) return std::nullopt;
  const auto first = nki::call_of(all[*at]);
  if (!first || scalar_operation(*first).empty()) return std::nullopt;
  all[place] = nki::statement_of(
      all[place].indent, fmt::format("{} = nisa.tensor_scalar({}, {}, {}, False, {}, {}, False{})", all[place].target,
                                     first->arguments[0], scalar_operation(*first), first->arguments[1],
                                     scalar_operation(*second), second->arguments[1], mask_of(*second)));
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(*at));
  return all;
}

bool lies_in_psum(const Statements& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(), [&](const NkiStatement& one) {
    const auto call = one.target == name ? nki::call_of(one) : std::nullopt;
    constexpr std::array kTensorE{"nc_matmul", "matmul", "nc_transpose", "transpose"};
    return call && (std::find(kTensorE.begin(), kTensorE.end(), call->function) != kTensorE.end() ||
                    nki::named(*call, "buffer").ends_with("psum"));
  });
}

/// Whether an instruction on two tiles would have them both in PSUM, which VectorE cannot read.
bool both_in_psum(const Statements& all, const Call& reader, const std::string& copied) {
  constexpr std::array kPairs{"add", "subtract", "multiply", "maximum", "minimum"};
  if (std::find(kPairs.begin(), kPairs.end(), reader.function) == kPairs.end() || reader.arguments.size() < 2)
    return false;
  const std::string& other = reader.arguments[reader.arguments[0] == copied ? 1 : 0];
  return other == copied || lies_in_psum(all, other.substr(0, other.find('[')));
}

/// A copy whose readers could read what it copies, in PSUM: they take it from there.
std::optional<Statements> no_copy(Statements all, std::size_t place) {
  const auto call = nki::call_of(all[place]);
  if (!call || (call->function != "copy" && call->function != "tensor_copy") || call->arguments.empty())
    return std::nullopt;
  const std::string copied = all[place].target;
  bool used = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != place && all[i].target == copied) return std::nullopt;
    if (nki::times_read(all[i], copied) == 0) continue;
    constexpr std::array kReaders{"activation", "tensor_scalar", "tensor_reduce", "exp",     "square", "add",
                                  "subtract",   "multiply",      "sigmoid",       "maximum", "max",    "sum"};
    const auto reader = nki::call_of(all[i]);
    if (!reader || std::find(kReaders.begin(), kReaders.end(), reader->function) == kReaders.end()) return std::nullopt;
    if (both_in_psum(all, *reader, copied)) return std::nullopt;
    all[i] = nki::with_name_replaced(all[i], copied, call->arguments[0]);
    used = true;
  }
  if (!used) return std::nullopt;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(place));
  return all;
}

/// exp(x - column): the function takes the column as its bias.
std::optional<Statements> bias(Statements all, std::size_t place) {
  const auto difference = nki::call_of(all[place]);
  if (!difference || difference->function != "subtract" || difference->arguments.size() != 2) return std::nullopt;
  const std::string& from = difference->arguments[0];
  const std::string& column = difference->arguments[1];
  const auto tiles = nki::tiles_of(all).tiles;
  if (!tiles.contains(column) || tiles.at(column).second != "1" || readers(all, all[place].target) != 1)
    return std::nullopt;
  const std::string negative = "negative_" + column;
  if (nki::times_assigned(all, negative) > 0) return std::nullopt;
  const std::set<std::string> sources = nki::reads(nki::statement_of(0, from + ", " + column));
  for (std::size_t i = place + 1; i < all.size() && all[i].indent == all[place].indent; ++i) {
    const auto power = nki::assigned_call(all[i]);
    if (power && power->function == "exp" && power->arguments.size() == 1 && power->arguments[0] == all[place].target) {
      const std::string target = all[i].text.substr(0, all[i].text.find("nl.exp("));
      if (target.size() == all[i].text.size()) return std::nullopt;
      all[i] = nki::statement_of(all[i].indent,
                                 fmt::format("{}nisa.activation(nl.exp, {}, bias={})", target, from, negative));
      all[place] = nki::statement_of(all[place].indent, fmt::format("{} = nl.multiply({}, -1.0)", negative, column));
      return all;
    }
    if (sources.contains(nki::written(all[i]))) return std::nullopt;
  }
  return std::nullopt;
}

struct Pattern {
  const char* recipe;
  const char* title;
  const char* text;
  std::optional<Statements> (*apply)(Statements all, std::size_t place);
};

constexpr std::array kPatterns{
    Pattern{"choice of engine", "Compute {} as a function of ScalarE",
            "Addition and reciprocal leave VectorE, and one pass over the tile does the work of three.", sigmoid},
    Pattern{"scalar fusion", "Compute {} by one instruction with two operands",
            "An instruction with two scalar operands passes over the tile once.", two_scalars},
    Pattern{"eviction fusion", "Read PSUM where the copy {} is read",
            "What reads the copy can read PSUM itself, so that the copy need not be made.", no_copy},
    Pattern{"bias fusion", "Subtract within the exponential that reads {}",
            "ScalarE adds a column while it computes a function: one pass over the tile in place of two.", bias}};

void propose_patterns(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  for (const Pattern& pattern : kPatterns) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].target.empty() || !pattern.apply(all, i)) continue;
      Application one;
      one.recipe = pattern.recipe;
      one.location = "kernel:" + all[i].target;
      one.title = fmt::format(fmt::runtime(pattern.title), all[i].target);
      one.text = pattern.text;
      one.prior = kFewerInstructions;
      one.shape = shape;
      result.push_back(std::move(one));
    }
  }
}

// What each alone may be too little of.

/// Whether rows are stored whole too, and how many iterations of the outer loop are made side by side at most (0: one
/// at a time).
struct Togetherness {
  bool whole_stores = false;
  int parts = 0;
};

/// Every copy that need not be, scalars that fit in one instruction, rows and tiles that are made once, loops whose
/// iterations may overlap, VectorE's operands in PSUM, and what is asked besides. None: fewer than two of these apply,
/// or what is asked does not.
std::optional<Statements> together(Statements all, Togetherness how) {
  int kinds = 0;
  const auto take = [&](std::optional<Statements> changed) {
    if (!changed) return false;
    all = std::move(*changed);
    ++kinds;
    return true;
  };
  for (const Pattern& pattern : kPatterns) {
    bool some = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].target.empty()) continue;
      if (auto changed = pattern.apply(all, i)) {
        all = std::move(*changed);
        some = true;
        i = 0;
      }
    }
    kinds += some ? 1 : 0;
  }
  if (how.whole_stores && !take(nki::with_whole_stores(all))) return std::nullopt;
  take(nki::reused(all, 1));
  bool affine = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto changed = nki::made_affine(all, i);
    if (!changed) continue;
    all = std::move(*changed);
    affine = true;
  }
  kinds += affine ? 1 : 0;
  take(nki::through_psum(all, nki::InPsum::copies));
  if (how.parts > 0 && !take(nki::blocked(all, how.parts))) return std::nullopt;
  if (kinds < 2) return std::nullopt;
  return all;
}

constexpr const char* kStores = "stores";

void propose_together(const Statements& all, const std::string& shape, std::vector<Application>& result) {
  std::vector<Togetherness> ways{{false, 0}, {true, 0}};
  for (const int most : kMostParts) ways.push_back({false, most});
  for (const Togetherness& how : ways) {
    if ((how.whole_stores && !multiplies(shape)) || !together(all, how)) continue;
    Application one = of_whole_kernel(
        kTogether, how.parts > 0 || how.whole_stores ? kAllInBlocks : kAllTogether, shape,
        "Apply at once what saves instructions, loads, transposes and waiting",
        "Engines and DMA work side by side, so that what is saved on one of them shows where the others are relieved "
        "too.");
    if (how.whole_stores) {
      one.parameters = {{kStores, "whole"}};
      one.title += ", and store rows whole";
    }
    if (how.parts > 0) {
      one.parameters = {{kParts, std::to_string(how.parts)}};
      one.title += fmt::format(", with {} iterations of the outer loop side by side", how.parts);
    }
    result.push_back(std::move(one));
  }
}

std::optional<Statements> applied(Statements all, const Application& application) {
  const std::string place =
      application.location.substr(std::min(application.location.size(), application.location.find(':') + 1));
  if (application.recipe == "wider tiles") {
    const auto parameter = [&](const char* name) {
      const auto found = application.parameters.find(name);
      return found == application.parameters.end() ? 0 : number_of(found->second);
    };
    if (parameter("from") < 1 || parameter("to") < 1) return std::nullopt;
    return widened(all, parameter("from"), parameter("to"));
  }
  if (application.recipe == "affine loop") return make_affine(all, place);
  if (application.recipe == kTogether && application.location == kWholeKernel)
    return together(std::move(all), {application.parameters.contains(kStores), parts_of(application)});
  if (application.recipe == nki::kBlocks && application.location == kWholeKernel)
    return reused_and_blocked(all, parts_of(application));
  if (application.recipe == nki::kWholeStores && application.location == kWholeKernel)
    return nki::with_whole_stores(std::move(all));
  if (application.recipe == nki::kReuse && application.location == kWholeKernel) return nki::reused(all, 2);
  if (application.recipe == nki::kPsum && (place == kResults || place == "operands"))
    return nki::through_psum(all, place == kResults ? nki::InPsum::results : nki::InPsum::copies);
  if (application.recipe == nki::kKeep) return nki::kept(std::move(all), place);
  for (const Pattern& pattern : kPatterns) {
    if (application.recipe != pattern.recipe) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].target != place) continue;
      if (auto changed = pattern.apply(all, i)) return changed;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Application> enumerate_nki(const KernelSource& kernel) {
  const Statements all = nki::statements_of(kernel.source);
  const std::string shape = shape_of(all);
  std::vector<Application> result;
  propose_wider(all, shape, result);
  for (const nki::Keeping& one : nki::keepings(all)) {
    Application found;
    found.recipe = nki::kKeep;
    found.location = "kernel:" + one.loop;
    found.title = fmt::format("Make {} before the loop over {}", one.names, one.loop);
    found.text = "What does not depend on the loop is loaded, and transposed where it is, once, and kept in SBUF.";
    found.prior = one.prior;
    found.shape = shape;
    result.push_back(std::move(found));
  }
  propose_together(all, shape, result);
  propose_reuse(all, shape, result);
  propose_blocks(all, shape, result);
  propose_whole_stores(all, shape, result);
  propose_psum(all, shape, result);
  propose_affine(all, shape, result);
  propose_patterns(all, shape, result);
  return result;
}

base::Result<std::string> apply_nki(const KernelSource& kernel, const Application& application) {
  const auto changed = applied(nki::statements_of(kernel.source), application);
  if (!changed)
    return base::fail(base::ErrorCode::invalid_argument,
                      "the recipe " + application.recipe + " does not apply at " + application.location);
  return nki::text_of(*changed);
}

}  // namespace accelopt::recipes
