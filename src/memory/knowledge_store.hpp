// SPDX-License-Identifier: Apache-2.0
// What every run ever learned, in one place that outlives them: one interface, one store embedded (knowledge_file.hpp)
// and one on a server (surreal/store.hpp). tests/memory/store_contract.hpp runs over both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/names.hpp"
#include "base/result.hpp"
#include "model/experience.hpp"

namespace accelopt::memory {

/// An experience as a store keeps it. `experience.id` is its content id.
struct Item {
  model::Experience experience;
  bool quarantined = false;
  std::vector<std::string> suspicions{};  ///< why its text looks hostile (memory/sanitation.hpp); empty: it does not
  /// Experiences of its language that were inserted after it: value fades with it.
  std::int64_t age = 0;
};

/// A source that experiences speak of, so that a change can be looked at again.
struct SolutionRecord {
  std::string id{};  ///< source id
  std::string language{};
  std::string task{};       ///< definition's name
  std::string run{};        ///< that measured it
  base::Json sources{};     ///< model::Solution
  base::Json evaluation{};  ///< model::Evaluation with its profile; null: none
};

/// What a store keeps and cannot read any more, because something else wrote over it.
struct Unreadable {
  std::string id;  ///< of the experience; "kernel ID": of a solution
  std::string reason;
};

/// What forget() removed.
struct Removal {
  std::string id;
  std::string title;           ///< empty: it could not be read
  std::int64_t solutions = 0;  ///< of the experience, to which no other one refers
};

/// What an experience is to become, of what it is. Called again where others changed it meanwhile.
using Change = std::function<base::Result<model::Experience>(const model::Experience&)>;

/// Whether experiences of the same strategy are given as one, or each, to be weighed by number: without its code
/// (before, after, diff).
enum class Alike { merged, each };

/// What retrieval asks for. Language and target must match exactly, or be empty in the experience, which then holds for
/// any; all else only raises the score.
struct Query {
  std::string language{};
  std::string target{};
  std::string op_type{};
  std::string bound{};
  std::string text{};                           ///< of kernel and profile: any text, its words count
  std::string without_run{};                    ///< whose experiences are left out; empty: none is
  std::vector<std::string> without_op_types{};  ///< likewise
  Alike alike = Alike::merged;                  ///< what rank() makes of them
  int limit = 128;                              ///< most matches
};

/// An item that fits a query, and how well its words do.
struct Match {
  Item item;
  double text_similarity = 0;  ///< 0: no word in common; 1: the best of this query
};

/// Which items a listing gives; empty fields take all.
struct Filter {
  std::string language{};
  std::string op_type{};
  std::string target{};
  std::string run{};
  std::optional<model::Polarity> polarity{};
  std::optional<bool> quarantined{};
  std::optional<bool> suspicious{};
  int offset = 0;
  int limit = 100;  ///< 0: no limit
};

/// What one plan's attempts say of an experience that it rests on, or that a planner was shown it. Told with an id of
/// its own, so that telling it twice counts once.
struct CreditEvent {
  enum class Kind { shown, confirmed, refuted };  // confirmed and refuted also count as used
  std::string id;                                 ///< unique: "RUN i0.b1.p2 EXPERIENCE"
  std::string experience;                         ///< its content id
  Kind kind = Kind::shown;
  std::string run;
  std::string plan{};                        ///< title; empty: shown
  std::optional<model::Interval> speedup{};  ///< of the plan's best attempt over its parent
};

inline constexpr auto kCreditKinds =
    std::to_array<base::Named<CreditEvent::Kind>>({{CreditEvent::Kind::shown, "shown"},
                                                   {CreditEvent::Kind::confirmed, "confirmed"},
                                                   {CreditEvent::Kind::refuted, "refuted"}});

/// Whether something that a user had forgotten may come back: not when a run sends it once more, but when a user says
/// so.
enum class Forgotten { stays, returns };

/// Whether retrieve() gives an item.
enum class Visibility { shown, hidden };

/// The graph: solutions, tasks, optimizations (experiences) and plans.
struct Node {
  std::string id;  ///< "solution:...", "task:...", "optimization:...", "plan:..."
  std::string label;
};
struct Edge {
  std::string from{};
  std::string relation{};  ///< "improved_by", "seen_on", "rests_on"
  std::string to{};
  std::string label{};  ///< speed-up, or outcome
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

struct StoreStats {
  std::int64_t experiences = 0;  ///< quarantined ones included
  std::int64_t quarantined = 0;
  std::int64_t suspicious = 0;
  std::int64_t forgotten = 0;
  std::int64_t solutions = 0;
  std::int64_t credit_events = 0;
  std::int64_t bytes = 0;  ///< on disk; 0: unknown
  /// Experiences, among those counted above, whose text is visibly damaged; reading them all may find more.
  std::vector<Unreadable> unreadable{};
  std::vector<std::pair<std::string, std::int64_t>> by_language{};  ///< most first
  std::vector<std::pair<std::string, std::int64_t>> by_op_type{};
  std::vector<std::pair<std::string, std::int64_t>> by_polarity{};
};

/// One store. Used by one thread at a time; any number of processes may use the same store at once.
/// Experiences that cannot be read are passed over (see unreadable()); the others are given nevertheless.
/// All: @error unavailable: it cannot be reached or stays locked (try later); permission_denied, unauthenticated:
/// refused; exhausted: no space; corrupt: damaged or of a newer version, and untouched; timed_out, io, internal.
class KnowledgeStore {
 public:
  virtual ~KnowledgeStore() = default;
  /// For messages: its path or address, never with a password.
  [[nodiscard]] virtual const std::string& name() const = 0;

