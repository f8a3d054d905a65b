// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/build.hpp"

#include <algorithm>
#include <cctype>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/directives.hpp"
#include "model/special_values.hpp"
#include "model/tuning.hpp"
#include "model/user_flags.hpp"
#include "sandbox/probe.hpp"
#include "syntax/machine_failure.hpp"
#include "syntax/source_check.hpp"
#include "targets/cpu/arena/protocol.hpp"
#include "targets/cpu/diagnostics.hpp"
#include "targets/cpu/elf_object.hpp"
#include "targets/cpu/linked_object.hpp"
#include "targets/cpu/task_header.hpp"

namespace accelopt::targets::cpu {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;

constexpr std::size_t kMostRemarks = 40;

/// Only the glue's function is visible, so that no name of a candidate's reaches the file.
/// Leaves the caches as a kernel does, for the next call to wake up in.
constexpr const char* kIdleGlue = R"(static unsigned char swept[2 << 20];
extern "C" __attribute__((visibility("default"))) void accelopt_call(void**) {
  for (unsigned long i = 0; i < sizeof swept; i += 64) ++const_cast<volatile unsigned char&>(swept[i]);
}
)";
constexpr const char* kVersionScript = "{ global: accelopt_call; local: *; };\n";

bool plain_name(const std::string& name) {
  return !name.empty() && name.front() != '-' && name.front() != '.' && name != "task.h" &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; });
}

bool is_translation_unit(const std::string& name) {
  const std::string extension = fs::path(name).extension().string();
  return extension == ".cpp" || extension == ".c" || extension == ".cc" || extension == ".cxx";
}

/// The main file has one name for all candidates: names must not reach the machine code.
std::string main_name(model::Language language) {
  return language == model::Language::c ? "kernel.c" : "kernel.cpp";
}

std::shared_ptr<BuiltKernel> refused(std::string diagnostics) {
  auto out = std::make_shared<BuiltKernel>();
  out->report.diagnostics = std::move(diagnostics);
  return out;
}

/// What is linked so is judged afterwards: these make it pass, the judgement (read_linked) keeps what does not out.
std::vector<std::string> link_arguments(const Compiler& compiler, int threads) {
  std::vector<std::string> out{"-shared",
                               "-s",
                               "-nostartfiles",
                               "-Wl,--build-id=none",
                               "-Wl,-soname,kernel.so",
                               "-Wl,-z,defs",
                               "-Wl,-z,now",
                               "-Wl,-z,relro",
                               "-Wl,-z,text",
                               "-Wl,-z,noexecstack",
                               "-Wl,-z,separate-code",
                               "-Wl,--hash-style=gnu",
                               "-Wl,--version-script=exports.map",
                               "-Wl,--as-needed"};
  if (!compiler.clang) out.emplace_back("-Wl,--exclude-libs,ALL");
  if (threads > 1) out.emplace_back("-fopenmp");
  return out;
}

/// An object that comes before the kernel's: 19 cache lines, so that code keeps its alignment and lies in other sets of
/// the caches of instructions and of branches.
constexpr const char* kShift = "  .text\n  .p2align 6\n  .skip 1216, 0x90\n  .section .note.GNU-stack,\"\",@progbits\n";

bool has_failed(const sandbox::RunResult& ran) {
  return !ran.state.exited || ran.state.code != 0;
}

/// The state of one build: a folder of its own with the sources in it.
struct Workshop {
  const Compiler& compiler;
  sandbox::PauseGate* gate;
  std::vector<int> cores;
  fs::path folder;
  std::stop_token stop;

  [[nodiscard]] base::Result<sandbox::RunResult> run(std::vector<std::string> arguments, bool cpp) const {
    return compile(compiler, {folder, std::move(arguments), cpp, cores}, gate, stop);
  }

  /// Whether a failed run tells of its source. @error exhausted, unavailable, io: it failed because of this machine.
  [[nodiscard]] base::Result<void> check_machine(const sandbox::RunResult& ran) const {
    if (ran.timed_out) return {};
    auto failure = syntax::machine_failure(ran.output);
    if (!failure && !ran.state.exited) failure = syntax::MachineFailure::of_memory();
    if (!failure) return {};
    // A source may want more memory than there is; then one that wants next to none compiles.
    if (failure->certainty == syntax::MachineFailure::Certainty::possible) {
      TRY(base::write_file(folder / "accelopt-idle.cpp", kIdleGlue));
      TRY_ASSIGN(const auto idle, run({"-c", "accelopt-idle.cpp", "-o", "accelopt-idle.o"}, true));
      if (!has_failed(idle)) return {};
    }
    return tl::make_unexpected(failure->error());
  }

