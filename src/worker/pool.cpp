// SPDX-License-Identifier: Apache-2.0
#include "worker/pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "base/hash.hpp"
#include "evaluation/evaluator_json.hpp"
#include "evaluation/requests.hpp"

namespace accelopt::worker {
namespace {

using base::ErrorCode;
using base::Json;

constexpr int kDeathsOfASolution = 2;  ///< with the same solution being measured: its own fault

/// One worker of the pool, and what it has to do.
struct Member {
  Member(WorkerCommand command, const ConnectionOptions& options, std::size_t number)
      : connection(std::move(command), options), name(connection.name()), place(number) {}

  enum class State {
    spare,     ///< the task was not opened there, and need not be as yet
    down,      ///< has no process; the next request starts it
    starting,  ///< on its own thread
    ready,     ///< the task is open in it
    stopped,   ///< its start was called off
    lost       ///< given up, or refused
  } state = State::down;
  WorkerConnection connection;
  std::string name;                              ///< unlike any other's
  std::size_t place;                             ///< in the list
  std::optional<std::uint64_t> seed{};           ///< of its inputs; none: the run's
  std::optional<evaluation::OpenReport> opened;  ///< what it said last of its device
  base::Error error{};                           ///< why it is stopped or lost
  int deaths = 0;                                ///< of nobody, since its last answer
  int building = 0;                              ///< requests in flight
  int measuring = 0;
  std::set<std::string> built;  ///< source ids
  std::jthread starter;
};

/// The solution that is to be blamed for a death while it is measured; null: none.
const model::Kernel* blamed(const evaluation::Request& request) {
  if (const auto* const race = std::get_if<evaluation::Race>(&request)) return &race->candidate;
  if (const auto* const held_out = std::get_if<evaluation::HeldOut>(&request)) return &held_out->kernel;
  if (const auto* const confirm = std::get_if<evaluation::Confirm>(&request)) return &confirm->kernel;
  return nullptr;
}

/// What a solution is said to be that workers died of.
evaluation::Reply death_by(const evaluation::Request& request, const model::Kernel& kernel, const std::string& reason) {
  if (std::holds_alternative<evaluation::HeldOut>(request)) return model::Status::runtime_error;
  model::Evaluation evaluation;
  evaluation.kind = std::holds_alternative<evaluation::Confirm>(request) ? model::EvaluationKind::confirm
                                                                         : model::EvaluationKind::triage;
  evaluation.status = model::Status::runtime_error;
  evaluation.source_id = kernel.id();
  evaluation.reason = "measuring it ended the worker twice: " + reason;
  return evaluation;
}

/// Errors that another machine does not give: a full disk, a device that went away, a folder that may not be written.
bool is_of_the_machine(ErrorCode code) {
  return code == ErrorCode::exhausted || code == ErrorCode::unavailable || code == ErrorCode::io ||
         code == ErrorCode::permission_denied || code == ErrorCode::internal;
}

/// The source that a request builds, or would rather find built; empty: none in particular.
std::string built_source(const evaluation::Request& request) {
  if (const auto* const build = std::get_if<evaluation::Build>(&request)) return build->kernel.id();
  if (const auto* const race = std::get_if<evaluation::Race>(&request)) return race->candidate.id();
  return {};
}

class WorkerPool final : public evaluation::Evaluator {
 public:
  explicit WorkerPool(PoolOptions options)
      : options_(std::move(options.connection)), placement_(std::move(options.placement)) {
    ACCELOPT_ASSERT(!options.workers.empty(), "a pool has a worker");
    ACCELOPT_ASSERT(!placement_ || placement_->workers() == options.workers.size(), "pools share one list of workers");
    one_at_a_time(options_.waiting);
    one_at_a_time(options_.progressed);
    for (WorkerCommand& command : options.workers) {
      members_.emplace_back(std::move(command), options_, members_.size());
      Member& member = members_.back();
      const auto namesakes = std::count_if(members_.begin(), members_.end(), [&](const Member& other) {
        return other.connection.name() == member.connection.name();
      });
      if (namesakes > 1) member.name += " (" + std::to_string(namesakes) + ")";
    }
  }

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() override {
    for (Member& member : members_) member.starter.request_stop();
    if (home_) placement_->leave_home(*home_);
  }

