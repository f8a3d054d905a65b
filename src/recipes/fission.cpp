// SPDX-License-Identifier: Apache-2.0
// Fission: one loop becomes several, each with a part of the body. Values that a later part needs are kept for every
// iteration of a block: scalars become arrays, row buffers become one row an iteration.
#include <algorithm>

#include "recipes/legality.hpp"
#include "recipes/recipes.hpp"

namespace accelopt::recipes {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using syntax::Effects;
using syntax::ElementAccess;
using syntax::Expression;
using syntax::ExpressionKind;
using syntax::Loop;
using syntax::Statement;
using syntax::StatementKind;
using syntax::Symbol;

/// Stack that expanded values of one nest may take; more is taken from the heap.
constexpr std::int64_t kStackElements = 32768;

/// Something that crosses a cut and gets one place an iteration.
struct Expanded {
  Symbol symbol;
  std::string type;   ///< of an element
  std::string count;  ///< elements an iteration; empty: a scalar
  std::string name;   ///< of what holds all places
  bool declared_inside = false;
};

class Splitter {
 public:
  Splitter(Subject& subject, const Part& part, const Loop& loop, const std::vector<std::size_t>& cuts, int block)
      : subject_(subject), part_(part), scope_(part.tree->scope()), loop_(loop), block_(block) {
    const std::vector<Statement> body = body_of(loop);
    std::size_t cut = 0;
    groups_.emplace_back();
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (cut < cuts.size() && i == cuts[cut]) {
        ++cut;
        const bool only_aliases = std::all_of(groups_.back().begin(), groups_.back().end(),
                                              [&](const Statement& statement) { return is_alias(statement, scope_); });
        if (!only_aliases) groups_.emplace_back();
      }
      groups_.back().push_back(body[i]);
    }
  }

  Result<std::string> run() {
    const syntax::LoopHeader& header = loop_.header();
    if (!header.canonical || header.step != 1) return fail(ErrorCode::unsupported, "the loop does not count by one");
    if (groups_.size() < 2) return fail(ErrorCode::invalid_argument, "there is nothing to split");
    for (const auto& group : groups_) effects_.push_back(syntax::effects_of(group, scope_));
    for (const Effects& effects : effects_) {
      if (effects.opaque) return fail(ErrorCode::unsupported, "the loop holds statements that are not modelled");
    }
    TRY(expand_declared());
    TRY(check_outer_scalars());
    TRY(check_arrays());
    return stands_in_block() ? write_side_by_side() : write();
  }

 private:
  [[nodiscard]] bool uses(std::size_t group, const Symbol& symbol) const {
    const Effects& effects = effects_[group];
    const auto in = [&](const std::vector<Symbol>& list) {
      return std::find(list.begin(), list.end(), symbol) != list.end();
    };
    if (in(effects.scalars_read) || in(effects.scalars_assigned)) return true;
    return std::any_of(part_.function->names.begin(), part_.function->names.end(), [&](const syntax::NameUse& use) {
      return use.declaration == symbol.declaration && use.name == symbol.name &&
             std::any_of(groups_[group].begin(), groups_[group].end(),
                         [&](const Statement& statement) { return statement.extent.contains(use.extent); });
    });
  }