  /// What a failed run of the compiler tells the source's author. @error as check_machine.
  [[nodiscard]] base::Result<std::string> failure_text(const sandbox::RunResult& ran,
                                                       const std::vector<std::string>& own) const;
};

base::Result<std::string> Workshop::failure_text(const sandbox::RunResult& ran,
                                                 const std::vector<std::string>& own) const {
  TRY(check_machine(ran));
  if (ran.timed_out) return "error: the compiler did not finish within its time limit; make the code smaller";
  std::string text = own_diagnostics(ran.output, own);
  if (!text.empty()) return text;
  if (!ran.state.exited) return "error: the compiler was killed by a limit on time or memory; make the code smaller";
  if (ran.output.find("memory") != std::string::npos)
    return "error: the compiler ran out of memory; make the code smaller";
  return "error: the compiler failed without a word about the kernel's own lines";
}

}  // namespace

KernelBuilder::KernelBuilder(const model::Task& task, Options options)
    : task_(task), options_(std::move(options)), header_(kernel_header(task.definition)) {}

base::Result<std::unique_ptr<KernelBuilder>> KernelBuilder::create(const model::Task& task, Options options,
                                                                   const std::stop_token& stop) {
  std::unique_ptr<KernelBuilder> out(new KernelBuilder(task, std::move(options)));
  TRY_ASSIGN(out->glue_object_, out->compile_glue(out->header_, kernel_glue(task.definition), "", stop));
  return out;
}

base::Result<std::string> KernelBuilder::compile_glue(const std::string& header, const std::string& text,
                                                      const std::string& definitions, const std::stop_token& stop) {
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-glue"));
  TRY(base::write_file(folder.path() / "task.h", header));
  TRY(base::write_file(folder.path() / "glue.cpp", text));
  std::vector<std::string> arguments = compile_flags(options_.compiler, model::Language::cpp, 1);
  if (!definitions.empty()) arguments.push_back(definitions);
  arguments.insert(arguments.end(), {"-c", "glue.cpp", "-o", "glue.o"});
  const Workshop shop{options_.compiler, options_.gate, options_.cores, folder.path(), stop};
  TRY_ASSIGN(const auto ran, shop.run(arguments, true));
  if (has_failed(ran)) {
    TRY(shop.check_machine(ran));
    // What the header itself says of this compiler.
    constexpr std::string_view kSaid = "#error \"";
    const std::size_t said = ran.output.find(kSaid);
    if (said != std::string::npos) {
      const std::string rest = ran.output.substr(said + kSaid.size());
      return base::fail(ErrorCode::unsupported, rest.substr(0, rest.find('"')));
    }
    return base::fail(ErrorCode::invalid_argument,
                      "the task's generated header does not compile; check the names of its "
                      "axes, inputs and outputs:\n" +
                          ran.output);
  }
  return base::read_file(folder.path() / "glue.o");
}

std::string KernelBuilder::flags_text() const {
  return base::joined(compile_flags(options_.compiler, task_.baseline.language, task_.cpu.threads), " ");
}

std::string KernelBuilder::build_id(const model::Kernel& kernel) const {
  std::string key = kernel.id() + '\n' + options_.compiler.name + '\n' + header_ + '\n';
  for (const std::string& flag : compile_flags(options_.compiler, kernel.solution().language, task_.cpu.threads))
    key += flag + '\n';
  // The values of a tuned kernel stand in its source, and so in the source id.
  return base::sha256_hex(key);
}

