// SPDX-License-Identifier: Apache-2.0
// Builds the tree of source.hpp from libclang's cursors.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "syntax/libclang.hpp"
#include "syntax/preambles.hpp"
#include "syntax/source.hpp"
#include "syntax/text.hpp"

namespace accelopt::syntax {
namespace {

using base::Result;

class Reader {
 public:
  Reader(const Api& api, CXTranslationUnit unit, const std::string& file_name, Unit& result)
      : api_(api), unit_(unit), file_name_(file_name), result_(result) {}

  void read() {
    read_declarations(api_.getTranslationUnitCursor(unit_));
    read_diagnostics();
    result_.files_read = files_on_disk(api_, unit_);
    result_.includes = includes_of(result_.source);
  }

 private:
  using Locator = void (*)(CXSourceLocation, CXFile*, unsigned*, unsigned*, unsigned*);

  std::string take(CXString string) {
    const char* text = api_.getCString(string);
    std::string result = text == nullptr ? "" : text;
    api_.disposeString(string);
    return result;
  }

  std::vector<CXCursor> children(CXCursor cursor) {
    std::vector<CXCursor> result;
    api_.visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
          static_cast<std::vector<CXCursor>*>(data)->push_back(child);
          return CXChildVisit_Continue;
        },
        &result);
    return result;
  }

  /// By name: files in memory that do not exist on disk are all equal to clang_File_isEqual.
  bool is_main(CXFile file) { return file != nullptr && take(api_.getFileName(file)) == file_name_; }

  /// Offset of a location in the main file; -1 elsewhere.
  std::int64_t offset(CXSourceLocation location, Locator locate) {
    CXFile file = nullptr;
    unsigned at = 0;
    locate(location, &file, nullptr, nullptr, &at);
    if (!is_main(file)) return -1;
    return static_cast<std::int64_t>(at);
  }

  Extent extent(CXCursor cursor) { return extent(cursor, api_.getExpansionLocation); }

  Extent extent(CXCursor cursor, Locator locate) {
    const CXSourceRange range = api_.getCursorExtent(cursor);
    const std::int64_t begin = offset(api_.getRangeStart(range), locate);
    const std::int64_t end = offset(api_.getRangeEnd(range), locate);
    if (begin < 0 || end < begin || static_cast<std::size_t>(end) > result_.source.size()) return {};
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
  }

  bool from_macro(CXCursor cursor) {
    const CXSourceLocation start = api_.getRangeStart(api_.getCursorExtent(cursor));
    return offset(start, api_.getExpansionLocation) != offset(start, api_.getSpellingLocation);
  }

  std::int64_t declaration_of(CXCursor declared) {
    return api_.Cursor_isNull(declared) != 0 ? -1 : offset(api_.getCursorLocation(declared), api_.getFileLocation);
  }

  static std::string without_const(std::string type) {
    for (const char* word : {"const ", "volatile "}) {
      if (type.starts_with(word)) type.erase(0, std::string_view(word).size());
    }
    return type;
  }

  std::string value_type(CXCursor cursor) {
    return without_const(take(api_.getTypeSpelling(api_.getCanonicalType(api_.getCursorType(cursor)))));
  }

  std::optional<std::int64_t> constant_value(CXCursor cursor) {
    CXEvalResult value = api_.Cursor_Evaluate(cursor);
    if (value == nullptr) return std::nullopt;
    std::optional<std::int64_t> result;
    if (api_.EvalResult_getKind(value) == CXEval_Int) result = api_.EvalResult_getAsLongLong(value);
    api_.EvalResult_dispose(value);
    return result;
  }

  // ---- expressions