  [[nodiscard]] std::size_t groups_using(const Symbol& symbol) const {
    std::size_t count = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) count += uses(g, symbol) ? 1 : 0;
    return count;
  }

  Result<void> expand_declared() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const Statement& statement : groups_[g]) {
        if (statement.kind != StatementKind::declaration || is_alias(statement, scope_)) continue;
        for (const syntax::Variable& variable : statement.variables) {
          const Symbol symbol{variable.name, variable.declaration};
          bool crosses = false;
          for (std::size_t later = g + 1; later < groups_.size(); ++later) crosses = crosses || uses(later, symbol);
          if (!crosses) continue;
          if (statement.variables.size() != 1 || variable.is_static || variable.dimensions.size() > 1 ||
              (!variable.dimensions.empty() && variable.initializer)) {
            return fail(ErrorCode::unsupported,
                        "the variable " + variable.name + " cannot be kept for every iteration");
          }
          std::string type = variable.type.starts_with("const ") ? variable.type.substr(6) : variable.type;
          if (type == "auto" && variable.initializer) type = variable.initializer->type;
          if (type.find_first_of("*&<") != std::string::npos) {
            return fail(ErrorCode::unsupported,
                        "the variable " + variable.name + " cannot be kept for every iteration");
          }
          expanded_.push_back({symbol, type, variable.dimensions.empty() ? "" : variable.dimensions.front(),
                               subject_.fresh(variable.name + "_all"), true});
        }
      }
    }
    return {};
  }

  Result<void> check_outer_scalars() {
    for (const Effects& effects : effects_) {
      for (const Symbol& symbol : effects.scalars_assigned) {
        const bool inside = static_cast<std::size_t>(symbol.declaration) > loop_.statement->extent.begin &&
                            static_cast<std::size_t>(symbol.declaration) < loop_.statement->extent.end;
        if (!inside && groups_using(symbol) > 1) {
          return fail(ErrorCode::unsupported, "the variable " + symbol.name + " is carried from part to part");
        }
      }
    }
    return {};
  }

  Result<void> check_arrays() {
    std::vector<Symbol> written;
    for (const Effects& effects : effects_) {
      for (const ElementAccess& access : effects.accesses) {
        if (access.write && std::find(written.begin(), written.end(), access.base) == written.end())
          written.push_back(access.base);
      }
    }
    for (const Symbol& base : written) {
      if (std::any_of(expanded_.begin(), expanded_.end(), [&](const Expanded& known) { return known.symbol == base; }))
        continue;
      TRY(check_array(base));
    }
    return {};
  }

  Result<void> check_array(const Symbol& base) {
    std::vector<const ElementAccess*> accesses;
    std::size_t groups = 0;
    for (const Effects& effects : effects_) {
      const std::size_t before = accesses.size();
      for (const ElementAccess& access : effects.accesses) {
        if (access.base == base) accesses.push_back(&access);
      }
      groups += accesses.size() > before ? 1 : 0;
    }
    if (groups < 2) return {};
    std::optional<syntax::Polynomial> stride;
    bool disjoint = true;
    bool shared = true;
    for (const ElementAccess* access : accesses) {
      const auto mine = access->subscript ? access->subscript->coefficient(loop_.symbol()) : std::nullopt;
      disjoint = disjoint && mine && !mine->is_zero() && (!stride || *stride == *mine);
      shared = shared && mine && mine->is_zero();
      if (mine) stride = mine;
    }
    // Equal strides: iterations stay within their own part of the array, so the order of the parts is kept.
    if (disjoint) return {};
    if (shared && accesses.front()->write && !accesses.front()->read) return expand_buffer(base);
    return fail(ErrorCode::unsupported, "iterations may depend on each other through " + base.name);
  }

  /// A buffer that every iteration fills anew: it gets one row an iteration, if nothing else needs it.
  Result<void> expand_buffer(const Symbol& base) {
    const auto refuse = [&] {
      return fail(ErrorCode::unsupported, "the buffer " + base.name + " cannot be kept for every iteration");
    };
    if (base.declaration < 0 || !find_variable(part_.function->block, base)) return refuse();
    const syntax::Variable variable = *find_variable(part_.function->block, base);
    for (const syntax::NameUse& use : part_.function->names) {
      if (use.declaration != base.declaration || use.name != base.name) continue;
      if (loop_.statement->extent.contains(use.extent)) continue;
      const std::string_view before = std::string_view(subject_.unit().source).substr(0, use.extent.begin);
      if (!before.ends_with("free(")) return refuse();
    }
    std::string count;
    std::string type = variable.type;
    if (variable.dimensions.size() == 1) {
      count = variable.dimensions.front();
    } else if (const auto elements = vector_elements(variable)) {
      type = elements->first;
      count = elements->second;
    } else if (variable.initializer) {
      const auto allocated = allocated_count(*variable.initializer);
      if (!allocated) return refuse();
      count = *allocated;
      const std::size_t star = type.find('*');
      if (star == std::string::npos) return refuse();
      type.erase(star);
      while (!type.empty() && type.back() == ' ') type.pop_back();
    } else {
      return refuse();
    }
    expanded_.push_back({base, type, count, subject_.fresh(base.name + "_all"), false});
    return {};
  }

  static std::optional<syntax::Variable> find_variable(const Statement& statement, const Symbol& symbol) {
    for (const syntax::Variable& variable : statement.variables) {
      if (variable.declaration == symbol.declaration && variable.name == symbol.name) return variable;
    }
    for (const Statement& child : statement.children) {
      if (auto found = find_variable(child, symbol)) return found;
    }
    return std::nullopt;
  }

  /// Element type and count of `std::vector<T> name(count)` or `name(count, value)`.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> vector_elements(
      const syntax::Variable& variable) const {
    const std::size_t open = variable.type.find("vector<");
    const std::size_t close = variable.type.rfind('>');
    if (open == std::string::npos || close == std::string::npos || variable.type.find('*') != std::string::npos)
      return std::nullopt;
    const std::string type = variable.type.substr(open + 7, close - open - 7);
    if (type != "float" && type != "double") return std::nullopt;
    const std::string_view source = subject_.unit().source;
    std::size_t at = static_cast<std::size_t>(variable.declaration) + variable.name.size();
    if (at >= source.size() || source[at] != '(') return std::nullopt;
    const std::size_t begin = ++at;
    for (int depth = 1; at < source.size(); ++at) {
      if (source[at] == '(') ++depth;
      if (source[at] == ')' && --depth == 0) break;
      if (source[at] == ',' && depth == 1) break;
    }
    return std::pair(type, std::string(source.substr(begin, at - begin)));
  }

  /// The N of malloc(N * sizeof(T)), calloc(N, sizeof(T)), aligned_alloc(64, N * sizeof(T)).
  [[nodiscard]] std::optional<std::string> allocated_count(const Expression& initializer) const {
    const Expression* call = &initializer;
    while (call->kind == ExpressionKind::cast) call = &call->operands[0];
    if (call->kind != ExpressionKind::call || call->operands.empty()) return std::nullopt;
    if (call->text.ends_with("calloc")) return std::string(subject_.text(call->operands[0].extent));
    if (!call->text.ends_with("malloc") && !call->text.ends_with("aligned_alloc")) return std::nullopt;
    const Expression& bytes = call->operands.back();
    if (bytes.kind != ExpressionKind::binary || bytes.text != "*") return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
      if (subject_.text(bytes.operands[side].extent).starts_with("sizeof")) {
        return std::string(subject_.text(bytes.operands[1 - side].extent));
      }
    }
    return std::nullopt;
  }

  /// Whether the loop already runs over one block, and nothing crosses the cuts: the parts can stand side by side.
  [[nodiscard]] bool stands_in_block() const {
    return expanded_.empty() && loop_.parent != nullptr &&
           loop_.parent->header().variable.find("_block") != std::string::npos &&
           subject_.text(loop_.header().begin->extent) == loop_.parent->header().variable;
  }

  Result<std::string> write_side_by_side() {
    const std::string indent = syntax::indentation_at(subject_.unit().source, loop_.statement->extent.begin);
    std::string text;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      text += (g == 0 ? "" : "\n") + std::string(subject_.text(loop_.header().extent)) + " {\n" + write_group(g, "  ") +
              "}";
    }
    syntax::Edits edits;
    edits.replace(loop_.statement->extent, indented(as_one_statement(loop_, text), indent).substr(indent.size()));
    return edits.apply(subject_.unit().source);
  }

  Result<std::string> write() {
    const syntax::LoopHeader& header = loop_.header();
    const std::string type = variable_type(header);
    const std::string variable = header.variable;
    first_ = subject_.fresh(variable + "_block");
    const std::string last = subject_.fresh(variable + "_end");
    const std::string begin = begin_text(subject_, header);
    const std::string end = end_text(subject_, header);
    const std::string places = block_ > 0 ? std::to_string(block_) : "(" + end + " - (" + begin + "))";
    std::string heap_start;
    std::string heap_end;
    std::string inner;
    for (const Expanded& value : expanded_) {
      const std::string total = value.count.empty() ? places : places + " * (" + value.count + ")";
      if (block_ > 0 && on_stack(value)) {
        inner += "  " + value.type + " " + value.name + "[" + total + "];\n";
      } else {
        heap_start += value.type + "* const " + value.name + " = (" + value.type + "*)malloc(sizeof(" + value.type +
                      ") * (size_t)(" + total + "));\n";
        heap_end += "free(" + value.name + ");\n";
      }
    }
    std::string text;
    if (block_ > 0) {
      text += "for (" + type + " " + first_ + " = " + begin + "; " + first_ + " < " + end + "; " + first_ +
              " += " + places + ") {\n";
      text += "  const " + type + " " + last + " = " + end + " - " + first_ + " < " + places + " ? " + end + " : " +
              first_ + " + " + places + ";\n";
    } else {
      text +=
          "{\n  const " + type + " " + first_ + " = " + begin + ";\n  const " + type + " " + last + " = " + end + ";\n";
    }
    text += inner;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      text += "  for (" + type + " " + variable + " = " + first_ + "; " + variable + " < " + last + "; ++" + variable +
              ") {\n";
      text += write_group(g, "    ");
      text += "  }\n";
    }
    text += "}";
    if (!heap_start.empty()) text = "{\n" + indented(heap_start + text + "\n" + heap_end, "  ") + "}";

    const std::string indent = syntax::indentation_at(subject_.unit().source, loop_.statement->extent.begin);
    syntax::Edits edits;
    edits.replace(loop_.statement->extent, indented(text, indent).substr(indent.size()));
    TRY_ASSIGN(std::string source, edits.apply(subject_.unit().source));
    return heap_start.empty() ? source : with_include(std::move(source), "<stdlib.h>");
  }

  [[nodiscard]] bool on_stack(const Expanded& value) const {
    if (value.count.empty()) return true;
    const auto digits = value.count.find_first_not_of("0123456789");
    if (digits != std::string::npos || value.count.size() > 9) return false;
    return std::stoll(value.count) * block_ <= kStackElements;
  }

  std::string write_group(std::size_t group, const std::string& indent) {
    std::map<std::int64_t, std::string> names;
    std::string result;
    const std::string place = loop_.header().variable + " - " + first_;
    for (const Expanded& value : expanded_) {
      if (!uses(group, value.symbol) && !declares(group, value.symbol)) continue;
      if (value.count.empty()) {
        names[value.symbol.declaration] = value.name + "[" + place + "]";
      } else {
        result += indent + value.type + "* const " + value.symbol.name + " = " + value.name + " + (" + place + ") * (" +
                  value.count + ");\n";
      }
    }
    for (std::size_t earlier = 0; earlier < group; ++earlier) {
      for (const Statement& statement : groups_[earlier]) {
        if (is_alias(statement, scope_) && used_later(statement, group)) {
          result += indent + std::string(subject_.text(statement.extent)) + "\n";
        }
      }
    }
    for (const Statement& statement : groups_[group]) {
      const std::string text = write_statement(statement, names);
      if (!text.empty()) result += reindented(statement, text, indent) + "\n";
    }
    return result;
  }

  /// Lines after the first keep their place relative to the statement's own column.
  [[nodiscard]] std::string reindented(const Statement& statement, const std::string& text,
                                       const std::string& to) const {
    const std::string indent = syntax::indentation_at(subject_.unit().source, statement.extent.begin);
    std::string result = to;
    for (std::size_t i = 0; i < text.size(); ++i) {
      result += text[i];
      if (text[i] != '\n' || i + 1 >= text.size() || text[i + 1] == '#' || text[i + 1] == '\n') continue;
      if (text.compare(i + 1, indent.size(), indent) == 0) i += indent.size();
      result += to;
    }
    return result;
  }

  [[nodiscard]] bool declares(std::size_t group, const Symbol& symbol) const {
    const auto& declared = effects_[group].declared;
    return std::find(declared.begin(), declared.end(), symbol) != declared.end();
  }

  [[nodiscard]] bool used_later(const Statement& alias, std::size_t group) const {
    return std::any_of(alias.variables.begin(), alias.variables.end(), [&](const syntax::Variable& variable) {
      return uses(group, {variable.name, variable.declaration});
    });
  }

  std::string write_statement(const Statement& statement, const std::map<std::int64_t, std::string>& names) {
    if (statement.kind == StatementKind::declaration && statement.variables.size() == 1) {
      const syntax::Variable& variable = statement.variables.front();
      const Symbol symbol{variable.name, variable.declaration};
      const auto found = std::find_if(expanded_.begin(), expanded_.end(),
                                      [&](const Expanded& value) { return value.symbol == symbol; });
      if (found != expanded_.end()) {
        if (!found->count.empty() || !variable.initializer) return "";
        return names.at(symbol.declaration) + " = " +
               syntax::with_names(subject_.unit(), *part_.function, variable.initializer->extent, names) + ";";
      }
    }
    return syntax::with_names(subject_.unit(), *part_.function, statement.extent, names);
  }

  Subject& subject_;
  const Part& part_;
  const syntax::IndexScope& scope_;
  const Loop& loop_;
  int block_;
  std::vector<std::vector<Statement>> groups_;
  std::vector<Effects> effects_;
  std::vector<Expanded> expanded_;
  std::string first_;
};