base::Result<BuiltKernelPtr> KernelBuilder::build(const model::Kernel& kernel, std::stop_token stop,
                                                  evaluation::Placement placement) {
  if (kernel.solution().sources.empty())
    return base::fail(ErrorCode::invalid_argument, "a kernel without a source file");
  // Diagnostics name lines, which the source id does not see: the text itself is part of the key.
  std::string key = build_id(kernel);
  for (const model::SourceFile& file : kernel.solution().sources) {
    key += base::sha256_hex(file.name);
    key += base::sha256_hex(file.text);
  }
  if (placement == evaluation::Placement::shifted) key += " shifted";
  return built_.get(key, [&] { return build_now(kernel, std::move(stop), placement); });
}

namespace {

/// Writes the sources; the names of the translation units, the main one first. A refusal, when the text may not be
/// compiled.
base::Result<std::shared_ptr<BuiltKernel>> lay_out(const model::Kernel& kernel, const std::string& header,
                                                   const Workshop& shop, std::vector<std::string>& names) {
  TRY(base::write_file(shop.folder / "task.h", header));
  TRY(base::write_file(shop.folder / "exports.map", kVersionScript));
  for (std::size_t i = 0; i < kernel.solution().sources.size(); ++i) {
    const model::SourceFile& file = kernel.solution().sources[i];
    const std::string name = i == 0 ? main_name(kernel.solution().language) : file.name;
    if (!plain_name(name)) {
      return base::fail(ErrorCode::invalid_argument, "not a plain source file name: " + file.name);
    }
    if (const std::string reason = syntax::refused_text(file.text); !reason.empty()) {
      std::string text = name;
      text.append(":").append(reason);
      return refused(std::move(text));
    }
    TRY(base::write_file(shop.folder / name, file.text));
    names.push_back(name);
  }
  return std::shared_ptr<BuiltKernel>();
}

/// What compiling the translation units gave.
struct Compiled {
  ObjectFacts facts;  ///< of all objects together
  std::string remarks;
  std::vector<std::string> objects;
  double seconds = 0;
};

void merge(ObjectFacts& all, const ObjectFacts& more) {
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(all.writable, more.writable);
  append(all.thread_local_variables, more.thread_local_variables);
  append(all.sections, more.sections);
  append(all.defined, more.defined);
  all.runs_at_load = all.runs_at_load || more.runs_at_load;
  all.indirect_functions = all.indirect_functions || more.indirect_functions;
  all.code_bytes += more.code_bytes;
}

/// Where nothing keeps the assembler from the user's files, its input is looked at first. What is wrong, else "".
base::Result<std::string> assemble(const Workshop& shop, const std::string& assembly, const std::string& object,
                                   const std::vector<std::string>& own, Compiled& compiled) {
  TRY_ASSIGN(const std::string text, base::read_file(shop.folder / assembly));
  if (std::string reason = syntax::refused_assembly(text); !reason.empty()) return reason;
  std::vector<std::string> arguments{"-c", assembly, "-o", object};
  if (shop.compiler.clang) {
    arguments.emplace_back("-mbranches-within-32B-boundaries");
  } else if (shop.compiler.keeps_branches) {
    arguments.emplace_back("-Wa,-mbranches-within-32B-boundaries");
  }
  TRY_ASSIGN(const auto ran, shop.run(arguments, true));
  compiled.seconds += ran.seconds;
  return has_failed(ran) ? shop.failure_text(ran, own) : std::string();
}

/// Compiles one file of the candidate. Its diagnostics when it does not compile, else "".
base::Result<std::string> compile_unit(const Workshop& shop, int threads, const std::vector<std::string>& flags,
                                       const std::string& name, const std::vector<std::string>& own,
                                       Compiled& compiled) {
  const bool cpp = fs::path(name).extension() != ".c";
  std::vector<std::string> arguments =
      compile_flags(shop.compiler, cpp ? model::Language::cpp : model::Language::c, threads);
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  if (shop.compiler.clang) {
    arguments.insert(arguments.end(), {"-Rpass=loop-vectorize|slp-vectorizer", "-Rpass-missed=loop-vectorize"});
  } else {
    arguments.push_back("-fopt-info-vec-optimized-missed=" + name + ".remarks");
  }
  const std::string object = name + ".o";
  const bool in_two_steps = sandbox::capabilities().landlock == 0;
  const std::string made = in_two_steps ? name + ".s" : object;
  arguments.insert(arguments.end(), {"-include", "task.h", in_two_steps ? "-S" : "-c", name, "-o", made});
  TRY_ASSIGN(const auto ran, shop.run(arguments, cpp));
  compiled.seconds += ran.seconds;
  if (has_failed(ran)) return shop.failure_text(ran, own);
  if (in_two_steps) {
    TRY_ASSIGN(std::string problem, assemble(shop, made, object, own, compiled));
    if (!problem.empty()) return problem;
  }
  compiled.remarks +=
      shop.compiler.clang ? ran.output : base::read_file(shop.folder / (name + ".remarks")).value_or("");
  TRY_ASSIGN(const std::string bytes, base::read_file(shop.folder / object));
  TRY_ASSIGN(const ObjectFacts facts, read_object(bytes));
  merge(compiled.facts, facts);
  compiled.objects.push_back(object);
  return std::string();
}

/// Links the objects with the glue into `out`; what went wrong is left in its diagnostics.
base::Result<void> link_kernel(const Workshop& shop, int threads, const std::vector<std::string>& own,
                               Compiled& compiled, BuiltKernel& out) {
  std::vector<std::string> arguments = link_arguments(shop.compiler, threads);
  // A linker makes an initializer of whatever function bears the name.
  for (const char* role : {"-Wl,-init=", "-Wl,-fini="}) {
    arguments.push_back(role + std::string("none_") + std::to_string(base::random_seed()));
  }
  arguments.insert(arguments.end(), compiled.objects.begin(), compiled.objects.end());
  arguments.insert(arguments.end(), {"glue.o", "-lm", "-o", "kernel.so"});
  TRY_ASSIGN(const auto linked, shop.run(arguments, true));
  compiled.seconds += linked.seconds;
  if (has_failed(linked)) {
    TRY_ASSIGN(out.report.diagnostics, shop.failure_text(linked, own));
    return {};
  }
  TRY_ASSIGN(out.shared_object, base::read_file(shop.folder / "kernel.so"));
  TRY_ASSIGN(LinkedObject object, read_linked(out.shared_object, kEntrySymbol));
  if (!object.refusal.empty()) {
    out.report.diagnostics = std::move(object.refusal);
    return {};
  }
  out.shared_object = without_writable_data(std::move(out.shared_object));
  out.libraries = std::move(object.libraries);
  out.report.built = true;
  out.report.machine_code_id = base::sha256_hex(out.shared_object);
  return {};
}

/// What the source's directives add to the compiler's arguments: flags, and a macro a tuned name.
tl::expected<std::vector<std::string>, model::DirectiveProblem> own_flags(const model::Kernel& kernel,
                                                                          const model::Definition& definition) {
  auto directives = model::parse_cpu_directives(model::main_text(kernel.solution()));
  if (!directives) return tl::make_unexpected(directives.error());
  const auto space = model::expand_tuning(*directives, definition);
  if (!space) return tl::make_unexpected(space.error());
  if (space->open()) {
    const model::TunedName& first = directives->tuned.front();
    return tl::make_unexpected(
        model::DirectiveProblem{first.line, first.column,
                                std::to_string(space->configurations.size()) +
                                    " configurations are left open; a baseline needs one value a tuned name"});
  }
  const std::vector<std::string> macros = model::macro_flags(*directives);
  directives->flags.insert(directives->flags.end(), macros.begin(), macros.end());
  return std::move(directives->flags);
}

/// Why a kernel may not be compiled with its own flags; empty: it may. What the baseline does with NaN and infinity
/// without a name for them, a verification asks by calls with them.
std::string problem_of_flags(const model::Solution& baseline, const model::Solution& kernel,
                             const std::vector<std::string>& flags) {
  if (!model::assumes_finite_math(flags) && !model::asks_for_finite_math(model::main_text(kernel))) return "";
  const std::string text = model::main_text(baseline);
  const std::string named = model::special_value_named(text);
  const auto own = model::parse_cpu_directives(text);
  const bool assumed = model::asks_for_finite_math(text) || (own && model::assumes_finite_math(own->flags));
  if (named.empty() || assumed) return "";
  return "under fast-math flags the compiler assumes that there is no NaN and no infinity, and the baseline asks for "
         "them (" +
         named + "); add -fno-finite-math-only behind them";
}

}  // namespace

