// SPDX-License-Identifier: Apache-2.0
// accelopt memory: what is known, in the user's hands.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "app/knowledge_export.hpp"
#include "app/knowledge_place.hpp"
#include "app/knowledge_report.hpp"
#include "app/refactor_mine.hpp"
#include "app/workspace.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "memory/knowledge_file.hpp"
#include "memory/surreal/address.hpp"
#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/text_width.hpp"

namespace accelopt::cli {
namespace {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;
using memory::Item;
using memory::KnowledgeStore;
using Store = std::unique_ptr<KnowledgeStore>;

struct Options {
  std::string knowledge;
  std::string workspace;
  bool json = false;
  std::string id;
  std::string text;
  std::string file;
  std::string output;
  std::string from = "HEAD";
  memory::Filter filter;
  std::string polarity;
  bool quarantined = false;
  bool suspicious = false;
  bool lift = false;
  std::optional<int> limit;
  app::ImportDefaults defaults;
};

Result<Store> open_store(const app::Shell& shell, const Options& options, app::KnowledgeUse use) {
  return app::open_knowledge(shell, options.knowledge, app::find_workspace(options.workspace), use);
}

memory::Filter filter_of(const Options& options) {
  memory::Filter filter = options.filter;
  if (options.quarantined) filter.quarantined = true;
  if (options.suspicious) filter.suspicious = true;
  if (!options.polarity.empty()) filter.polarity = model::parse_polarity(options.polarity);
  filter.limit = options.limit.value_or(filter.limit);
  return filter;
}

void print_line(const Json& line) {
  fmt::print("{}\n", base::canonical(line));
}

/// Says of what a command did not show that it is there and cannot be read.
void tell_unreadable(const KnowledgeStore& store, const std::vector<memory::Unreadable>& unreadable) {
  if (unreadable.empty()) return;
  std::string text = fmt::format("{}: {} cannot be read and {} left out", store.name(),
                                 unreadable.size() == 1 ? "one entry" : fmt::format("{} entries", unreadable.size()),
                                 unreadable.size() == 1 ? "was" : "were");
  for (const memory::Unreadable& one : unreadable) text += fmt::format("\n  {}: {}", one.id, one.reason);
  text += "\n`accelopt memory forget ID` removes an experience that cannot be read";
  std::fflush(stdout);
  fmt::print(stderr, "accelopt: {}\n", report::printable_lines(text));
}

/// The same, and as lines of JSON where they are asked for.
void tell_unreadable(const KnowledgeStore& store, const Options& options) {
  if (options.json) {
    for (const memory::Unreadable& one : store.unreadable()) print_line(app::to_json(one));
  }
  tell_unreadable(store, store.unreadable());
}

std::string effect_text(const model::Experience& experience) {
  if (!experience.effect) return "unknown";
  if (experience.polarity == model::Polarity::mends)
    return "the mended kernel ran " + report::format_ratio(*experience.effect) + " its parent's speed";
  const char* const more = model::has_unknown_width(*experience.effect) ? ", interval unknown" : "";
  return report::format_ratio(*experience.effect) + more;
}

std::string credit_text(const model::Credit& credit) {
  return fmt::format("{} shown, {} used: {} confirmed, {} refuted", credit.shown, credit.used, credit.confirmed,
                     credit.refuted);
}

void print_items(const std::vector<Item>& items, const Options& options) {
  if (options.json) {
    for (const Item& item : items) print_line(app::json_of(item));
    return;
  }
  report::TextTable table({{"id"},
                           {"polarity"},
                           {"effect", report::Align::right},
                           {"language"},
                           {"op_type"},
                           {"+", report::Align::right},
                           {"-", report::Align::right},
                           {"title"}});
  for (const Item& item : items) {
    const model::Experience& it = item.experience;
    const bool mends = it.polarity == model::Polarity::mends;
    const auto effect = model::taught_effect(it);
    std::string title = report::printable(it.title);
    if (item.quarantined) title += " (quarantined)";
    if (!item.suspicions.empty()) title += " (suspicious)";
    table.add({it.id, std::string(model::to_string(it.polarity)),
               effect  ? report::format_ratio(effect->estimate)
               : mends ? "-"
                       : "?",
               report::printable(it.language), report::printable(it.op_type), std::to_string(it.credit.confirmed),
               std::to_string(it.credit.refuted), title});
  }
  fmt::print("{}", items.empty() ? "nothing\n" : table.render());
}

Result<Exit> list(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::reading));
  TRY_ASSIGN(const auto items, store->list(filter_of(options)));
  print_items(items, options);
  tell_unreadable(*store, options);
  return Exit::done;
}