  /// Inserts those that are not there yet by their id in stores (memory/sanitation.hpp: made_fit(), which also bounds
  /// and cleans the texts), all or none, and gives how many were new. What is there stays as it is, edits and credit
  /// included; of a new one the credit is taken over. `created` is set where it is empty. New ones whose ids in stores
  /// are among `hidden` are quarantined from the first.
  virtual base::Result<int> insert(std::span<const model::Experience> experiences, Forgotten forgotten,
                                   const std::set<std::string>& hidden) = 0;
  base::Result<int> insert(std::span<const model::Experience> experiences, Forgotten forgotten) {
    return insert(experiences, forgotten, {});
  }
  /// Inserts those that are not there yet by id.
  virtual base::Result<void> put_solutions(std::span<const SolutionRecord> solutions) = 0;
  /// Those of these ids that are there, in no order.
  virtual base::Result<std::vector<SolutionRecord>> solutions(std::span<const std::string> ids) = 0;

  /// By id or a prefix of it that fits one alone; quarantined ones too.
  /// @error not_found; invalid_argument: it fits several (the message lists some); corrupt: it cannot be read.
  virtual base::Result<Item> get(std::string_view id) = 0;
  /// Those that fit, quarantined ones aside: the ones most like the query by words, and beside them those of the same
  /// op_type and bound, newest first, up to query.limit. Their order means nothing: rank() decides (ranking.hpp).
  virtual base::Result<std::vector<Match>> retrieve(const Query& query) = 0;
  /// Newest first.
  virtual base::Result<std::vector<Item>> list(const Filter& filter) = 0;
  /// The ones that have words of the text, best first; any text is fine.
  virtual base::Result<std::vector<Item>> search(std::string_view text, const Filter& filter) = 0;
  /// Each once in order of insertion, until `visit` gives an error. The store is not changed meanwhile by `visit`.
  virtual base::Result<void> for_each(const std::function<base::Result<void>(const Item&)>& visit) = 0;

  /// Changes all but id, provenance (run, iteration, created) and credit of an item, by id or a prefix: reads it, calls
  /// `change` and writes what that gives, as one transaction, so that of two who change it at once neither's change is
  /// lost. `change` may not use the store. Gives the item as it is now.
  /// @error as get(), and what `change` gives; unavailable: others keep changing it.
  virtual base::Result<Item> edit(std::string_view id, const Change& change) = 0;
  /// Removes the item, readable or not, by id or a prefix, and the solutions that only it refers to; remembers that.
  /// @error not_found; invalid_argument: it fits several.
  virtual base::Result<Removal> forget(std::string_view id) = 0;
  /// Hides the item from retrieve(), or shows it again. @error not_found.
  virtual base::Result<void> quarantine(std::string_view id, Visibility visibility) = 0;
  /// Those of these ids that are quarantined or were forgotten, in no order.
  virtual base::Result<std::vector<std::string>> hidden(std::span<const std::string> ids) = 0;

  /// Counts each event that was not counted yet, all or none; those of items that are not there are remembered and
  /// change nothing. Gives how many were new.
  virtual base::Result<int> credit(std::span<const CreditEvent> events) = 0;

  virtual base::Result<StoreStats> stats() = 0;
  /// Of the newest `limit` items.
  virtual base::Result<Graph> graph(int limit) = 0;

  /// What was passed over since the last call of list(), search(), retrieve(), for_each() or graph() began.
  [[nodiscard]] virtual const std::vector<Unreadable>& unreadable() const = 0;
};

}  // namespace accelopt::memory
