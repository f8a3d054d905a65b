// SPDX-License-Identifier: Apache-2.0
#include "agents/recipes/recipes_agents.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/hash.hpp"
#include "model/tuning.hpp"

namespace accelopt::agents::recipes {
namespace {

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

/// How much one experience raises or lowers a prior: gains count by their fourth root, losses by their square root, so
/// that no single measurement decides; other parameters of the same recipe count half as much.
double weight_of(const model::Experience& experience, const Application& known, const Application& application) {
  if (!experience.effect) return 1;
  const double effect = std::clamp(experience.effect->estimate, 0.1, 16.0);
  const double exponent = (effect >= 1 ? 0.25 : 0.5) * (known.parameters == application.parameters ? 1.0 : 0.5);
  return std::pow(effect, exponent);
}

class RecipesPlanner final : public Planner {
 public:
  explicit RecipesPlanner(syntax::Clang clang) : clang_(std::move(clang)) {}

  Result<Answer<model::Plan>> plan(const PlanQuestion& question, std::stop_token) override {
    auto applications = enumerated(source_of(question.context, question.kernel));
    if (!applications) {
      if (applications.error().code == base::ErrorCode::unsupported) return tl::make_unexpected(applications.error());
      return lost<model::Plan>(applications.error().message);
    }
    const std::vector<Ranked> order = ranked(*applications, question.memory, question.tried);
    const auto place = static_cast<std::size_t>(std::max(0, question.context.identity.plan));
    if (place >= order.size()) return lost<model::Plan>("no recipe that was not tried applies to this kernel");
    const Ranked& chosen = order[place];
    model::Plan plan;
    plan.title = chosen.application.title;
    plan.rests_on = chosen.rests_on;
    plan.text = chosen.application.text + "\n\n" + to_line(chosen.application) + "\n";
    std::string raw = "Title: " + plan.title + "\n\n" + plan.text;
    return given(std::move(plan), std::move(raw));
  }

 private:
  /// All plans of one kernel ask for the same list; the last few are remembered.
  Result<std::vector<Application>> enumerated(const KernelSource& kernel) {
    const std::string key =
        base::sha256_hex(kernel.source + '\0' + kernel.task_header + '\0' + std::to_string(kernel.threads) +
                         std::string(model::to_string(kernel.language)));
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [known, applications] : recent_) {
        if (known == key) return applications;
      }
    }
    TRY_ASSIGN(std::vector<Application> applications, enumerate(clang_, kernel));
    const std::scoped_lock lock(mutex_);
    if (recent_.size() >= kRemembered) recent_.erase(recent_.begin());
    recent_.emplace_back(key, applications);
    return applications;
  }

  static constexpr std::size_t kRemembered = 32;
  syntax::Clang clang_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::vector<Application>>> recent_;
};

class RecipesExecutor final : public Executor {
 public:
  explicit RecipesExecutor(syntax::Clang clang) : clang_(std::move(clang)) {}

  Result<Answer<model::Solution>> execute(const ExecuteQuestion& question, std::stop_token) override {
    const auto application = from_text(question.plan.text);
    if (!application) return lost<model::Solution>("the plan names no recipe");
    auto text = apply(clang_, source_of(question.context, question.kernel), *application);
    if (!text) return lost<model::Solution>(text.error().message);
    const std::string raw = *text;
    return given(model::with_main_text(question.kernel, std::move(*text)), raw);
  }

 private:
  syntax::Clang clang_;
};

class RecipesFixer final : public Fixer {
 public:
  explicit RecipesFixer(syntax::Clang clang) : clang_(std::move(clang)) {}

  Result<Answer<model::Solution>> fix(const FixQuestion& question, std::stop_token) override {
    const auto application = from_text(question.plan.text);
    if (!application) return lost<model::Solution>("the plan names no recipe");
    const std::vector<Application> forms = safer_forms(*application);
    const KernelSource kernel = source_of(question.context, question.parent);
    for (auto place = static_cast<std::size_t>(std::max(1, question.context.identity.fix) - 1); place < forms.size();
         ++place) {
      auto text = apply(clang_, kernel, forms[place]);
      if (!text || *text == model::main_text(question.broken)) continue;
      const std::string raw = *text;
      return given(model::with_main_text(question.parent, std::move(*text)), raw);
    }
    return lost<model::Solution>("the recipe " + application->recipe + " has no safer form");
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
    {"flags", "Compile with other floating-point rules", "default flags", "the flags named"}};

class RecipesSummarizer final : public Summarizer {
 public:
  Result<Answer<std::optional<Lesson>>> summarize(const SummarizeQuestion& question, std::stop_token) override {
    const auto application = from_text(question.plan.text);
    const auto sketch = std::find_if(std::begin(kSketches), std::end(kSketches), [&](const Sketch& known) {
      return application && application->recipe == known.recipe;
    });
    if (sketch == std::end(kSketches) || question.polarity == model::Polarity::mends)
      return given(std::optional<Lesson>(), "no optimization");
    Lesson lesson;
    const bool improves = question.polarity == model::Polarity::improves;
    lesson.title = std::string(improves ? "" : "Avoid: ") + sketch->title + " (" + application->shape + ")";
    lesson.strategy =
        std::string(improves ? "On loops of this shape it helps" : "On loops of this shape it does not help") +
        " to: " + question.plan.title + ".\n" + to_line(*application);
    lesson.before = sketch->before;
    lesson.after = sketch->after;
    return given(std::optional<Lesson>(lesson), lesson.title + "\n\n" + lesson.strategy);
  }
};

}  // namespace

std::vector<Ranked> ranked(const std::vector<Application>& applications, const std::vector<model::Experience>& memory,
                           const std::vector<TriedPlan>& tried) {
  std::vector<Ranked> result;
  for (const Application& application : applications) {
    const bool known =
        std::any_of(tried.begin(), tried.end(), [&](const TriedPlan& plan) { return plan.title == application.title; });
    if (known) continue;
    Ranked entry{application, application.prior, {}};
    for (const model::Experience& experience : memory) {
      const auto lesson = from_text(experience.strategy);
      if (!lesson || lesson->recipe != application.recipe || lesson->shape != application.shape) continue;
      entry.weight *= weight_of(experience, *lesson, application);
      entry.rests_on.push_back(experience.id);
    }
    result.push_back(std::move(entry));
  }
  std::stable_sort(result.begin(), result.end(), [](const Ranked& a, const Ranked& b) { return a.weight > b.weight; });
  return result;
}

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

std::unique_ptr<Planner> make_recipes_planner(syntax::Clang clang) {
  return std::make_unique<RecipesPlanner>(std::move(clang));
}
std::unique_ptr<Executor> make_recipes_executor(syntax::Clang clang) {
  return std::make_unique<RecipesExecutor>(std::move(clang));
}
std::unique_ptr<Fixer> make_recipes_fixer(syntax::Clang clang) {
  return std::make_unique<RecipesFixer>(std::move(clang));
}
std::unique_ptr<Summarizer> make_recipes_summarizer() {
  return std::make_unique<RecipesSummarizer>();
}

}  // namespace accelopt::agents::recipes