Result<Exit> search(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::reading));
  TRY_ASSIGN(const auto items, store->search(options.text, filter_of(options)));
  print_items(items, options);
  tell_unreadable(*store, options);
  return Exit::done;
}

/// Each line of a text of others behind a bar, fit for a terminal.
std::string quoted(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "  | " + report::printable(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

Result<Exit> show(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::reading));
  TRY_ASSIGN(const Item item, store->get(options.id));
  if (options.json) {
    print_line(app::json_of(item));
    return Exit::done;
  }
  const model::Experience& it = item.experience;
  const auto line = [](const char* name, const std::string& value) {
    if (!value.empty()) fmt::print("{:<12}{}\n", name, report::printable(value));
  };
  line("id", it.id + (item.quarantined ? "  (quarantined)" : ""));
  line("title", it.title);
  line("polarity", std::string(model::to_string(it.polarity)));
  line("effect", effect_text(it));
  for (const model::WorkloadEffect& effect : it.workloads)
    line("", effect.workload + ": " + report::format_ratio(effect.ratio));
  line("language", it.language);
  line("op_type", it.op_type);
  line("task", it.task);
  line("target", it.target + (it.device.empty() ? "" : ", " + it.device));
  line("bound by", it.bound);
  line("toolchain", it.toolchain);
  line("learned", fmt::format("{} in run {}, iteration {}, by {}", it.created, it.run.empty() ? "-" : it.run,
                              it.iteration + 1, it.model.empty() ? "-" : it.model));
  line("credit", credit_text(it.credit));
  for (const std::string& reason : item.suspicions) line("suspicious", reason);
  for (const auto& [name, text] :
       {std::pair{"strategy", &it.strategy}, {"before", &it.before}, {"after", &it.after}, {"diff", &it.diff}}) {
    if (!text->empty()) fmt::print("{}\n{}", name, quoted(*text));
  }
  return Exit::done;
}

/// add and import: both take any of the known forms; a single note may come alone.
Result<Exit> take_in(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const std::string text, app::read_import(options.file));
  TRY_ASSIGN(const app::Imported imported, app::read_experiences(text, options.file, options.defaults));
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::writing));
  TRY_ASSIGN(const app::TakenIn taken, app::take_in(*store, imported));
  if (options.json) {
    print_line(app::to_json(taken));
    return Exit::done;
  }
  fmt::print("{} experience{} read, {} new, {} known already; in {}\n", taken.read, taken.read == 1 ? "" : "s",
             taken.fresh, taken.read - taken.fresh, taken.store);
  if (taken.unknown_effects > 0)
    fmt::print("{} without a readable speed-up: their effect is unknown\n", taken.unknown_effects);
  if (taken.kernels_left_out > 0) {
    fmt::print("{} left out: too long, of no experience in the file, or with an id that does not match their text\n",
               taken.kernels_left_out == 1 ? "one kernel was" : fmt::format("{} kernels were", taken.kernels_left_out));
  }
  return Exit::done;
}

Result<Exit> edit(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const std::string text, app::read_import(options.file));
  TRY_ASSIGN(const Json fields, app::read_edit(text, options.file));
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::writing));
  TRY_ASSIGN(const auto made, app::edit_item(*store, options.id, fields, options.file));
  const auto& [item, changed] = made;
  if (options.json) {
    print_line(app::to_json(made, store->name()));
  } else if (changed.empty()) {
    fmt::print("{} has these values already; nothing changed\n", item.experience.id);
  } else {
    fmt::print("{} changed: {}\n", item.experience.id, fmt::join(changed, ", "));
  }
  return Exit::done;
}

Result<Exit> forget(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::writing));
  TRY_ASSIGN(const memory::Removal removal, store->forget(options.id));
  if (options.json) {
    print_line(app::to_json(removal, store->name()));
    return Exit::done;
  }
  fmt::print("{} forgotten", removal.id);
  if (!removal.title.empty()) fmt::print(": {}", report::printable(removal.title));
  if (removal.solutions > 0) fmt::print(", with {} kernel{}", removal.solutions, removal.solutions == 1 ? "" : "s");
  fmt::print("\n");
  return Exit::done;
}

Result<Exit> quarantine(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::writing));
  TRY_ASSIGN(const Item item, store->get(options.id));
  const auto now = options.lift ? memory::Visibility::shown : memory::Visibility::hidden;
  TRY(store->quarantine(item.experience.id, now));
  if (options.json) {
    print_line(app::to_json(item, now, store->name()));
    return Exit::done;
  }
  fmt::print("{} {}: {}\n", item.experience.id, options.lift ? "is shown again" : "is kept and no longer shown",
             report::printable(item.experience.title));
  return Exit::done;
}