  Expression expression(CXCursor cursor) {
    const CXCursorKind kind = api_.getCursorKind(cursor);
    if (kind == CXCursor_ParenExpr || kind == CXCursor_UnexposedExpr) {
      const std::vector<CXCursor> inner = children(cursor);
      if (inner.size() == 1) return expression(inner.front());
    }
    Expression result;
    result.extent = extent(cursor);
    result.type = value_type(cursor);
    if (from_macro(cursor)) {
      result.text = std::string(result_.text(result.extent));
      const bool is_name = end_of_name(result.text, 0) == result.text.size() && !result.text.empty();
      result.kind =
          is_name && result.text.find('(') == std::string::npos ? ExpressionKind::name : ExpressionKind::other;
      if (result.kind == ExpressionKind::other) result.operands = operands(cursor);
      result.value = constant_value(cursor);
      return result;
    }
    fill(result, cursor, kind);
    return result;
  }

  void fill(Expression& result, CXCursor cursor, CXCursorKind kind) {
    result.text = std::string(result_.text(result.extent));
    switch (kind) {
      case CXCursor_IntegerLiteral:
        result.kind = ExpressionKind::integer;
        result.value = constant_value(cursor);
        break;
      case CXCursor_FloatingLiteral:
        result.kind = ExpressionKind::floating;
        break;
      case CXCursor_DeclRefExpr:
        fill_name(result, cursor);
        break;
      case CXCursor_ArraySubscriptExpr:
        result.kind = ExpressionKind::subscript;
        result.operands = operands(cursor);
        break;
      case CXCursor_BinaryOperator:
      case CXCursor_CompoundAssignOperator:
        fill_binary(result, cursor);
        break;
      case CXCursor_UnaryOperator: {
        const CXUnaryOperatorKind op = api_.getCursorUnaryOperatorKind(cursor);
        result.kind = ExpressionKind::unary;
        result.text = take(api_.getUnaryOperatorKindSpelling(op));
        if (op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PostDec) result.text.insert(0, "p");
        result.operands = operands(cursor);
        break;
      }
      case CXCursor_CallExpr:
        fill_call(result, cursor);
        break;
      case CXCursor_CStyleCastExpr:
      case CXCursor_CXXStaticCastExpr:
      case CXCursor_CXXFunctionalCastExpr:
        result.operands = operands(cursor);
        if (result.operands.size() != 1) break;
        result.kind = ExpressionKind::cast;
        result.text = take(api_.getTypeSpelling(api_.getCursorType(cursor)));
        break;
      case CXCursor_ConditionalOperator:
        result.operands = operands(cursor);
        if (result.operands.size() == 3) result.kind = ExpressionKind::conditional;
        break;
      default:
        result.operands = operands(cursor);
        break;
    }
  }

  void fill_name(Expression& result, CXCursor cursor) {
    result.kind = ExpressionKind::name;
    const CXCursor declared = api_.getCursorReferenced(cursor);
    result.declaration = declaration_of(declared);
    if (api_.getCursorKind(declared) == CXCursor_EnumConstantDecl) {
      result.value = api_.getEnumConstantDeclValue(declared);
    } else if (api_.isConstQualifiedType(api_.getCursorType(declared)) != 0) {
      result.value = constant_value(cursor);
    }
  }

  void fill_binary(Expression& result, CXCursor cursor) {
    const CXBinaryOperatorKind op = api_.getCursorBinaryOperatorKind(cursor);
    result.operands = operands(cursor);
    if (op == CXBinaryOperator_Comma || result.operands.size() != 2) return;
    result.text = take(api_.getBinaryOperatorKindSpelling(op));
    const bool assigns = op >= CXBinaryOperator_Assign && op <= CXBinaryOperator_OrAssign;
    result.kind = assigns ? ExpressionKind::assign : ExpressionKind::binary;
    if (!assigns && result.type != "float" && result.type != "double") result.value = constant_value(cursor);
  }