  base::Outcome<evaluation::Reply> answer(const evaluation::Request& request, std::stop_token stop) override {
    if (const auto* const open = std::get_if<evaluation::Open>(&request)) return open_task(*open, stop);
    const Json json = to_json(request);
    int deaths_of_solution = 0;
    int deaths_of_nobody = 0;
    std::set<const Member*> fled;  // where it was in vain
    while (true) {
      TRY_ASSIGN(Member* const member, take(request, fled, stop));
      Answer answer = member->connection.ask(json, stop);
      const model::Kernel* const culprit = answer.started ? blamed(request) : nullptr;
      give_back(*member, request, answer, culprit == nullptr ? Fault::nobodys : Fault::solutions);
      if (answer.end == Answer::End::cancelled) return tl::make_unexpected(cancelled());
      const bool answered = answer.end == Answer::End::answered;
      if (answered && several() && !answer.result && is_of_the_machine(answer.result.error().code)) {
        give_up(*member, answer.result.error());
        fled.insert(member);
        continue;
      }
      if (answered) return reply_of(*member, request, std::move(answer.result));
      fled.insert(member);
      if (culprit != nullptr && ++deaths_of_solution == kDeathsOfASolution)
        return death_by(request, *culprit, answer.reason);
      if (culprit == nullptr && ++deaths_of_nobody == kDeathsOfNobody)
        return tl::make_unexpected(member->connection.too_many_deaths(answer.reason + answer.last_words));
    }
  }

  double waited_seconds() const override {
    double sum = 0;
    for (const Member& member : members_) sum += member.connection.waited_seconds();
    return sum;
  }

 private:
  using State = Member::State;
  using Texts = std::vector<std::string>;
  using Processes = std::vector<std::shared_ptr<WorkerProcess>>;
  enum class Fault { solutions, nobodys };

  static base::Error cancelled() { return {ErrorCode::cancelled, "stopped as asked"}; }

  template <class Value>
  void one_at_a_time(std::function<void(const Value&)>& told) {
    if (!told) return;
    told = [this, whom = std::move(told)](const Value& value) {
      const std::lock_guard lock(telling_);
      whom(value);
    };
  }

  [[nodiscard]] bool several() const { return members_.size() > 1; }

  static std::string title(const Member& member) { return "the worker \"" + member.name + "\""; }

  void tell(const Texts& texts) const {
    for (const std::string& text : texts) {
      if (options_.notice) options_.notice(text);
    }
  }

  [[nodiscard]] long count(State state) const {
    return std::count_if(members_.begin(), members_.end(), [&](const Member& m) { return m.state == state; });
  }

  /// "; 2 of 3 workers are left".
  [[nodiscard]] std::string left() const {
    const long lost = count(State::lost);
    const auto all = static_cast<long>(members_.size());
    return "; " + std::to_string(all - lost) + " of " + std::to_string(all) + " workers are left";
  }

  base::Result<evaluation::Reply> reply_of(const Member& member, const evaluation::Request& request,
                                           base::Result<Json> result) const {
    if (!result) return tl::make_unexpected(named(member, result.error()));
    TRY_ASSIGN(evaluation::Reply reply, evaluation::read_reply(request, *result, "the worker's", protocol_));
    auto* const evaluation = std::get_if<model::Evaluation>(&reply);
    if (several() && evaluation != nullptr) evaluation->environment.worker = member.name;
    return reply;
  }

