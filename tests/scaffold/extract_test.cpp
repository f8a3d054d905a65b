// SPDX-License-Identifier: Apache-2.0
#include "scaffold/extract.hpp"

#include <gtest/gtest.h>

#include "scaffold/programs.hpp"
#include "scaffold/reach.hpp"
#include "scaffold/real_source.hpp"
#include "scaffold/reduction.hpp"
#include "scaffold/words.hpp"

namespace accelopt::scaffold {
namespace {

using model::Language;

TEST(Words, StandInCodeAndMacrosOnly) {
  const std::string source =
      "#include <K.h>\n#define T (K/2) \\\n + K\nint a = K; // K\nconst char* s = \"K\"; p->K = o.K;\n";
  int plain = 0;
  int qualified = 0;
  for (const Word& word : words(source)) {
    if (word.text != "K") continue;
    ++(word.is_qualified ? qualified : plain);
    EXPECT_EQ(source.substr(word.offset, 1), "K");
  }
  EXPECT_EQ(plain, 3);
  EXPECT_EQ(qualified, 2);
  EXPECT_EQ(
      change_words("K + KK",
                   [](const Word& word) { return word.text == "K" ? std::optional<std::string>("8") : std::nullopt; }),
      "8 + KK");
}

TEST(Chunks, SplitAFile) {
  const auto chunks = top_level_chunks(
      "#include <a>\n#define B 1\nnamespace n {\nint x = f(1);\nstruct S { int a; };\n"
      "extern \"C\" void g(int a) { if (a) { } }\n}\nint t[] = {1, 2};\n");
  std::vector<Chunk::Kind> kinds;
  for (const Chunk& chunk : chunks) kinds.push_back(chunk.kind);
  using Kind = Chunk::Kind;
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::include, Kind::define, Kind::opening, Kind::declaration, Kind::declaration,
                                      Kind::function, Kind::closing, Kind::declaration}));
}

TEST(Chunks, EndWhereAConditionalAroundTheirBeginEnds) {
  const std::string source =
      "#if defined(__GNUC__)\n__attribute__((cold))\n#endif\nvoid f() {\n#ifdef A\n#endif\n}\n"
      "S& S::operator=(const S& s) { return *this; }\nint x;\n";
  const std::vector<Chunk> chunks = top_level_chunks(source);
  std::vector<Chunk::Kind> kinds;
  for (const Chunk& chunk : chunks) kinds.push_back(chunk.kind);
  using Kind = Chunk::Kind;
  ASSERT_EQ(kinds, (std::vector<Kind>{Kind::preprocessor, Kind::prefix, Kind::preprocessor, Kind::function,
                                      Kind::function, Kind::declaration}));
  EXPECT_EQ(begin_with_prefixes(chunks, 3), 0U);
  EXPECT_EQ(begin_with_prefixes(chunks, 4), chunks[4].extent.begin);
}

TEST(Words, CommentsGoWithTheirLines) {
  EXPECT_EQ(without_comments(
                "/* Licence\n * of all. */\n#define A 1  // one\nchar c = '\"', *s = \"//\"; /* x */ int y = 1'000;\n"),
            "#define A 1\nchar c = '\"', *s = \"//\";   int y = 1'000;\n");
}

TEST(NamesDeclaredBy, AreThoseThatOthersUse) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_declared_by("typedef struct { char* text; int id; } Token;"), Names{"Token"});
  EXPECT_EQ(names_declared_by("typedef struct Tag { int a; } Name, *Pointer;"), (Names{"Tag", "Name", "Pointer"}));
  EXPECT_EQ(names_declared_by("enum class Kind : int { one, two = 2 };"), (Names{"Kind", "one", "two"}));
  EXPECT_EQ(names_declared_by("static const float a[N] = {1, 2}, b = f(3);"), (Names{"a", "b"}));
  EXPECT_EQ(names_declared_by("extern int (*const run[4])(int count);"), Names{"run"});
  EXPECT_EQ(names_declared_by("typedef float Vector __attribute__((vector_size(16)));"), Names{"Vector"});
  EXPECT_EQ(names_declared_by("template <class T> struct Pair<T, int> : Base<T> { T a; };"), Names{"Pair"});
  EXPECT_EQ(names_declared_by("Vector operator+(Vector a, Vector b);"), Names{"operator"});
}