base::Result<BuiltKernelPtr> KernelBuilder::build_now(const model::Kernel& kernel, std::stop_token stop,
                                                      evaluation::Placement placement) {
  const auto flags = own_flags(kernel, task_.definition);
  if (!flags) {
    const model::DirectiveProblem& problem = flags.error();
    return refused(main_name(kernel.solution().language) + ":" + std::to_string(problem.line) + ":" +
                   std::to_string(problem.column) + ": error: " + problem.message);
  }
  if (const std::string problem = problem_of_flags(task_.baseline, kernel.solution(), *flags); !problem.empty())
    return refused(main_name(kernel.solution().language) + ": error: " + problem);
  TRY_ASSIGN(std::vector<std::string> all_flags, model::user_flags_of(kernel.solution()));
  all_flags.insert(all_flags.end(), flags->begin(), flags->end());
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-build"));
  const Workshop shop{options_.compiler, options_.gate, options_.cores, folder.path(), std::move(stop)};
  std::vector<std::string> names;
  TRY_ASSIGN(std::shared_ptr<BuiltKernel> refusal_of_text, lay_out(kernel, header_, shop, names));
  if (refusal_of_text) return refusal_of_text;

  auto out = std::make_shared<BuiltKernel>();
  out->report.build_id = build_id(kernel);
  Compiled compiled;
  if (placement == evaluation::Placement::shifted) {
    TRY(base::write_file(folder.path() / "shift.s", kShift));
    TRY_ASSIGN(const auto ran, shop.run({"-c", "shift.s", "-o", "shift.o"}, false));
    if (has_failed(ran)) TRY(shop.check_machine(ran));
    if (has_failed(ran)) return base::fail(ErrorCode::io, "shifting code fails:\n" + ran.output);
    compiled.objects.emplace_back("shift.o");
  }
  for (const std::string& name : names) {
    if (!is_translation_unit(name)) continue;
    TRY_ASSIGN(const std::string diagnostics, compile_unit(shop, task_.cpu.threads, all_flags, name, names, compiled));
    if (!diagnostics.empty()) {
      out->report.diagnostics = diagnostics;
      out->report.seconds = compiled.seconds;
      return out;
    }
  }
  out->report.diagnostics = refusal(compiled.facts, kEntrySymbol);
  if (out->report.diagnostics.empty()) {
    TRY(base::write_file(folder.path() / "glue.o", glue_object_));
    TRY(link_kernel(shop, task_.cpu.threads, names, compiled, *out));
  }
  out->report.seconds = compiled.seconds;
  out->report.code_bytes = compiled.facts.code_bytes;
  out->report.remarks = own_remarks(compiled.remarks, names, kMostRemarks);
  return out;
}