  base::Result<evaluation::Reply> open_task(const evaluation::Open& open, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (reference_) return base::fail(ErrorCode::invalid_argument, "a task is open already; make another pool");
    if (count(State::starting) == 0) {
      target_ = open.task.target;
      protocol_ = open.settings.protocol;
      tasks_ = open.task.target + " " + std::string(model::to_string(open.task.baseline.language));
      open_request_ = to_json(evaluation::Request(open));
      choose_home(open.settings.seed);
    }
    for (Member& member : members_) {
      if (member.state == State::down || member.state == State::stopped || member.state == State::lost) start(member);
    }
    do {
      if (!changed_.wait(lock, stop, [this] { return count(State::starting) == 0; }))
        return tl::make_unexpected(cancelled());
      if (placement_ && !agree_with_other_runs(lock, stop)) return tl::make_unexpected(cancelled());
    } while (std::none_of(members_.begin(), members_.end(), passes) && start_spares());
    Texts texts;
    auto reply = settle_on_a_kind(texts);
    const auto ended = std::exchange(refused_, {});
    lock.unlock();
    tell(texts);
    return reply;
  }

  /// Where the task is opened at first, and from which seeds inputs are drawn: no candidate meets the same ones on two
  /// workers.
  void choose_home(std::uint64_t seed) {
    std::size_t home = 0;
    if (placement_) {
      for (Member& member : members_) member.state = State::spare;
      if (home_) placement_->leave_home(*home_);
      const auto chosen = placement_->find_home();
      for (const std::size_t place : chosen) members_[place].state = State::down;
      home_ = home = chosen.front();
    }
    for (Member& member : members_) {
      const bool own = member.place != home;
      member.seed =
          own ? std::optional(base::derive_seed(seed, "worker " + std::to_string(member.place))) : std::nullopt;
    }
  }

  static bool passes(const Member& member) {
    return member.state == State::ready && member.opened->baseline.status == model::Status::passed;
  }

  /// Under the lock. False: there are none.
  bool start_spares() {
    const long spares = count(State::spare);
    for (Member& member : members_) {
      if (member.state == State::spare) start(member);
    }
    return spares > 0;
  }

  static DeviceKind kind_of(const evaluation::OpenReport& opened) {
    return {opened.device.name, opened.baseline.environment.device, opened.device.compiler};
  }

  /// Runs of one suite are on one kind of device, though each begins on a worker of its own. False: stopped.
  bool agree_with_other_runs(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
    const auto first = std::find_if(members_.begin(), members_.end(), passes);
    if (first == members_.end()) return true;
    lock.unlock();
    const auto settled = placement_->settle(first->place, tasks_, stop);
    lock.lock();
    if (!settled) return !stop.stop_requested();
    for (Member& member : members_) {
      if (passes(member)) refuse(member, difference(kind_of(*member.opened), settled->kind, members_[settled->worker]));
    }
    return true;
  }

  /// Every worker has opened the task or cannot: the kind of device that the run is on, and who is of it.
  base::Result<evaluation::Reply> settle_on_a_kind(Texts& texts) {
    for (Member& member : members_) {
      if (member.state != State::ready) continue;
      if (reference_ == nullptr) reference_ = &member;
      if (reference_->opened->baseline.status == model::Status::passed) break;
      if (member.opened->baseline.status == model::Status::passed) reference_ = &member;
    }
    if (reference_ == nullptr) return tl::make_unexpected(nobody_left(last_lost()));
    kind_ = *reference_->opened;
    for (Member& member : members_) {
      if (member.state == State::ready) refuse_another_kind(member);
      if (member.state == State::lost) texts.push_back(member.error.message);
    }
    if (!texts.empty()) texts.back() += left();
    evaluation::OpenReport report = kind_;
    if (several()) report.baseline.environment.worker = reference_->name;
    return report;
  }

