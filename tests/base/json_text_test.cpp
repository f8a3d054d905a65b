// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace accelopt::base {
namespace {

enum class Hue { red, green };
constexpr auto kHues = std::to_array<Named<Hue>>({{Hue::red, "red"}, {Hue::green, "green"}});

/// Without write_json: it becomes an object first.
struct Wick {
  int watts = 0;
};
ACCELOPT_JSON(Wick) {
  field.required("watts", it.watts);
}

struct Lantern {
  std::string name;
  Hue colour = Hue::red;
  int uses = 0;
  double volts = 0;
  double seconds = 0;
  std::string note{};
  std::optional<std::string> room{};
  std::optional<double> height{};
  int watts = 0;
  std::vector<Lantern> beside{};
  std::vector<Wick> wicks{};
  Json more{};
};

void to_json(Json& out, const Lantern& value);
void from_json(const Json& in, Lantern& value);
void write_json(JsonText& out, const Lantern& value);

ACCELOPT_JSON(Lantern) {
  field.object();
  field.required("name", it.name);
  field.named("colour", it.colour, kHues);
  field.optional_name("other colour", it.colour, kHues);
  field.count("uses", it.uses, 9);
  field.count_unless_zero("used", it.uses, 9);
  field.number("volts", it.volts, "amperes", it.volts);
  field.finite("seconds", it.seconds);
  field.unless_empty("note", it.note, "room", it.room, "more", it.more);
  field.optional("height", it.height, "beside", it.beside, "wicks", it.wicks);
  field.nested("power", [&it](auto& inner) { inner.optional("watts", it.watts, "a", it.watts); });
  field.nested("nothing", [](auto& inner) { inner.object(); });
  field.converted(
      "first", it.name, [](const std::string& name) { return name.substr(0, 1); },
      [](const Json& in) { return in.get<std::string>(); });
}
ACCELOPT_JSON_TEXT(Lantern);

std::vector<Lantern> lanterns() {
  const double infinity = std::numeric_limits<double>::infinity();
  const double none = std::numeric_limits<double>::quiet_NaN();
  const Lantern whole{"desk",    Hue::green,
                      3,         0.1,
                      1e300,     "a\n\"b\"\\ \x01 \x7f",
                      "hall",    -0.0,
                      40,        {Lantern{"é 中 \xff"}, Lantern{.name = "small", .uses = 1, .watts = -7}},
                      {{1}, {}}, Json{{"z", 1}, {"a", {1.5, nullptr, true}}}};
  return {Lantern{}, whole, Lantern{"", Hue::red, 0, infinity, infinity},
          Lantern{.name = "", .volts = -infinity, .seconds = none},
          Lantern{.name = "", .volts = none, .beside = {whole, whole}}};
}

TEST(JsonText, AStructsList_IsWrittenAsItsObject) {
  for (const Lantern& lantern : lanterns()) EXPECT_EQ(json_of(lantern), canonical(Json(lantern)));
  EXPECT_EQ(json_of(lanterns()), canonical(Json(lanterns())));
  EXPECT_EQ(Json(lanterns()).get<std::vector<Lantern>>()[1].wicks.front().watts, 1);
}

TEST(JsonText, ValuesOfOtherTypes_AreWrittenAsByTheLibrary) {
  const auto same = [](const auto& value) { EXPECT_EQ(json_of(value), canonical(Json(value))); };
  same(true);
  same(-1);
  same(std::uint8_t{200});
  same(std::numeric_limits<std::int64_t>::min());
  same(std::numeric_limits<std::uint64_t>::max());
  same(0.5F);
  same(-0.0);
  same("text");
  same(std::string("te\"xt"));
  same(std::string_view("text"));
  same(std::optional<int>());
  same(std::optional<int>(3));
  same(std::vector<double>{1, 0.1});
  same(std::vector<bool>{true, false});
  same(std::vector<std::vector<std::string>>{{}, {"a", ""}});
  same(std::pair<std::string, int>{"a", 1});
  same(std::map<std::string, int>{{"b", 1}, {"a", 2}});
  same(Json{{"b", 1}, {"a", {2}}});
}

TEST(JsonText, Objects_HaveTheirNamesInOrder) {
  EXPECT_EQ(json_object("b", 1, "a", "x", "c", std::optional<int>()), R"({"a":"x","b":1,"c":null})");
  EXPECT_EQ(json_object("a", 1, "b", 2, "a", 3), R"({"a":3,"b":2})");
  JsonText empty;
  FieldText(empty).end();
  EXPECT_EQ(empty.text(), "{}");
}

TEST(JsonText, ListOfDifferentTypes_IsWrittenInTheirOrder) {
  JsonText out;
  out.add_all(1, "b", 0.5);
  EXPECT_EQ(out.take(), R"([1,"b",0.5])");
}

TEST(JsonText, FieldsInAnyOrder_AreSortedAsTheLibraryDoes) {
  constexpr std::array kNames{"usage", "a", "Z", "_", "aa", "answered", "a_b", "ab"};
  for (unsigned order = 0; order < 5000; ++order) {
    std::array<const char*, kNames.size()> names = kNames;
    unsigned left = order;
    for (std::size_t i = names.size() - 1; i > 0; --i) {
      std::swap(names.at(i), names.at(left % (i + 1)));
      left /= static_cast<unsigned>(i + 1);
    }
    JsonText out;
    FieldText fields(out);
    Json object;
    for (const char* name : names) {
      fields.required(name, std::string(name) + ",");
      object[name] = std::string(name) + ",";
    }
    fields.end();
    ASSERT_EQ(out.text(), canonical(object)) << order;
  }
}

}  // namespace
}  // namespace accelopt::base