base::Result<std::string> KernelBuilder::build_with_lines(const model::Kernel& kernel, std::stop_token stop) {
  const auto flags = own_flags(kernel, task_.definition);
  if (!flags) return base::fail(ErrorCode::invalid_argument, flags.error().message);
  TRY_ASSIGN(std::vector<std::string> all_flags, model::user_flags_of(kernel.solution()));
  all_flags.insert(all_flags.end(), flags->begin(), flags->end());
  all_flags.emplace_back("-g1");
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-build"));
  const Workshop shop{options_.compiler, options_.gate, options_.cores, folder.path(), std::move(stop)};
  std::vector<std::string> names;
  TRY_ASSIGN(const auto refusal_of_text, lay_out(kernel, header_, shop, names));
  if (refusal_of_text) return base::fail(ErrorCode::invalid_argument, refusal_of_text->report.diagnostics);
  Compiled compiled;
  for (const std::string& name : names) {
    if (!is_translation_unit(name)) continue;
    TRY_ASSIGN(const std::string diagnostics, compile_unit(shop, task_.cpu.threads, all_flags, name, names, compiled));
    if (!diagnostics.empty()) return base::fail(ErrorCode::unsupported, diagnostics);
  }
  TRY(base::write_file(folder.path() / "glue.o", glue_object_));
  std::vector<std::string> arguments = link_arguments(options_.compiler, task_.cpu.threads);
  std::erase(arguments, "-s");
  arguments.insert(arguments.end(), compiled.objects.begin(), compiled.objects.end());
  arguments.insert(arguments.end(), {"glue.o", "-lm", "-o", "kernel.so"});
  TRY_ASSIGN(const auto linked, shop.run(arguments, true));
  if (has_failed(linked)) TRY(shop.check_machine(linked));
  if (has_failed(linked)) return base::fail(ErrorCode::unsupported, linked.output);
  return base::read_file(folder.path() / "kernel.so");
}