  /// How one kind of device differs from that of the member; empty: not at all.
  static std::string difference(const DeviceKind& its, const DeviceKind& runs, const Member& of) {
    const auto differs = [&](const char* what, const std::string& here, const std::string& there) {
      return std::string("its ") + what + " \"" + here + "\", and that of " + title(of) + " was \"" + there +
             "\"; one run measures on one kind of device";
    };
    if (its.name != runs.name) return differs("device is", its.name, runs.name);
    if (its.driver != runs.driver) return differs("device and driver are", its.driver, runs.driver);
    if (its.compiler != runs.compiler) return differs("compiler is", its.compiler, runs.compiler);
    return {};
  }

  /// A worker on whose device the run's times would be other ones is lost: at the beginning, or when it comes again, as
  /// a scheduler may have put it elsewhere.
  void refuse_another_kind(Member& member) {
    const evaluation::OpenReport& its = *member.opened;
    DeviceKind kind = kind_of(its);
    if (its.baseline.status != kind_.baseline.status) kind.driver = kind_of(kind_).driver;  // it did not get that far
    std::string why = difference(kind, kind_of(kind_), *reference_);
    if (why.empty() && several() && its.baseline.status != kind_.baseline.status)
      why = "the baseline, which " + std::string(model::to_string(kind_.baseline.status)) + " on " +
            title(*reference_) + ", does not on it: " + its.baseline.reason;
    refuse(member, why);
  }

  /// Under the lock, in which nobody waits for the process to end. `why`: empty: it is not.
  void refuse(Member& member, const std::string& why) {
    if (why.empty()) return;
    lose(member, {ErrorCode::unsupported, title(member) + " is refused: " + why});
    refused_.push_back(member.connection.close());
  }

  static void lose(Member& member, base::Error error) {
    member.state = error.code == ErrorCode::cancelled ? State::stopped : State::lost;
    member.error = std::move(error);
  }

  [[nodiscard]] base::Error nobody_left(const Member& last) const {
    if (!several()) return last.error;
    return base::with_context(last.error, "no worker is left");
  }

  /// Under the lock. Its own thread starts it.
  void start(Member& member) {
    member.state = State::starting;
    if (placement_) placement_->begin_opening(member.place);
    member.starter = std::jthread([this, &member](const std::stop_token& stop) {
      const auto began = std::chrono::steady_clock::now();
      auto opened = opened_in(member, stop);
      if (placement_) tell_other_runs(member, opened);
      Texts texts;
      Processes ended;
      {
        const std::lock_guard lock(mutex_);
        member.built.clear();
        if (opened) {
          opening_time_ = std::chrono::steady_clock::now() - began;
          member.opened = std::move(*opened);
          member.state = State::ready;
          if (reference_ != nullptr) refuse_another_kind(member);
          ended.swap(refused_);
        } else {
          lose(member, opened.error());
        }
        if (reference_ != nullptr && several() && member.state == State::lost)
          texts.push_back(member.error.message + left());
      }
      changed_.notify_all();
      tell(texts);
    });
  }

  void tell_other_runs(const Member& member, const base::Result<evaluation::OpenReport>& opened) {
    if (!opened && opened.error().code != ErrorCode::cancelled) return placement_->fail_opening(member.place);
    const bool tells = opened && opened->baseline.status == model::Status::passed;
    placement_->end_opening(member.place, tasks_, tells ? std::optional(kind_of(*opened)) : std::nullopt);
  }

  base::Result<evaluation::OpenReport> opened_in(Member& member, const std::stop_token& stop) {
    Json request = open_request_;
    if (member.seed) request["settings"]["seed"] = *member.seed;
    auto opened = member.connection.open(request, target_, stop);
    if (opened) {
      TRY_ASSIGN(auto report, evaluation::read_reply(evaluation::Open{}, *opened, "the worker's", protocol_));
      return std::get<evaluation::OpenReport>(std::move(report));
    }
    return tl::make_unexpected(named(member, opened.error()));
  }

