// SPDX-License-Identifier: Apache-2.0
#include "recipes/recipes_agents.hpp"

#include <algorithm>
#include <mutex>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "model/tuning.hpp"
#include "recipes/route.hpp"

namespace accelopt::recipes {
namespace {

using agents::Answer;
using agents::Context;
using agents::ExecuteQuestion;
using agents::Executor;
using agents::Fixer;
using agents::FixQuestion;
using agents::Lesson;
using agents::Planner;
using agents::PlanQuestion;
using agents::SummarizeQuestion;
using agents::Summarizer;
using agents::TriedPlan;
using base::Result;

constexpr const char* kAuthor = "recipes";

KernelSource source_of(const Context& context, const model::Solution& kernel) {
  KernelSource result;
  // Recipes read C and C++, where a tuned value is a macro.
  result.source = model::main_text(model::standing_alone(kernel));
  result.task_header = context.task_header;
  result.language = kernel.language;
  result.threads = context.task == nullptr ? 1 : context.task->cpu.threads;
  return result;
}

template <class T>
Answer<T> lost(std::string reason) {
  Answer<T> answer;
  answer.lost = std::move(reason);
  answer.author = kAuthor;
  return answer;
}

template <class T>
Answer<T> given(T value, std::string raw) {
  Answer<T> answer;
  answer.value = std::move(value);
  answer.raw = std::move(raw);
  answer.author = kAuthor;
  return answer;
}

/// The last few values by key. Any thread.
template <class T>
class Recent {
 public:
  std::optional<T> find(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [known, value] : values_) {
      if (known == key) return value;
    }
    return std::nullopt;
  }

  void keep(const std::string& key, const T& value) {
    constexpr std::size_t kRemembered = 256;
    const std::scoped_lock lock(mutex_);
    if (values_.size() >= kRemembered) values_.erase(values_.begin());
    values_.emplace_back(key, value);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, T>> values_;
};

std::string key_of(const KernelSource& kernel) {
  return base::sha256_hex(kernel.source + '\0' + kernel.task_header + '\0' + std::to_string(kernel.threads) +
                          std::string(model::to_string(kernel.language)));
}

/// All that the routes of a kernel depend on beside it.
std::string key_of(const PlanQuestion& question) {
  std::string text;
  for (const model::Experience& it : question.memory) {
    text +=
        it.strategy + '\0' + base::canonical({it.id, it.polarity, it.agreeing, it.credit.confirmed, it.credit.refuted});
    if (it.effect) text += base::canonical({it.effect->estimate, it.effect->low, it.effect->high});
  }
  for (const TriedPlan& plan : question.tried) text += '\0' + plan.title;
  return base::sha256_hex(text);
}

class RecipesPlanner final : public Planner {
 public:
  explicit RecipesPlanner(syntax::Clang clang) : clang_(std::move(clang)) {}

  base::Outcome<Answer<model::Plan>> plan(const PlanQuestion& question, std::stop_token) override {
    const auto routes = routes_of(question);
    if (!routes) {
      if (routes.error().code == base::ErrorCode::unsupported) return tl::make_unexpected(routes.error());
      return lost<model::Plan>(routes.error().message);
    }
    const auto place = static_cast<std::size_t>(std::max(0, question.context.identity.plan));
    if (place >= routes->size()) return lost<model::Plan>("no recipe that was not tried applies to this kernel");
    const Route& chosen = (*routes)[place];
    model::Plan plan;
    plan.title = chosen.title();
    plan.rests_on = chosen.rests_on;
    for (const Application& step : chosen.steps) plan.text += step.text + "\n\n";
    for (const Application& step : chosen.steps) plan.text += to_line(step) + "\n";
    std::string raw = "Title: " + plan.title + "\n\n" + plan.text;
    return given(std::move(plan), std::move(raw));
  }

 private:
  /// All plans of one kernel ask for the same list.
  Result<std::vector<Route>> routes_of(const PlanQuestion& question) {
    const KernelSource kernel = source_of(question.context, question.kernel.solution());
    const std::string kernel_key = key_of(kernel);
    const std::string key = kernel_key + key_of(question);
    if (auto known = routes_.find(key)) return std::move(*known);
    auto applications = applications_.find(kernel_key);
    if (!applications) {
      TRY_ASSIGN(applications, enumerate(clang_, kernel));
      applications_.keep(kernel_key, *applications);
    }
    const Evidence evidence(question.memory);
    auto routes = extended(clang_, kernel, ranked(*applications, evidence, question.tried.plans()), evidence,
                           question.tried.plans());
    routes_.keep(key, routes);
    return routes;
  }