TEST(RealSource, ReplacesTypesLiteralsAndFunctions) {
  EXPECT_EQ(over_real("float y = sqrtf(2.0f) + x.sinf + 1e-3 + 7 + 0x1F; double z;", Language::cpp).source,
            "#include <cmath>\nreal y = std::sqrt(real(2.0f)) + x.sin + real(1e-3) + 7 + 0x1F; real z;");
  EXPECT_EQ(over_real("float y = expf(1.f);", Language::c).source, "#include <tgmath.h>\nreal y = exp(((real)1.f));");
  EXPECT_EQ(over_real("double s = 1e-3 * x; float y = s + 0.5f; long double z;", Language::cpp, Doubles::stay).source,
            "double s = 1e-3 * x; real y = s + real(0.5f); long double z;");
  EXPECT_EQ(over_real("long double z; double w;", Language::cpp).source, "long double z; real w;");
  EXPECT_FALSE(over_real("__m256 v = _mm256_setzero_ps();", Language::cpp).vector_names.empty());
}

TEST(Reach, VectorsOfOtherFunctions_AreNotTheFunctions) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto unit = read_unit(*clang,
                              "typedef float quad __attribute__((vector_size(16)));\n"
                              "#define TWICE(a) ((quad)((a) + (a)))\n"
                              "struct Pair { float a; float b; };\n"
                              "static float total(quad v);\n"
                              "static float total(float v) { return v; }\n"
                              "static float total(quad v) { return v[0]; }\n"
                              "void plain(const float* x, float* y) { Pair p{x[0], x[1]}; y[0] = total(p.a); }\n"
                              "void wide(const quad* x, float* y) { y[0] = total(TWICE(x[0])); }\n",
                              Language::cpp);
  ASSERT_TRUE(unit.has_value() && unit->errors.empty());
  const auto vectors = [&](const char* function) {
    return over_real(reached_text(*unit, *unit->find(function)), Language::cpp).vector_names;
  };
  EXPECT_TRUE(vectors("plain").empty());
  EXPECT_FALSE(vectors("wide").empty());
  const std::string reached = reached_text(*unit, *unit->find("plain"));
  EXPECT_NE(reached.find("struct Pair"), std::string::npos);
  EXPECT_NE(reached.find("total(float v)"), std::string::npos);
}

TEST(Extract, KeepsWhatTheFunctionNeeds) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto extract = extract_function(*clang, kUserProgram, Language::cpp, "rms_product", {"/nonexistent", {}});
  ASSERT_TRUE(extract.has_value()) << extract.error().message;
  for (const char* kept :
       {"square", "constexpr int K = 48;", "#define N 40", "<cmath>", "rms_product", "/// Row-wise"}) {
    EXPECT_NE(extract->source.find(kept), std::string::npos) << kept << "\n" << extract->source;
  }
  for (const char* gone : {"main", "calls", "count_call", "Counts calls", "UNUSED_MACRO", "settings.h", "<clocale>",
                           "<cstdio>", "host code"}) {
    EXPECT_EQ(extract->source.find(gone), std::string::npos) << gone << "\n" << extract->source;
  }
  EXPECT_EQ(extract->notes.size(), 1U);  // settings.h is not there
}

TEST(Extract, PutsTheUsersHeadersIn) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("a.cpp", "");
  repository.write("src/sizes.h", "#pragma once\nconstexpr int kSize = 12;\nconstexpr int kOther = 3;\n");
  const auto extract =
      extract_function(*clang, "#include \"sizes.h\"\nvoid f(float* y) { for (int i = 0; i < kSize; ++i) y[i] = 1; }\n",
                       Language::cpp, "f", {repository.path() / "src", {}});
  ASSERT_TRUE(extract.has_value());
  EXPECT_NE(extract->source.find("kSize = 12"), std::string::npos);
  EXPECT_EQ(extract->source.find("kOther"), std::string::npos);
  EXPECT_EQ(extract->source.find("#include"), std::string::npos);
  EXPECT_TRUE(extract->notes.empty());
}

TEST(Extract, LeavesNoEmptyBlocks) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto extract = extract_function(
      *clang,
      "namespace a { namespace { int unused() { return 1; }\n}  // namespace\n}\nvoid f(float* y) { *y = 1; }\n",
      Language::cpp, "f", {"/nonexistent", {}});
  ASSERT_TRUE(extract.has_value());
  EXPECT_EQ(extract->source, "void f(float* y) { *y = 1; }\n");
}

TEST(Extract, LeavesOutACallerBelowAFileThatBeginsWithAnInclude) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto extract = extract_function(
      *clang,
      "#include <cstdio>\nvoid f(float* y) { *y = 1; }\nint main() { float y; f(&y); std::printf(\"%f\", y); }\n",
      Language::cpp, "f", {"/nonexistent", {}});
  ASSERT_TRUE(extract.has_value());
  EXPECT_EQ(extract->source, "void f(float* y) { *y = 1; }\n\n");
}