/// Cuts that separate inner loops from the statements around them.
std::vector<std::size_t> natural_cuts(const Loop& loop, const syntax::IndexScope& scope) {
  std::vector<std::size_t> cuts;
  bool something = false;
  for (std::size_t i = 0; i < loop.body.size(); ++i) {
    if (something && (loop.body[i]->loop || loop.body[i - 1]->loop)) cuts.push_back(i);
    something = something || !is_alias(*loop.body[i], scope);
  }
  return cuts;
}

void propose_fission(const syntax::Clang&, Subject& subject, std::vector<Application>& result) {
  for (const Part& part : subject.parts()) {
    for (const auto& loop : part.tree->loops()) {
      if (subject.is_generated(*loop) || loop->children.empty()) continue;
      for (const std::size_t cut : natural_cuts(*loop, part.tree->scope())) {
        if (!split_loop(subject, part, *loop, {cut}, 32)) continue;
        Application application;
        application.recipe = "fission";
        application.location = Subject::location(part, *loop);
        application.parameters = {{"cut", std::to_string(cut)}, {"block", "32"}};
        application.title = "Split the loop " + loop->path + " before its statement " + std::to_string(cut + 1) +
                            ", 32 iterations at a time";
        application.text =
            "Fission: the body of this loop does several things one after another. Each gets a loop of its own over a "
            "block of 32 "
            "iterations, so that every loop nest is perfect and can be tiled, interchanged and vectorized by itself; "
            "values that "
            "cross the cut are kept for the iterations of the block.";
        application.prior = 1.01;
        application.shape = shape_of(subject, part, *loop);
        result.push_back(std::move(application));
      }
    }
  }
}