  /// Of several workers, the error says which one it is of.
  [[nodiscard]] base::Error named(const Member& member, base::Error error) const {
    const bool enough = !several() || error.message.starts_with("the worker");
    return enough ? std::move(error) : base::with_context(std::move(error), title(member));
  }

  /// The ready worker with the least to do. Those that are down are started, and waited for while none is ready.
  base::Result<Member*> take(const evaluation::Request& request, const std::set<const Member*>& fled,
                             const std::stop_token& stop) {
    Texts texts;
    std::unique_lock lock(mutex_);
    if (reference_ == nullptr) return base::fail(ErrorCode::invalid_argument, "no task is open; call open first");
    for (Member& member : members_) {
      if (member.state == State::stopped) member.state = State::down;
      if (member.state == State::ready && !member.connection.alive())
        note_death(member, Fault::nobodys, member.connection.end(), texts);
    }
    Member* taken = nullptr;
    bool called_off = false;
    while (true) {
      for (Member& member : members_) {
        if (member.state == State::down) start_again(member, texts);
      }
      spread();
      taken = least_busy(request, fled);
      if (taken != nullptr || count(State::starting) == 0) break;
      called_off =
          !changed_.wait(lock, stop, [this] { return count(State::ready) > 0 || count(State::starting) == 0; });
      if (called_off) break;
    }
    if (taken != nullptr) count_request(*taken, request, 1);
    base::Error error = cancelled();
    if (taken == nullptr && !called_off) error = nobody_left(last_lost());
    lock.unlock();
    tell(texts);
    if (taken == nullptr) return tl::make_unexpected(std::move(error));
    return taken;
  }

  /// Under the lock: opens the task on one more worker where that is worth it, or where none is open.
  void spread() {
    if (count(State::spare) == 0) return;
    const bool worth_it = waiting_.waited() >= opening_time_ && count(State::starting) == 0;
    const bool replaced = replacement_ != nullptr && replacement_->state == State::starting;
    const bool needed = count(State::ready) == 0 && !replaced;
    if (!worth_it && !needed) return;
    Member* chosen = nullptr;
    for (Member& member : members_) {
      if (member.state != State::spare) continue;
      if (placement_->is_idle(member.place)) {
        chosen = &member;
        break;
      }
      if (needed && chosen == nullptr) chosen = &member;
    }
    if (chosen == nullptr) return;
    waiting_.forget();
    if (needed) replacement_ = chosen;
    start(*chosen);
  }

  /// Under the lock: it has so many requests more.
  void count_request(Member& member, const evaluation::Request& request, int more) {
    in_flight(member, request) += more;
    if (!placement_) return;
    if (!std::holds_alternative<evaluation::Build>(request)) {
      if (more > 0) placement_->begin_measuring(member.place);
      if (more < 0) placement_->end_measuring(member.place);
    }
    int measuring = 0;
    int idle = 0;
    for (const Member& each : members_) {
      measuring += each.measuring;
      if (each.state == State::spare && placement_->is_idle(each.place)) ++idle;
    }
    waiting_.note(std::chrono::steady_clock::now(), measuring - static_cast<int>(count(State::ready)), idle);
  }

  [[nodiscard]] const Member& last_lost() const {
    const Member* last = &members_.front();
    for (const Member& member : members_) {
      if (member.state == State::stopped) return member;
      if (last->error.message.empty()) last = &member;
    }
    return *last;
  }

  /// Under the lock.
  void start_again(Member& member, Texts& texts) {
    const auto others = static_cast<long>(members_.size()) - count(State::lost) - 1;
    if (member.deaths < kDeathsOfNobody || others == 0) return start(member);
    lose(member, {ErrorCode::unavailable, title(member) + " is given up: it died " + std::to_string(kDeathsOfNobody) +
                                              " times between two answers"});
    texts.push_back(member.error.message + left());
  }