TEST(Extract, LeavesOutWhatTheFunctionDoesNotReach) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string scale =
      "void scale(float* o, float* x, int n) { for (int i = 0; i < n; i++) o[i] = GAIN * x[i]; }\n";
  const auto extract = extract_function(
      *clang,
      "#ifndef NO_PNG\n#define WITH_PNG\n#endif\n#define GAIN 2.0f\n#ifdef WITH_PNG\n/* Of PNG. */\n#define DEPTH 8\n"
      "int depth(void) { return DEPTH; }\n#endif\n" +
          scale +
          "typedef struct { char* text; int id; } Token;  // of the text\ntypedef struct { int a; } Other;\n"
          "void twice(float* o, float* x, int n) { scale(o, x, n); scale(o, o, n); }\n"
          "int use(Token* t, Other* o) { twice(0, 0, 0); return t->id + o->a + depth(); }\n",
      Language::c, "scale", {"/nonexistent", {}});
  ASSERT_TRUE(extract.has_value()) << extract.error().message;
  EXPECT_EQ(extract->source, "#define GAIN 2.0f\n\n" + scale + "\n");
}

TEST(Extract, AVariableNamedLikeACaller_IsNoCall) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const std::string own =
      "unsigned my_crc(unsigned start, const unsigned char* p, int n) {\n"
      "  unsigned crc = ~start;\n  for (int i = 0; i < n; ++i) crc ^= p[i];\n  return ~crc;\n}\n";
  const auto extract = extract_function(*clang,
                                        "unsigned my_crc(unsigned start, const unsigned char* p, int n);\n"
                                        "static unsigned crc(const unsigned char* p) { return my_crc(0, p, 1); }\n" +
                                            own + "unsigned one(const unsigned char* p) { return crc(p); }\n",
                                        Language::c, "my_crc", {"/nonexistent", {}});
  ASSERT_TRUE(extract.has_value()) << extract.error().message;
  EXPECT_NE(extract->source.find(own), std::string::npos) << extract->source;
  EXPECT_EQ(extract->source.find("crc(const unsigned char* p)"), std::string::npos) << extract->source;
}

TEST(Extract, LeavesOutAnAttributeInAConditional) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto extract = extract_function(*clang,
                                        "int before;\n// Twice.\n#if defined(__GNUC__) && !defined(__clang__)\n"
                                        "__attribute__((optimize(\"no-finite-math-only\")))\n#endif\n"
                                        "void f(float* y) { *y *= 2; }\n",
                                        Language::c, "f", {"/nonexistent", {}});
  ASSERT_TRUE(extract.has_value()) << extract.error().message;
  EXPECT_EQ(extract->source, "// Twice.\n\nvoid f(float* y) { *y *= 2; }\n");
  ASSERT_EQ(extract->notes.size(), 1U);
  EXPECT_NE(extract->notes[0].find("f has __attribute__((optimize(\"no-finite-math-only\")))"), std::string::npos)
      << extract->notes[0];
}

TEST(Extract, HeadersBringNeitherGuardsNorComments) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const Repository repository("a.c", "");
  repository.write("src/gain.h",
                   "/* Licence. */\n#ifndef GAIN_H\n#define GAIN_H\n"
                   "static inline float gained(float v) { return 3 * v; /* thrice */ }\n#endif\n");
  const std::string f = "void f(float* y) { *y = gained(*y); }\n";
  const auto extract =
      extract_function(*clang, "#include \"gain.h\"\n" + f, Language::c, "f", {repository.path() / "src", {}});
  ASSERT_TRUE(extract.has_value()) << extract.error().message;
  EXPECT_EQ(extract->source, "static inline float gained(float v) { return 3 * v;   }\n\n" + f);
}

TEST(Extract, RefusesWhatIsNoPlainFunction) {
  const auto clang = load_clang();
  if (!clang) GTEST_SKIP() << "libclang is not installed";
  const auto code = [&](const std::string& source) {
    const auto extract = extract_function(*clang, source, Language::cpp, "f", {"/nonexistent", {}});
    return extract ? base::ErrorCode::internal : extract.error().code;
  };
  EXPECT_EQ(code("template <class T> void f(T* y) { *y = 1; }"), base::ErrorCode::unsupported);
  EXPECT_EQ(code("struct S { void f(float* y) { *y = 1; } };"), base::ErrorCode::unsupported);
  EXPECT_EQ(code("void f(float* y) { *y = 1; } void f(double* y) { *y = 1; }"), base::ErrorCode::unsupported);
  EXPECT_EQ(code("void f(float* y);"), base::ErrorCode::not_found);
}

}  // namespace
}  // namespace accelopt::scaffold