  syntax::Clang clang_;
  Recent<std::vector<Application>> applications_;  ///< by kernel
  Recent<std::vector<Route>> routes_;              ///< by kernel and question
};

class RecipesExecutor final : public Executor {
 public:
  explicit RecipesExecutor(syntax::Clang clang) : clang_(std::move(clang)) {}

  base::Outcome<Answer<model::Kernel>> execute(const ExecuteQuestion& question, std::stop_token) override {
    const std::vector<Application> steps = route_from_text(question.plan.text);
    if (steps.empty()) return lost<model::Kernel>("the plan names no recipe");
    auto text = apply_all(clang_, source_of(question.context, question.kernel.solution()), steps);
    if (!text) return lost<model::Kernel>(text.error().message);
    const std::string raw = *text;
    return given(model::Kernel(model::with_main_text(question.kernel.solution(), std::move(*text))), raw);
  }

 private:
  syntax::Clang clang_;
};

class RecipesFixer final : public Fixer {
 public:
  explicit RecipesFixer(syntax::Clang clang) : clang_(std::move(clang)) {}

  base::Outcome<Answer<model::Kernel>> fix(const FixQuestion& question, std::stop_token) override {
    const std::vector<Application> steps = route_from_text(question.plan.text);
    if (steps.empty()) return lost<model::Kernel>("the plan names no recipe");
    const std::vector<std::vector<Application>> forms = safer_routes(steps);
    const KernelSource kernel = source_of(question.context, question.parent.solution());
    for (auto place = static_cast<std::size_t>(std::max(1, question.context.identity.fix) - 1); place < forms.size();
         ++place) {
      auto text = apply_all(clang_, kernel, forms[place]);
      if (!text || *text == model::main_text(question.broken.solution())) continue;
      const std::string raw = *text;
      return given(model::Kernel(model::with_main_text(question.parent.solution(), std::move(*text))), raw);
    }
    return lost<model::Kernel>("the recipe " + steps.front().recipe + " has no safer form");
  }