  static int& in_flight(Member& member, const evaluation::Request& request) {
    return std::holds_alternative<evaluation::Build>(request) ? member.building : member.measuring;
  }

  /// Of equals the one that other runs use less, that has built the request's source, then the first. Where the request
  /// was in vain is the last resort. Null: none is ready.
  Member* least_busy(const evaluation::Request& request, const std::set<const Member*>& fled) {
    const std::string source = several() ? built_source(request) : std::string();
    const auto load = [&](Member& member) {
      const int all = placement_ ? placement_->in_flight(member.place) : 0;
      return std::make_tuple(fled.contains(&member), in_flight(member, request), all, !member.built.contains(source));
    };
    Member* best = nullptr;
    for (Member& member : members_) {
      if (member.state == State::ready && (best == nullptr || load(member) < load(*best))) best = &member;
    }
    return best;
  }

  /// Under the lock: its process has ended, and nobody has noticed before.
  void note_death(Member& member, Fault fault, const std::string& how, Texts& texts) {
    member.state = State::down;
    if (fault == Fault::nobodys) ++member.deaths;
    const bool others = count(State::ready) > 0;
    if (several() || member.connection.was_silent())
      texts.push_back(title(member) + " was lost (" + how + "); it is started again" +
                      (others ? ", and the others do its work meanwhile" : ""));
  }

  void give_back(Member& member, const evaluation::Request& request, const Answer& answer, Fault fault) {
    Texts texts;
    {
      const std::lock_guard lock(mutex_);
      count_request(member, request, -1);
      if (answer.end == Answer::End::answered) {
        member.deaths = 0;
        if (several() && std::holds_alternative<evaluation::Build>(request)) member.built.insert(built_source(request));
      }
      const bool first_to_know = member.state == State::ready && !member.connection.alive();
      if (answer.end == Answer::End::died && first_to_know) {
        note_death(member, fault, answer.reason + answer.last_words, texts);
      }
    }
    tell(texts);
  }

  /// It lives and answers, but its machine is of no use. What it was asked beside that is still answered.
  void give_up(Member& member, const base::Error& why) {
    Texts texts;
    {
      const std::lock_guard lock(mutex_);
      if (member.state != State::ready) return;
      // Other runs may fare better with a device that was busy, or with another task.
      const bool is_lasting = why.code != ErrorCode::unavailable && why.code != ErrorCode::internal;
      if (placement_ && is_lasting) placement_->fail(member.place);
      lose(member, {why.code, title(member) + " is given up: " + why.message});
      texts.push_back(member.error.message + left());
    }
    changed_.notify_all();
    tell(texts);
  }

  ConnectionOptions options_;
  const std::shared_ptr<Placement> placement_;  ///< null: this run has its workers to itself
  std::mutex telling_;
  mutable std::mutex mutex_;  ///< guards what follows; a member's connection guards itself
  std::condition_variable_any changed_;
  std::string target_;               ///< of the task; set before the first worker starts
  model::Protocol protocol_{};       ///< likewise
  Json open_request_;                ///< likewise
  std::string tasks_;                ///< likewise: whose kinds of device are comparable
  std::optional<std::size_t> home_;  ///< the member's place, with a placement
  IdleWaiting waiting_;
  Processes refused_;                             ///< to be ended outside of the lock
  const Member* replacement_ = nullptr;           ///< that was opened last because none was ready
  std::chrono::duration<double> opening_time_{};  ///< of the last task that was opened
  const Member* reference_ = nullptr;             ///< whose device is the run's kind; null: no task is open
  evaluation::OpenReport kind_;                   ///< what it said of it at the run's beginning
  std::deque<Member> members_;                    ///< last: their threads use the rest
};

}  // namespace

std::unique_ptr<evaluation::Evaluator> make_worker_pool(PoolOptions options) {
  return std::make_unique<WorkerPool>(std::move(options));
}

}  // namespace accelopt::worker