namespace {

/// Links `objects`, which lie in the workshop's folder. None where they do not link: `problem` says why.
/// @error as check_machine, and of files.
base::Result<BuiltKernelPtr> link_trusted(const Workshop& shop, std::vector<std::string> objects,
                                          sandbox::RunResult& problem) {
  TRY(base::write_file(shop.folder / "exports.map", kVersionScript));
  std::vector<std::string> arguments = link_arguments(shop.compiler, 1);
  std::erase(arguments, "-nostartfiles");  // it may have global objects
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  arguments.insert(arguments.end(), {"-lm", "-o", "trusted.so"});
  TRY_ASSIGN(problem, shop.run(arguments, true));
  if (has_failed(problem)) TRY(shop.check_machine(problem));
  if (has_failed(problem)) return BuiltKernelPtr();
  auto out = std::make_shared<BuiltKernel>();
  TRY_ASSIGN(out->shared_object, base::read_file(shop.folder / "trusted.so"));
  TRY_ASSIGN(LinkedObject object, read_linked(out->shared_object, kEntrySymbol));
  out->libraries = std::move(object.libraries);  // not asked what else it holds
  out->report.built = true;
  return BuiltKernelPtr(std::move(out));
}

}  // namespace

base::Result<BuiltKernelPtr> KernelBuilder::build_idle(std::stop_token stop) {
  TRY_ASSIGN(const std::string object, compile_glue(header_, kIdleGlue, "", stop));
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-idle"));
  TRY(base::write_file(folder.path() / "idle.o", object));
  sandbox::RunResult problem;
  TRY_ASSIGN(BuiltKernelPtr built,
             link_trusted({options_.compiler, options_.gate, options_.cores, folder.path(), std::move(stop)},
                          {"idle.o"}, problem));
  if (!built) return base::fail(ErrorCode::invalid_argument, "an empty kernel does not link:\n" + problem.output);
  return built;
}

base::Result<BuiltKernelPtr> KernelBuilder::build_reference(const std::string& real, std::stop_token stop) {
  const std::string definition = "-DACCELOPT_REAL=" + real;
  const std::string header = reference_header(task_.definition);
  TRY_ASSIGN(const std::string glue, compile_glue(header, reference_glue(task_.definition), definition, stop));
  TRY_ASSIGN(const auto folder, base::TemporaryFolder::create("accelopt-reference"));
  const Workshop shop{options_.compiler, options_.gate, options_.cores, folder.path(), std::move(stop)};
  TRY(base::write_file(folder.path() / "task.h", header));
  TRY(base::write_file(folder.path() / "glue.o", glue));
  const bool cpp = fs::path(task_.reference.name).extension() != ".c";
  const std::string name = cpp ? "reference.cpp" : "reference.c";
  TRY(base::write_file(folder.path() / name, task_.reference.text));
  // Clear and slow is fine; contraction would make double and float runs differ in more than rounding.
  TRY_ASSIGN(const auto compiled,
             shop.run({"-O2", "-fPIC", cpp ? "-std=gnu++20" : "-std=gnu17", "-w", "-ffp-contract=off",
                       "-fvisibility=hidden", definition, "-include", "task.h", "-c", name, "-o", "reference.o"},
                      cpp));
  const auto broken = [&](const sandbox::RunResult& ran) -> base::Result<BuiltKernelPtr> {
    TRY_ASSIGN(const std::string text, shop.failure_text(ran, {name}));
    return base::fail(ErrorCode::invalid_argument, "the task's reference does not build:\n" + text);
  };
  if (has_failed(compiled)) return broken(compiled);
  sandbox::RunResult linked;
  TRY_ASSIGN(BuiltKernelPtr built, link_trusted(shop, {"reference.o", "glue.o"}, linked));
  if (!built) return broken(linked);
  return built;
}

}  // namespace accelopt::targets::cpu