Result<Exit> export_all(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::reading));
  const bool to_file = !options.output.empty() && options.output != "-";
  if (to_file && app::is_of_store(options.output, store->name())) {
    return fail(ErrorCode::invalid_argument,
                "--output " + options.output + " is the knowledge store itself; name another file");
  }
  std::string lines;
  TRY(app::export_lines(*store, [&](std::string_view line) -> Result<void> {
    to_file ? void(lines += line) : fmt::print("{}", line);
    return {};
  }));
  if (to_file) TRY(base::write_output(options.output, lines));
  tell_unreadable(*store, store->unreadable());
  return Exit::done;
}

Result<Exit> stats(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::reading));
  TRY_ASSIGN(const app::KnowledgeOverview known, app::overview(*store));
  const auto& [name, it, suspicious] = known;
  tell_unreadable(*store, it.unreadable);
  if (options.json) {
    print_line(app::to_json(known));
    return Exit::done;
  }
  fmt::print("{}{}\n", name, it.bytes > 0 ? ", " + report::format_bytes(static_cast<double>(it.bytes)) : std::string());
  fmt::print("{} experiences ({} quarantined, {} suspicious), {} solutions, {} forgotten\n", it.experiences,
             it.quarantined, it.suspicious, it.solutions, it.forgotten);
  fmt::print("{} times shown to a planner or judged by a plan's outcome\n", it.credit_events);
  for (const auto& [what, counts] :
       {std::pair{"language", &it.by_language}, {"operator", &it.by_op_type}, {"polarity", &it.by_polarity}}) {
    const std::string text = base::joined(*counts, ", ", [](const auto& one) {
      return fmt::format("{} {}", one.second, one.first.empty() ? "?" : report::printable(one.first));
    });
    if (!text.empty()) fmt::print("by {}: {}\n", what, text);
  }
  if (suspicious.empty()) return Exit::done;
  fmt::print(
      "\nsuspicious: models are shown these as quoted data like all others; `accelopt memory quarantine ID` hides "
      "one\n");
  report::TextTable table({{"id"}, {"why"}, {"title"}});
  for (const Item& item : suspicious)
    table.add({item.experience.id, fmt::format("{}", fmt::join(item.suspicions, "; ")),
               report::printable(item.experience.title.substr(0, 60))});
  fmt::print("{}", table.render());
  return Exit::done;
}