  void fill_call(Expression& result, CXCursor cursor) {
    const CXCursor callee = api_.getCursorReferenced(cursor);
    const CXCursorKind callee_kind =
        api_.Cursor_isNull(callee) != 0 ? CXCursor_InvalidFile : api_.getCursorKind(callee);
    std::vector<CXCursor> inner = children(cursor);
    if (take(api_.getCursorSpelling(cursor)) == "operator[]" && inner.size() == 3) {
      result.kind = ExpressionKind::subscript;
      result.operands = {expression(inner[0]), expression(inner[2])};
      // libclang lists the operator's own name between or before its arguments.
      for (std::size_t i = 0; i < 3; ++i) {
        if (take(api_.getCursorSpelling(inner[i])) != "operator[]") continue;
        inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(i));
        result.operands = {expression(inner[0]), expression(inner[1])};
        break;
      }
      return;
    }
    if (callee_kind == CXCursor_Constructor || callee_kind == CXCursor_CXXMethod || inner.empty()) {
      if (inner.size() == 1 && callee_kind == CXCursor_Constructor) {
        result = expression(inner.front());
        return;
      }
      result.operands = operands(cursor);
      return;
    }
    result.kind = ExpressionKind::call;
    result.text = std::string(result_.text(extent(inner.front())));
    for (std::size_t i = 1; i < inner.size(); ++i) {
      if (api_.isExpression(api_.getCursorKind(inner[i])) != 0) result.operands.push_back(expression(inner[i]));
    }
  }

  std::vector<Expression> operands(CXCursor cursor) {
    std::vector<Expression> result;
    for (const CXCursor child : children(cursor)) {
      if (api_.isExpression(api_.getCursorKind(child)) != 0) result.push_back(expression(child));
    }
    return result;
  }

  // ---- statements

  Statement statement(CXCursor cursor) {
    Statement result;
    result.extent = extent(cursor);
    const CXCursorKind kind = api_.getCursorKind(cursor);
    const std::vector<CXCursor> inner = children(cursor);
    if (kind == CXCursor_CompoundStmt) {
      result.kind = StatementKind::block;
      for (const CXCursor child : inner) result.children.push_back(statement(child));
    } else if (kind == CXCursor_ForStmt) {
      read_loop(result, inner);
    } else if (kind == CXCursor_DeclStmt) {
      read_variables(result, inner);
    } else if (kind == CXCursor_IfStmt) {
      read_branch(result, inner);
    } else if (kind == CXCursor_ReturnStmt) {
      result.kind = StatementKind::return_value;
      if (!inner.empty()) result.expression = expression(inner.front());
    } else if (kind == CXCursor_NullStmt) {
      result.kind = StatementKind::block;
    } else if (api_.isExpression(kind) != 0) {
      result.kind = StatementKind::expression;
      result.expression = expression(cursor);
    } else {
      read_other(result, inner);
    }
    if (kind != CXCursor_CompoundStmt && kind != CXCursor_DeclStmt) {
      if (!result.children.empty()) result.extent.end = std::max(result.extent.end, result.children.back().extent.end);
      if (result.extent.end > 0 && result_.source[result.extent.end - 1] != ';' &&
          result_.source[result.extent.end - 1] != '}') {
        result.extent.end = past_semicolon(result_.source, result.extent.end);
      } else if (result.kind == StatementKind::expression) {
        result.extent.end = past_semicolon(result_.source, result.extent.end);
      }
    }
    return result;
  }

  /// A statement that is not modelled: what is inside it is kept, so that its effects can be found.
  void read_other(Statement& result, const std::vector<CXCursor>& inner) {
    result.expression = Expression{};
    result.expression->extent = result.extent;
    for (const CXCursor child : inner) {
      const CXCursorKind kind = api_.getCursorKind(child);
      if (api_.isExpression(kind) != 0) {
        result.expression->operands.push_back(expression(child));
      } else if (api_.isStatement(kind) != 0) {
        result.children.push_back(statement(child));
      }
    }
  }

  void read_branch(Statement& result, const std::vector<CXCursor>& inner) {
    if (inner.size() < 2 || inner.size() > 3 || api_.isExpression(api_.getCursorKind(inner[0])) == 0) {
      return read_other(result, inner);
    }
    result.kind = StatementKind::branch;
    result.expression = expression(inner[0]);
    for (std::size_t i = 1; i < inner.size(); ++i) result.children.push_back(statement(inner[i]));
  }

  void read_variables(Statement& result, const std::vector<CXCursor>& inner) {
    result.kind = StatementKind::declaration;
    for (const CXCursor child : inner) {
      if (api_.getCursorKind(child) != CXCursor_VarDecl) {
        result.kind = StatementKind::other;
        continue;
      }
      result.variables.push_back(variable(child));
    }
  }

  Variable variable(CXCursor cursor) {
    Variable result;
    result.name = take(api_.getCursorSpelling(cursor));
    result.declaration = declaration_of(cursor);
    CXType type = api_.getCursorType(cursor);
    result.constant = api_.isConstQualifiedType(type) != 0;
    result.is_static =
        api_.Cursor_getStorageClass(cursor) == CX_SC_Static || api_.getCursorTLSKind(cursor) != CXTLS_None;
    while (type.kind == CXType_ConstantArray || type.kind == CXType_VariableArray) {
      const std::string spelled = take(api_.getTypeSpelling(type));
      if (type.kind == CXType_ConstantArray) {
        result.dimensions.push_back(std::to_string(api_.getArraySize(type)));
      } else {
        const std::size_t open = spelled.find('[');
        result.dimensions.push_back(spelled.substr(open + 1, spelled.find(']') - open - 1));
      }
      type = api_.getArrayElementType(type);
    }
    result.type = take(api_.getTypeSpelling(type));
    const CXCursor initializer = api_.Cursor_getVarDeclInitializer(cursor);
    if (api_.Cursor_isNull(initializer) == 0) {
      // A default constructor is listed at the variable's own name: no initializer was written.
      const Extent place = extent(initializer);
      if (place.size() > 0 && static_cast<std::int64_t>(place.begin) != result.declaration) {
        result.initializer = expression(initializer);
      } else if (place.size() > result.name.size()) {
        result.initializer = expression(initializer);
        result.initializer->kind = ExpressionKind::other;
      }
    }
    return result;
  }

  void read_loop(Statement& result, const std::vector<CXCursor>& inner) {
    result.kind = StatementKind::loop;
    LoopHeader header;
    if (!inner.empty()) result.children.push_back(statement(inner.back()));
    const std::size_t close = header_end(result.extent.begin);
    header.extent = {result.extent.begin, close};
    if (inner.size() == 4) read_canonical(header, inner);
    result.loop = std::move(header);
  }

  std::size_t header_end(std::size_t begin) {
    const std::size_t open = result_.source.find('(', begin);
    if (open == std::string::npos) return begin;
    int depth = 0;
    for (std::size_t at = open; at < result_.source.size(); ++at) {
      if (result_.source[at] == '(') ++depth;
      if (result_.source[at] == ')' && --depth == 0) return at + 1;
    }
    return begin;
  }

  void read_canonical(LoopHeader& header, const std::vector<CXCursor>& inner) {
    const Statement start = statement(inner[0]);
    if (start.kind == StatementKind::declaration && start.variables.size() == 1) {
      const Variable& variable = start.variables.front();
      header.variable = variable.name;
      header.variable_type = variable.type;
      header.declaration = variable.declaration;
      header.begin = variable.initializer;
    } else if (start.expression && start.expression->kind == ExpressionKind::assign && start.expression->text == "=" &&
               start.expression->operands[0].kind == ExpressionKind::name) {
      header.variable = start.expression->operands[0].text;
      header.declaration = start.expression->operands[0].declaration;
      header.begin = start.expression->operands[1];
    } else {
      return;
    }
    const Expression condition = expression(inner[1]);
    const Expression increment = expression(inner[2]);
    if (condition.kind != ExpressionKind::binary || !is_variable(condition.operands[0], header)) return;
    if (condition.text != "<" && condition.text != "<=" && condition.text != "!=") return;
    header.end = condition.operands[1];
    header.inclusive = condition.text == "<=";
    if (increment.kind == ExpressionKind::unary && (increment.text == "++" || increment.text == "p++")) {
      header.canonical = is_variable(increment.operands[0], header);
    } else if (increment.kind == ExpressionKind::assign && increment.text == "+=" && increment.operands[1].value &&
               *increment.operands[1].value > 0) {
      header.step = *increment.operands[1].value;
      header.canonical = is_variable(increment.operands[0], header) && condition.text != "!=";
    }
    header.canonical = header.canonical && header.begin.has_value();
  }

  static bool is_variable(const Expression& expression, const LoopHeader& header) {
    return expression.kind == ExpressionKind::name && expression.declaration == header.declaration &&
           expression.text == header.variable;
  }

  // ---- functions

  void read_declarations(CXCursor parent) {
    for (const CXCursor child : children(parent)) {
      if (offset(api_.getCursorLocation(child), api_.getExpansionLocation) < 0) continue;
      const CXCursorKind kind = api_.getCursorKind(child);
      if (kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate || kind == CXCursor_CXXMethod) {
        if (api_.isCursorDefinition(child) != 0) read_function(child, kind);
      } else if (kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl || kind == CXCursor_Namespace ||
                 kind == CXCursor_StructDecl || kind == CXCursor_ClassDecl) {
        read_declarations(child);
      }
    }
  }

  /// Where it belongs, which may be elsewhere than where it stands.
  std::string scope_of(CXCursor cursor) {
    std::string scope;
    for (CXCursor parent = api_.getCursorSemanticParent(cursor);
         api_.Cursor_isNull(parent) == 0 && api_.getCursorKind(parent) != CXCursor_TranslationUnit;
         parent = api_.getCursorSemanticParent(parent)) {
      const std::string name = take(api_.getCursorSpelling(parent));
      if (!name.empty() && name.front() != '(') scope.insert(0, name + "::");
    }
    return scope;
  }

  void read_function(CXCursor cursor, CXCursorKind cursor_kind) {
    Function function;
    function.name = take(api_.getCursorSpelling(cursor));
    function.scope = scope_of(cursor);
    if (cursor_kind == CXCursor_CXXMethod) {
      function.kind = api_.CXXMethod_isStatic(cursor) != 0 ? FunctionKind::static_member : FunctionKind::member;
    }
    const CXType result = api_.getCursorResultType(cursor);
    function.return_type = take(api_.getTypeSpelling(result));
    function.return_value_type = without_const(take(api_.getTypeSpelling(api_.getCanonicalType(result))));
    function.extent = extent(cursor);
    for (const CXCursor child : children(cursor)) {
      const CXCursorKind kind = api_.getCursorKind(child);
      if (kind == CXCursor_ParmDecl) function.parameters.push_back(parameter(child));
      if (kind == CXCursor_CompoundStmt) {
        function.block = statement(child);
        function.body = function.block.extent;
      }
    }
    collect_names(cursor, function);
    mark_modified_loops(function.block);
    auto& all = function.kind == FunctionKind::plain ? result_.functions : result_.members;
    all.push_back(std::move(function));
  }

  Parameter parameter(CXCursor cursor) {
    Parameter result;
    result.name = take(api_.getCursorSpelling(cursor));
    result.extent = extent(cursor);
    result.declaration = declaration_of(cursor);
    CXType type = api_.getCursorType(cursor);
    result.type = take(api_.getTypeSpelling(type));
    type = api_.getCanonicalType(type);
    result.is_restrict = api_.isRestrictQualifiedType(type) != 0;
    while (type.kind == CXType_Pointer || type.kind == CXType_IncompleteArray || type.kind == CXType_ConstantArray ||
           type.kind == CXType_VariableArray) {
      type = type.kind == CXType_Pointer ? api_.getPointeeType(type) : api_.getArrayElementType(type);
      ++result.pointer_depth;
    }
    result.is_const = api_.isConstQualifiedType(type) != 0;
    result.value_type = without_const(take(api_.getTypeSpelling(type)));
    return result;
  }

  struct NameVisit {
    Reader* reader;
    Function* function;
  };

  void collect_names(CXCursor cursor, Function& function) {
    NameVisit visit{this, &function};
    api_.visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
          static_cast<NameVisit*>(data)->reader->collect_name(child, *static_cast<NameVisit*>(data)->function);
          return CXChildVisit_Recurse;
        },
        &visit);
    std::sort(function.names.begin(), function.names.end(),
              [](const NameUse& a, const NameUse& b) { return a.extent.begin < b.extent.begin; });
    function.names.erase(
        std::unique(function.names.begin(), function.names.end(),
                    [](const NameUse& a, const NameUse& b) { return a.extent == b.extent && a.name == b.name; }),
        function.names.end());
  }

  void collect_name(CXCursor cursor, Function& function) {
    if (api_.getCursorKind(cursor) == CXCursor_ReturnStmt) ++function.returns;
    if (api_.getCursorKind(cursor) != CXCursor_DeclRefExpr) return;
    const CXCursor declared = api_.getCursorReferenced(cursor);
    const NameUse use{take(api_.getCursorSpelling(cursor)), declaration_of(declared),
                      extent(cursor, api_.getFileLocation)};
    if (use.extent.size() > 0) function.names.push_back(use);
    const CXCursorKind kind = api_.Cursor_isNull(declared) != 0 ? CXCursor_InvalidFile : api_.getCursorKind(declared);
    if ((kind == CXCursor_FunctionDecl || kind == CXCursor_FunctionTemplate) && use.declaration >= 0 &&
        use.name != function.name &&
        std::find(function.helpers.begin(), function.helpers.end(), use.name) == function.helpers.end()) {
      function.helpers.push_back(use.name);
    }
  }

  void read_diagnostics() {
    for (unsigned i = 0; i < api_.getNumDiagnostics(unit_); ++i) {
      CXDiagnostic diagnostic = api_.getDiagnostic(unit_, i);
      if (api_.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
        CXFile file = nullptr;
        unsigned line = 0;
        unsigned column = 0;
        api_.getExpansionLocation(api_.getDiagnosticLocation(diagnostic), &file, &line, &column, nullptr);
        if (is_main(file)) {
          result_.errors.push_back(
              {static_cast<int>(line), static_cast<int>(column), take(api_.getDiagnosticSpelling(diagnostic))});
        }
      }
      api_.disposeDiagnostic(diagnostic);
    }
  }

  const Api& api_;
  CXTranslationUnit unit_;
  std::string file_name_;
  Unit& result_;
};