Result<std::string> apply(const syntax::Clang&, Subject& subject, const Application& application) {
  TRY_ASSIGN(const Place place, subject.find(application.location));
  TRY_ASSIGN(const int cut, number(application, "cut"));
  TRY_ASSIGN(const int block, number(application, "block"));
  if (cut < 0 || block < 0) return fail(ErrorCode::invalid_argument, "cut and block are not negative");
  return split_loop(subject, *place.part, *place.loop, {static_cast<std::size_t>(cut)}, block);
}

}  // namespace

Result<std::string> split_loop(Subject& subject, const Part& part, const Loop& loop,
                               const std::vector<std::size_t>& cuts, int block) {
  return Splitter(subject, part, loop, cuts, block).run();
}

const Loop* loop_of_group(const Part& part, std::string_view path, std::size_t group) {
  const std::size_t slash = path.rfind('/');
  const std::string parent(slash == std::string_view::npos ? "" : path.substr(0, slash + 1));
  const std::size_t dot = path.rfind('.');
  const std::size_t place = std::stoul(std::string(path.substr(dot + 1)));
  const auto at = [&](std::size_t number) -> const Loop* {
    for (const auto& candidate : part.tree->loops()) {
      const std::size_t last = candidate->path.rfind('/');
      const std::string before = last == std::string::npos ? "" : candidate->path.substr(0, last + 1);
      if (before == parent && candidate->path.ends_with("." + std::to_string(number))) return candidate.get();
    }
    return nullptr;
  };
  // Where the loop stood is a loop over blocks now, with the parts in it; or the parts stand there side by side.
  const Loop* first = at(place);
  if (first == nullptr) return nullptr;
  const std::string variable(path.substr(parent.size(), dot - parent.size()));
  if (first->header().variable == variable) return at(place + group);
  return group < first->children.size() ? first->children[group] : nullptr;
}

Recipe fission_recipe() {
  return {"fission", propose_fission, apply};
}

}  // namespace accelopt::recipes