 private:
  syntax::Clang clang_;
};

/// A recipe in pseudo-code.
struct Sketch {
  const char* recipe;
  const char* title;
  const char* before;
  const char* after;
};

constexpr Sketch kSketches[] = {
    {"register tile", "Hold a block of rows by a block of columns in registers",
     "for i: for j: acc = 0; for k: acc += a[i,k] * b[k,j]; c[i,j] = acc",
     "for j by W: pack b[:, j..j+W]; for i by R: acc[R][W] = 0 (in vector registers); for k: acc += a[i..i+R, k] x "
     "pack[k]; store acc"},
    {"vectorize", "Write innermost loops for vectors", "for j: s += f(x[j])",
     "for j by lanes: v += f(x[j..]); s = sum of v; rest as before"},
    {"tile size", "Another number of rows for a register tile", "acc[R][W]", "acc[R + d][W]"},
    {"interchange", "Interchange two loops", "for j: for k: c[j] += a[k] * b[k,j]",
     "for k: for j: c[j] += a[k] * b[k,j]"},
    {"tile", "Tile a loop", "for i: for j: body", "for jj by T: for i: for j in jj..jj+T: body"},
    {"unroll-and-jam", "Jam iterations of an outer loop", "for i: for j: body(i)",
     "for i by U: for j: body(i); body(i+1); ..."},
    {"unroll", "Unroll an innermost loop", "for j: body", "for j by U: body; body; ..."},
    {"scalar replacement", "Keep an accumulated element in a variable", "for k: c[i] += x[k]",
     "t = c[i]; for k: t += x[k]; c[i] = t"},
    {"hoisting", "Compute what does not change before the loop", "for j: y[j] = x[j] / d",
     "r = 1 / d; for j: y[j] = x[j] * r"},
    {"packing", "Copy a strided operand, transposed, before the nest", "for t: for s: use b[s * M + t]",
     "p[t * S + s] = b[s * M + t]; for t: for s: use p[t * S + s]"},
    {"fusion", "Fuse neighbouring loops", "for j: a; for j: b", "for j: a; b"},
    {"fission", "Split a loop", "for i: a; b", "for blocks of i: for i: a; for i: b"},
    {"restrict", "Declare that arrays do not overlap", "f(const T* x, T* y)", "f(const T* restrict x, T* restrict y)"},
    {"parallelize", "Share a loop among threads", "for i: body", "parallel for i: body"},
    {"wider tiles", "Widen the free axis of tiles", "for j: load, compute, store [128, F]",
     "for j: load, compute, store [128, 4 F]"},
    {"hoisting of tiles", "Make tiles before a loop that they do not depend on",
     "for j: for k: t = transpose(load a[k])", "for k: kept[k] = transpose(load a[k]); for j: for k: use kept[k]"},
    {"all at once", "Save instructions, loads, transposes and waiting at once",
     "for j in sequential_range: t = copy(psum); y += f(t); x = transpose(load a[k])",
     "x kept; for j in affine_range: y += f(psum), operands in PSUM"},
    {"reuse on chip", "Load rows whole and make repeated tiles once", "for j: for k: t = transpose(load a[i, k])",
     "r = load a[i, :]; for k: kept[k] = transpose(r[:, k]); for j: for k: use kept[k]"},
    {"operands in PSUM", "Give VectorE one operand in PSUM", "t = a * b; y = t + c, all in SBUF",
     "t in PSUM = a * b; y = t + c"},
    {"affine loop", "Let iterations overlap", "for i in sequential_range", "for i in affine_range"},
    {"choice of engine", "Compute a function by one activation", "1 / (1 + exp(-x)) by three instructions",
     "sigmoid(x) on ScalarE"},
    {"scalar fusion", "Apply two scalars in one instruction", "t = x * a; y = t + b",
     "y = tensor_scalar(x, *, a, +, b)"},
    {"eviction fusion", "Read PSUM without a copy", "t = copy(psum); y = f(t)", "y = f(psum)"},
    {"open warps and stages", "Let the tuner choose warps and stages", "kernel[grid](..., num_warps=4)",
     "@triton.autotune over num_warps and num_stages"},
    {"open tile sizes", "Let the tuner choose tile sizes", "kernel[(cdiv(n, 128),)](..., BLOCK=128)",
     "@triton.autotune over BLOCK; grid = lambda META: (cdiv(n, META[BLOCK]),)"},
    {"cache hint", "Tell the cache what to keep", "x = tl.load(p)", "x = tl.load(p, eviction_policy=...)"},
    {"split loop", "Share a long loop among programs", "for k in range(0, K): acc += f(k); store g(acc)",
     "part[s] = sum of f(k) over a part; then another kernel: store g(sum of part[s])"},
    {"flags", "Compile with other floating-point rules", "default flags", "the flags named"}};

const Sketch* sketch_of(const std::string& recipe) {
  const auto* const found = std::find_if(std::begin(kSketches), std::end(kSketches),
                                         [&](const Sketch& known) { return recipe == known.recipe; });
  return found == std::end(kSketches) ? nullptr : found;
}

/// What is said of a failure, in a lesson, bytes.
constexpr std::size_t kMostReason = 160;

/// The parameters, on one line.
std::string parameters_of(const std::vector<Application>& steps) {
  std::string out;
  for (const Application& step : steps) {
    out += (out.empty() ? "" : "; then ") + step.recipe;
    for (const auto& [name, value] : step.parameters) out += " " + name + "=" + value;
  }
  return out;
}

class RecipesSummarizer final : public Summarizer {
 public:
  explicit RecipesSummarizer(syntax::Clang clang) : clang_(std::move(clang)) {}

  base::Outcome<Answer<std::optional<Lesson>>> summarize(const SummarizeQuestion& question, std::stop_token) override {
    const std::vector<Application> planned = route_from_text(question.plan.text);
    const auto lesson =
        question.polarity == model::Polarity::mends ? of_mend(question, planned) : of_effect(question, planned);
    if (!lesson) return given(std::optional<Lesson>(), "no optimization");
    return given(lesson, lesson->title + "\n\n" + lesson->strategy);
  }

  [[nodiscard]] bool reads_profiles() const override { return false; }

 private:
  /// A lesson that names the steps; its strategy is their lines alone. Nothing where one of them is unknown.
  static std::optional<Lesson> of_steps(const std::vector<Application>& steps) {
    if (steps.empty()) return std::nullopt;
    Lesson lesson;
    for (const Application& step : steps) {
      const Sketch* sketch = sketch_of(step.recipe);
      if (sketch == nullptr) return std::nullopt;
      const bool first = lesson.title.empty();
      lesson.title += (first ? "" : ", then ") + std::string(sketch->title) + " (" + step.shape + ")";
      if (first) lesson.before = sketch->before;
      lesson.after += (first ? "" : "\n") + std::string(sketch->after);
      lesson.strategy += (first ? "" : "\n") + to_line(step);
    }
    return lesson;
  }

