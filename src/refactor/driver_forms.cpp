// SPDX-License-Identifier: Apache-2.0
#include "refactor/driver_forms.hpp"

#include <algorithm>

#include "refactor/driver_templates.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::string_view kPythonGenerator =
    R"(cases = ["python3", "{task}/cases.py", "{workload}", "{seed}", "{size}", "{count}", "{out}"])";
constexpr std::string_view kBuiltDriver = R"(run = ["./accelopt-driver", "{cases}", "{results}"])";

/// The text of a file of drivers/.
std::string template_text(std::string_view name) {
  return std::string(std::ranges::find(driver_templates(), name, &DriverTemplate::name)->text);
}

DriverForm script_form(std::string_view build, std::string_view built) {
  std::string driver = with_words(template_text("script/driver.mjs"), {{"{built}", std::string(built)}});
  return {build,
          R"(cases = ["node", "{task}/cases.mjs", "{workload}", "{seed}", "{size}", "{count}", "{out}"])",
          R"(run = ["node", "{task}/driver.mjs", "{cases}", "{results}"])",
          {{"cases.mjs", template_text("script/cases.mjs")}, {"driver.mjs", std::move(driver)}}};
}

DriverForm built_form(std::string_view build, const std::string& driver) {
  return {build,
          kPythonGenerator,
          kBuiltDriver,
          {{"cases.py", template_text("built/cases.py")}, {driver, template_text("built/" + driver)}}};
}

}  // namespace

std::string with_words(std::string text, const Words& words) {
  for (const auto& [word, value] : words) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + value.size()))
      text.replace(at, word.size(), value);
  }
  return text;
}

DriverForm form_of(const CodeLanguage& language) {
  if (language.form == FunctionForm::indentation) {
    return {"# build = [\"make\"]",
            kPythonGenerator,
            R"(run = ["python3", "{task}/driver.py", "{cases}", "{results}"])",
            {{"cases.py", template_text("python/cases.py")}, {"driver.py", template_text("python/driver.py")}}};
  }
  if (language.name == "javascript") return script_form("# build = [\"npm\", \"run\", \"build\"]", "{path}");
  if (language.name == "typescript") {
    return script_form(R"(build = ["tsc", "--outDir", "accelopt-built", "{path}"]   # TODO: check)",
                       "accelopt-built/{file}.js");
  }
  if (language.name == "c") {
    return built_form(
        R"(build = ["cc", "-O2", "-I.", "-o", "accelopt-driver", "{task}/driver.c", "{path}"]   # TODO: check)",
        "driver.c");
  }
  if (language.name == "c++") {
    return built_form(
        R"(build = ["c++", "-std=c++17", "-O2", "-I.", "-o", "accelopt-driver", "{task}/driver.cpp", "{path}"]   # TODO: check)",
        "driver.cpp");
  }
  if (language.name == "go") {
    return built_form(R"(build = ["go", "build", "-o", "accelopt-driver", "{task}/driver.go"])", "driver.go");
  }
  if (language.name == "rust") {
    return built_form(
        R"(build = ["sh", "-c", "rustc -O --crate-type rlib --crate-name subject -o libsubject.rlib src/lib.rs && )"
        R"(rustc -O --extern subject=libsubject.rlib -o accelopt-driver {task}/driver.rs"]   # TODO: check)",
        "driver.rs");
  }
  return {"# build = [\"make\"]",
          "cases = [\"?\"]   # with {workload} {seed} {size} {count} {out}",
          "run = [\"?\"]     # with {cases} {results}",
          {}};
}

}  // namespace accelopt::refactor