/// A text between quotes as DOT takes it.
std::string dot(const std::string& text) {
  std::string out = "\"";
  for (const char c : report::printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

Result<Exit> graph(const app::Shell& shell, const Options& options) {
  TRY_ASSIGN(const Store store, open_store(shell, options, app::KnowledgeUse::reading));
  TRY_ASSIGN(const memory::Graph it, store->graph(options.limit.value_or(100)));
  tell_unreadable(*store, store->unreadable());
  if (options.json) {
    print_line(app::to_json(it));
    return Exit::done;
  }
  fmt::print("digraph memory {{\n  rankdir=LR;\n  node [fontsize=10];\n  edge [fontsize=9];\n");
  for (const memory::Node& node : it.nodes) {
    const std::string table = node.id.substr(0, node.id.find(':'));
    const char* const shape = table == "optimization" ? "box"
                              : table == "task"       ? "hexagon"
                              : table == "plan"       ? "note"
                                                      : "ellipse";
    fmt::print("  {} [label={}, shape={}];\n", dot(node.id), dot(node.label), shape);
  }
  for (const memory::Edge& edge : it.edges) {
    fmt::print("  {} -> {} [label={}];\n", dot(edge.from), dot(edge.to),
               dot(edge.relation + (edge.label.empty() ? "" : " " + edge.label)));
  }
  fmt::print("}}\n");
  return Exit::done;
}

Result<Exit> mine(const app::Shell& shell, const Options& options) {
  app::MineOptions mining{.repository = options.file,
                          .from = options.from,
                          .knowledge = options.knowledge,
                          .workspace = app::find_workspace(options.workspace)};
  if (options.limit) mining.most = static_cast<std::size_t>(*options.limit);
  TRY_ASSIGN(const app::MineReport found, app::mine_history(shell, mining));
  for (const model::Experience& one : found.mined) {
    if (options.json)
      print_line(Json(one));
    else
      fmt::print("{}  {}  {:<10} {}\n", one.id.substr(0, 8), one.created.substr(0, 10), one.language,
                 report::printable(one.title));
  }
  if (options.json) return Exit::done;
  fmt::print(
      "{} commits touch code, {} say that they make it faster; {} mined, {} new to the store; left out: {} large ones "
      "or "
      "of several languages, {} with what looks like a key\n",
      found.looked_at, found.said_so, found.mined.size(), found.stored, found.too_large, found.secrets);
  return Exit::done;
}

void declare_filter(Command& command, Options& options) {
  command.option("--language", &options.filter.language, "Only of this language");
  command.option("--op-type", &options.filter.op_type, "Only of this operator");
  command.option("--target", &options.filter.target, "Only of this target");
  command.option("--run", &options.filter.run, "Only of this run");
  command.option("--polarity", &options.polarity, "Only these").one_of({"improves", "regresses", "mends"});
  command.flag("--quarantined", options.quarantined, "Only quarantined ones");
  command.flag("--suspicious", options.suspicious, "Only those whose text looks hostile");
  command.option("--limit", &options.limit, "At most so many (default 100; 0: all)").at_least(0);
}

void declare_defaults(Command& command, Options& options) {
  command.option("--language", &options.defaults.language, "Of items that do not say");
  command.option("--target", &options.defaults.target, "Of items that do not say");
  command.option("--op-type", &options.defaults.op_type, "Of items that do not say");
}

}  // namespace

void add_memory(CommandLine& app, Action& chosen) {
  Command memory = app.add("memory", "Show and edit what runs have learned");
  memory.footer(
      "Examples:\n"
      "  accelopt memory list --op-type matmul\n"
      "  accelopt memory search \"pack operand panels\"\n"
      "  accelopt memory export --output team.jsonl      and elsewhere: accelopt memory import team.jsonl\n"
      "  accelopt memory graph | dot -Tsvg > memory.svg\n");
  using Act = Result<Exit> (*)(const app::Shell&, const Options&);
  const auto add = [&](const char* name, const char* help, Act act, const auto& declare) {
    Command command = memory.add(name, help);
    auto options = std::make_shared<Options>();
    declare(command, *options);
    command.option("--knowledge", &options->knowledge,
                   "A file, or surreal://user@host:8000/namespace/database (default: ACCELOPT_KNOWLEDGE, else "
                   "~/.local/share/accelopt/knowledge.db)");
    command.option(
        "--workspace", &options->workspace,
        "Folder of runs whose experiences may wait for the store (default: the nearest .accelopt here or above)");
    command.flag("--json", options->json, "JSON, one object per line");
    command.chosen(
        [&chosen, options, act] { chosen = [options, act](app::Shell& shell) { return act(shell, *options); }; });
  };
  const auto nothing = [](Command&, Options&) {};
  const auto id = [](Command& command, Options& o) {
    command.option("id", &o.id, "The experience: its id, or the beginning of it").required();
  };
  add("list", "List experiences, newest first", list, declare_filter);
  add("show", "Show one experience in full", show, id);
  add("search", "Find experiences by words", search, [](Command& command, Options& o) {
    command.option("text", &o.text, "Words; the best fit comes first").required();
    declare_filter(command, o);
  });
  add("add", "Add an experience written by hand", take_in, [](Command& command, Options& o) {
    command.option("file", &o.file, "A JSON object with at least title and strategy; -: standard input").required();
    declare_defaults(command, o);
  });
  add("edit", "Change an experience's fields", edit, [&](Command& command, Options& o) {
    id(command, o);
    command.option("file", &o.file, "A JSON object of the fields to change; -: standard input").required();
  });
  add("forget", "Remove an experience for good", forget, id);
  add("quarantine", "Keep an experience, but show it to no planner", quarantine, [&](Command& command, Options& o) {
    id(command, o);
    command.flag("--lift", o.lift, "Show it again");
  });
  add("export", "Write all experiences as JSON lines", export_all, [](Command& command, Options& o) {
    command.option("--output", &o.output, "File to write (default, and -: standard output)");
  });
  add("import", "Read experiences from an export or a list of rewrites", take_in, [](Command& command, Options& o) {
    command.option("file", &o.file, "JSON lines of an export, or a JSON list of rewrites; -: standard input")
        .required();
    declare_defaults(command, o);
  });
  add("mine", "Learn from a repository's own history: commits that claim to make code faster, with unknown effect",
      mine, [](Command& command, Options& o) {
        command.option("repository", &o.file, "A folder of the git repository").required();
        command.option("--from", &o.from, "The newest commit to look at (default: HEAD)");
        command.option("--limit", &o.limit, "Look at so many commits that touch code (default 5000)").at_least(1);
      });
  add("stats", "Count what is known, and list what looks hostile", stats, nothing);
  add("graph", "Draw solutions, strategies, tasks and plans as DOT", graph, [](Command& command, Options& o) {
    command.option("--limit", &o.limit, "Of the newest so many experiences (default 100)").at_least(1);
  });
}

}  // namespace accelopt::cli
