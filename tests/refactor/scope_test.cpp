// SPDX-License-Identifier: Apache-2.0
#include "refactor/scope.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace accelopt::refactor {
namespace {

const std::string kBefore = "import os\n\n\ndef f(x):\n    return x\n\n\ndef g():\n    return 2\n";

Task task_of(const std::string& scope) {
  Task task;
  task.folder = task.repository = "/nowhere";
  task.language.form = FunctionForm::indentation;
  const std::size_t mark = scope.find('#');
  task.scope = {{scope.substr(0, mark), mark == scope.npos ? "" : scope.substr(mark + 1)}};
  task.protected_paths = {"tests/**"};
  return task;
}

ChangedFile change(const std::string& after, const std::string& path = "a/m.py") {
  return {path, vcs::EntryKind::file, vcs::EntryKind::file, kBefore, after};
}

std::string problems(const ChangedFile& file, const std::string& scope = "a/m.py#f") {
  return base::joined(scope_violations(task_of(scope), {file}), "; ");
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Scope, BodyOfTheFunction_MayChange) {
  EXPECT_EQ(problems(change(replaced(kBefore, "return x", "y = x\n    return y"))), "");
}

TEST(Scope, CommentsAtTheEndOfTheFunction_MayGoAndCome) {
  const std::string comment = "return x\n    # a sum would do";
  EXPECT_EQ(problems(change(replaced(kBefore, "return x", comment))), "");
  ChangedFile file = change(kBefore);
  file.before = replaced(kBefore, "return x", comment);
  EXPECT_EQ(problems(file), "");
  EXPECT_NE(problems(change(replaced(kBefore, "return x", "return x\n# a sum would do"))), "") << "the module's own";
}

TEST(Scope, Import_MayBeAdded) {
  EXPECT_EQ(problems(change("from collections import deque\n" + replaced(kBefore, "return x", "return 1 * x"))), "");
}

TEST(Scope, ImportsOfOtherLanguages_MayBeAdded) {
  struct Case {
    std::string path, before, import, code;
  };
  const std::vector<Case> cases{
      {"m.js", "function f(x) {\n  return x;\n}\n", "import { a } from \"node:a\";", "const b = evil();"},
      {"m.c", "int f(int x) {\n  return x;\n}\n", "#include <string.h>", "#define return exit(0);"},
      {"m.go", "package m\n\nfunc f(x int) int {\n\treturn x\n}\n", "import \"slices\"", "var b = evil()"},
      {"m.rs", "fn f(x: i32) -> i32 {\n    x\n}\n", "use std::fmt;", "static B: i32 = 1;"}};
  for (const Case& one : cases) {
    Task task = task_of(one.path + "#f");
    task.language = *language_of_file(one.path);
    const std::size_t at = one.before.starts_with("package") ? one.before.find('\n') + 1 : 0;
    const auto with = [&](const std::string& line) {
      std::string after = one.before;
      after.insert(at, line + "\n");
      return base::joined(
          scope_violations(task, {{one.path, vcs::EntryKind::file, vcs::EntryKind::file, one.before, after}}), "; ");
    };
    EXPECT_EQ(with(one.import), "") << one.path;
    EXPECT_NE(with(one.code).find("code outside of f"), std::string::npos) << one.path;
    // What a model wrote must not take the stack with it.
    EXPECT_NE(with(one.import + std::string(1 << 20, 'a')), "") << one.path;
    EXPECT_NE(with("import " + std::string(1 << 20, 'a')), "") << one.path;
  }
}

TEST(Scope, ImportOfANameThatOthersUse_IsRefused) {
  const std::string before =
      "import os\nfrom math import sqrt\n\n\ndef f(x):\n    return x\n\n\ndef g(words):\n"
      "    # a heap\n    \"\"\"Asks bisect.\"\"\"\n    return len(words), os.path.join(f'{sep}'), self.deque\n";
  const auto with = [&](const std::string& line, const std::string& place = "\n\n\ndef f") {
    ChangedFile file = change(before);
    file.before = before;
    file.after = replaced(before, place, "\n" + line + place);
    return problems(file);
  };
  for (const char* line : {"from heapq import merge, heappush", "import heap, bisect", "from collections import deque",
                           "import os.path", "import numpy as np  # fast"})
    EXPECT_EQ(with(line), "") << line;
  EXPECT_NE(with("from builtins import print as g").find("binds g, which code outside of the scope uses"),
            std::string::npos);
  for (const char* line : {"from a import b as len", "import sep", "import a as sqrt", "from a import x, words",
                           "import a as os", "from a import __getattr__"})
    EXPECT_NE(with(line).find("binds "), std::string::npos) << line;
  for (const char* line : {"from a import *", "from __future__ import annotations"})
    EXPECT_NE(with(line).find("changes more than"), std::string::npos) << line;
  EXPECT_NE(with("from a import x as \xef\xbd\x87"), "") << "a wide g, which Python reads as g";
  ChangedFile moved = change(before);
  moved.before = before;
  moved.after = replaced(before, "from math import sqrt\n", "") + "from math import sqrt\n";
  EXPECT_NE(problems(moved).find("removed or moved"), std::string::npos);
}

TEST(Scope, ImportWithinOrBehindOtherCode_IsRefused) {
  struct Case {
    std::string path, before, at_top, elsewhere, place;
  };
  const std::vector<Case> cases{
      {"m.js", "function g() {\n  return helper(Math.max(1), `${util}`);\n}\nfunction f(x) {\n  return x;\n}\n",
       "import { max, b as c } from \"node:a\";", "const other = require(\"node:util\");", "  return helper"},
      {"m.rs", "fn g() -> i32 {\n    let v: Vec<i32> = a::b();\n}\nfn f(x: i32) -> i32 {\n    x\n}\n",
       "use std::b::{self as c, d};", "use std::fmt;", "    let v"},
      {"m.c", "int g(void) {\n  return 1;\n}\nint f(int x) {\n  return x;\n}\n", "#include <string.h>",
       "#include \"g.inc\"", "int f"}};
  for (const Case& one : cases) {
    Task task = task_of(one.path + "#f");
    task.language = *language_of_file(one.path);
    const auto with = [&](const std::string& line, const std::string& place) {
      std::string after = one.before;
      after.insert(after.find(place), line + "\n");
      return base::joined(
          scope_violations(task, {{one.path, vcs::EntryKind::file, vcs::EntryKind::file, one.before, after}}), "; ");
    };
    const std::string top = one.before.substr(0, 4);
    EXPECT_EQ(with(one.at_top, top), "") << one.path;
    EXPECT_NE(with(one.elsewhere, one.place), "") << one.path;
    if (one.path == "m.js") {
      for (const char* line : {"const helper = require(\"node:util\");", "import * as Math from \"a\";",
                               "import { a as util } from \"a\";", "import g from 'a'"})
        EXPECT_NE(with(line, top).find("binds "), std::string::npos) << line;
    }
    if (one.path == "m.rs") {
      EXPECT_NE(with("use evil::{a, Vec};", top).find("binds Vec"), std::string::npos);
      EXPECT_NE(with("use evil::*;", top).find("changes more"), std::string::npos);
    }
  }
}

TEST(Scope, OtherFunction_IsRefused) {
  EXPECT_NE(problems(change(replaced(kBefore, "return 2", "return 3"))).find("code outside of f"), std::string::npos);
}

TEST(Scope, CodeOfTheModule_IsRefused) {
  EXPECT_NE(problems(change("TABLE = [1]\n" + kBefore)).find("code outside of f"), std::string::npos);
  EXPECT_NE(problems(change("import os; TABLE = 1\n" + kBefore)).find("code outside of f"), std::string::npos);
}

TEST(Scope, SignatureAndRemoval_AreRefused) {
  EXPECT_NE(problems(change(replaced(kBefore, "f(x)", "f(x, y=1)"))).find("signature of f"), std::string::npos);
  EXPECT_NE(problems(change(replaced(kBefore, "def f(", "def h("))).find("not there any more"), std::string::npos);
  EXPECT_NE(problems(change(replaced(kBefore, "import os\n", ""))).find("import was removed"), std::string::npos);
}

TEST(Scope, DecoratorsThatComeGoOrChange_AreRefused) {
  const std::string counted = "@counted\n@limited(\n    3)\ndef f(";
  const auto with = [&](const std::string& before, const std::string& after) {
    ChangedFile file = change(replaced(kBefore, "def f(", after));
    file.before = replaced(kBefore, "def f(", before);
    return problems(file);
  };
  for (const char* after : {"@functools.lru_cache(maxsize=None)\ndef f(", "@counted\n@limited(\n    4)\ndef f(",
                            "@limited(\n    3)\ndef f(", "@counted\n@cache\n@limited(\n    3)\ndef f("})
    EXPECT_NE(with(counted, after).find("the decorators of f were changed"), std::string::npos) << after;
  EXPECT_NE(with("def f(", "@cache\ndef f("), "");
  EXPECT_NE(with(counted, "def f("), "");
  EXPECT_NE(with(counted, "@cache\n# of the other\n" + counted).find("code outside of f"), std::string::npos);
  ChangedFile body = change(replaced(replaced(kBefore, "def f(", counted), "return x", "return 1 * x"));
  body.before = replaced(kBefore, "def f(", counted);
  EXPECT_EQ(problems(body), "");
}

TEST(Scope, WholeFile_MayChangeAnywhere) {
  EXPECT_EQ(problems(change("TABLE = [1]\n" + kBefore), "a/m.py"), "");
}

TEST(Scope, PathsOutside_AreRefusedByName) {
  EXPECT_NE(problems(change("x\n", "b.py")).find("outside of the scope"), std::string::npos);
  EXPECT_NE(problems(change("x\n", "tests/test_m.py")).find("protected (tests/**)"), std::string::npos);
  EXPECT_NE(problems(change("x\n", ".gitattributes")).find("protected (.git*)"), std::string::npos);
  EXPECT_NE(problems(change("x\n", "sub/conftest.py")).find("protected (**/conftest.py)"), std::string::npos);
}

TEST(Scope, KindsOfFiles_AreHeld) {
  ChangedFile file = change(kBefore);
  file.kind_after = vcs::EntryKind::link;
  EXPECT_NE(problems(file).find("symbolic link"), std::string::npos);
  file.kind_after = vcs::EntryKind::executable;
  EXPECT_NE(problems(file).find("mode was changed"), std::string::npos);
  file.kind_after.reset();
  EXPECT_NE(problems(file).find("was removed"), std::string::npos);
}

TEST(Scope, HiddenText_IsRefused) {
  const auto with = [&](const std::string& text) { return problems(change(replaced(kBefore, "return x", text))); };
  EXPECT_NE(with("return x  # \xe2\x80\xae").find("direction of writing"), std::string::npos);
  EXPECT_NE(with("return x  # \xe2\x80\x8b").find("invisible"), std::string::npos);
  EXPECT_NE(with(std::string("return x  # \0", 13)).find("binary"), std::string::npos);
  EXPECT_NE(with("return 'AKIAABCDEFGHIJKLMNOP'").find("secret key"), std::string::npos);
  EXPECT_NE(with("return 'sk-abcdefghijklmnopqrstuvwx'").find("secret key"), std::string::npos);
  EXPECT_EQ(with("return 'task-scheduler-worker-thread-name'"), "");
  for (const char* key : {"a\\nsk-abcdefghijklmnopqrstuvwx", "a\\n-----BEGIN RSA PRIVATE KEY-----",
                          "token_ghp_abcdefghijklmnopqrstuvwxyzABCDEF"}) {
    EXPECT_NE(with("return '" + std::string(key) + "'").find("secret key"), std::string::npos) << key;
  }
  EXPECT_NE(with("return x  # done\rg = f").find("carriage return"), std::string::npos) << "Python ends a line there";
  EXPECT_EQ(with("return x  # done\r"), "") << "before a line feed it belongs to the line's end";
}

TEST(Scope, SizeLimits_AreHeld) {
  std::string long_body;
  for (int i = 0; i < 301; ++i) long_body += "    x += 1\n";
  EXPECT_NE(
      problems(change(replaced(kBefore, "    return x\n", long_body + "    return x\n"))).find("limits.patch_lines"),
      std::string::npos);
  EXPECT_EQ(base::joined(scope_violations(task_of("a/m.py"), {}), ""), "nothing was changed");
}

}  // namespace
}  // namespace accelopt::refactor