  /// What was measured is put down to the steps that were made, which are not the plan's where the fixer mended it.
  [[nodiscard]] std::optional<Lesson> of_effect(const SummarizeQuestion& question,
                                                const std::vector<Application>& planned) const {
    const bool improves = question.polarity == model::Polarity::improves;
    const bool mended = question.context.identity.fix > 0;
    auto lesson = of_steps(
        mended ? made_by(question, improves ? question.fast.solution() : question.slow.solution(), planned) : planned);
    if (!lesson) return std::nullopt;
    const std::string what = mended ? lesson->title : question.plan.title;
    if (!improves) lesson->title.insert(0, question.effect.high < 1 ? "Avoid: " : "No gain: ");
    lesson->strategy.insert(
        0, std::string("On loops of this shape it ") + (improves ? "helps" : "does not help") + " to: " + what + ".\n");
    return lesson;
  }

  [[nodiscard]] std::optional<Lesson> of_mend(const SummarizeQuestion& question,
                                              const std::vector<Application>& planned) const {
    const std::vector<Application> failed = made_by(question, question.slow.solution(), planned);
    const std::vector<Application> works = made_by(question, question.fast.solution(), planned);
    auto lesson = of_steps(failed);
    if (!lesson || works.empty()) return std::nullopt;
    const model::Evaluation& judged = question.slow_evaluation;
    lesson->strategy.insert(0, "On a loop of this shape it failed (" + std::string(model::to_string(judged.status)) +
                                   ": " + std::string(base::first_line(judged.reason, kMostReason)) +
                                   ") to: " + lesson->title + ".\nThis worked: " + parameters_of(works) + ".\n");
    lesson->title.insert(0, "Failed: ");
    return lesson;
  }

  /// The steps whose application to the parent gives the solution: the plan's, or of one of its safer forms; empty:
  /// none.
  [[nodiscard]] std::vector<Application> made_by(const SummarizeQuestion& question, const model::Solution& solution,
                                                 const std::vector<Application>& planned) const {
    std::vector<std::vector<Application>> forms = safer_routes(planned);
    forms.insert(forms.begin(), planned);
    const KernelSource kernel = source_of(question.context, question.parent.solution());
    for (std::vector<Application>& form : forms) {
      const auto text = apply_all(clang_, kernel, form);
      if (text && *text == model::main_text(solution)) return std::move(form);
    }
    return {};
  }

  syntax::Clang clang_;
};

}  // namespace

std::vector<Application> safer_forms(const Application& application) {
  std::vector<Application> result;
  const auto with = [&](std::initializer_list<std::pair<const char*, const char*>> changes) {
    Application form = application;
    for (const auto& [name, value] : changes) form.parameters[name] = value;
    if (form.parameters != application.parameters) result.push_back(std::move(form));
  };
  if (application.recipe == "flags") {
    const auto flags = application.parameters.find("flags");
    if (flags != application.parameters.end() && flags->second.starts_with("-ffast-math")) {
      with({{"flags", "-fno-math-errno -fno-trapping-math -fno-signed-zeros -fassociative-math"}});
    }
    with({{"flags", "-fno-math-errno -fno-trapping-math"}});
  } else if (application.recipe == "register tile") {
    with({{"pack", "1"}});
    with({{"pack", "1"}, {"rows", "4"}, {"vectors", "2"}});
    with({{"pack", "1"}, {"rows", "2"}, {"vectors", "1"}});
  } else if (application.recipe == "vectorize") {
    with({{"stream", "0"}, {"pack", "0"}});
    with({{"stream", "0"}, {"pack", "0"}, {"vectors", "1"}});
  } else if (application.recipe == "unroll-and-jam" || application.recipe == "unroll") {
    with({{"factor", "2"}});
  } else if (application.recipe == "fission") {
    with({{"block", "8"}});
  }
  return result;
}

std::vector<std::vector<Application>> safer_routes(const std::vector<Application>& steps) {
  std::vector<std::vector<Application>> result;
  for (std::size_t count = steps.size(); count > 1; --count)
    result.emplace_back(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count) - 1);
  if (steps.empty()) return result;
  for (Application& form : safer_forms(steps.front())) result.push_back({std::move(form)});
  return result;
}

std::unique_ptr<Planner> make_recipes_planner(syntax::Clang clang) {
  return std::make_unique<RecipesPlanner>(std::move(clang));
}
std::unique_ptr<Executor> make_recipes_executor(syntax::Clang clang) {
  return std::make_unique<RecipesExecutor>(std::move(clang));
}
std::unique_ptr<Fixer> make_recipes_fixer(syntax::Clang clang) {
  return std::make_unique<RecipesFixer>(std::move(clang));
}
std::unique_ptr<Summarizer> make_recipes_summarizer(syntax::Clang clang) {
  return std::make_unique<RecipesSummarizer>(std::move(clang));
}

}  // namespace accelopt::recipes