/// What the headers of the source depend on: equal beginnings are read once.
std::string beginning_of(const ParseInput& input, const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& argument : arguments) out += argument + '\0';
  for (const HeaderFile& header : input.headers) out += header.name + '\0' + header.text + '\0';
  out += input.before + '\0';
  const std::vector<Include> includes = includes_of(input.source);
  return out + (includes.empty() ? std::string() : input.source.substr(0, includes.back().line.end));
}

}  // namespace

Result<Unit> parse(const Clang& clang, const ParseInput& input) {
  TRY_ASSIGN(std::vector<std::string> arguments, arguments_of(clang, input));
  TRY_ASSIGN(const Api api, Api::bind(clang));
  const std::string folder(kOpenFiles);
  const std::string name = clang.preambles().file_name();
  std::vector<HeaderFile> headers = input.headers;
  if (!input.before.empty()) {
    headers.push_back({"accelopt_before.h", input.before});
    arguments.insert(arguments.end(), {"-include", folder + headers.back().name});
  }
  std::vector<const char*> argument_pointers;
  for (const std::string& argument : arguments) argument_pointers.push_back(argument.c_str());

  std::vector<std::string> names = {name};
  for (const HeaderFile& header : headers) names.push_back(folder + header.name);
  std::vector<CXUnsavedFile> files = {{names[0].c_str(), input.source.c_str(), input.source.size()}};
  for (std::size_t i = 0; i < headers.size(); ++i) {
    files.push_back({names[i + 1].c_str(), headers[i].text.c_str(), headers[i].text.size()});
  }
  Unit result;
  result.source = input.source;
  result.language = input.language;
  TRY(clang.preambles().translate(api, beginning_of(input, arguments), {argument_pointers, files},
                                  [&](CXTranslationUnit unit) { Reader(api, unit, name, result).read(); }));
  return result;
}

}  // namespace accelopt::syntax
