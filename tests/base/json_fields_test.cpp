// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace accelopt::base {
namespace {

enum class Colour { red, green };
constexpr auto kColours = std::to_array<Named<Colour>>({{Colour::red, "red"}, {Colour::green, "green"}});

struct Lamp {
  std::string name;
  Colour colour = Colour::red;
  int uses = 0;
  double volts = 0;
  double seconds = 0;
  std::string note{};
  std::optional<std::string> room{};
  int watts = 0;
};

ACCELOPT_JSON(Lamp) {
  field.object();
  field.required("name", it.name);
  field.named("colour", it.colour, kColours);
  field.count("uses", it.uses, 9);
  field.number("volts", it.volts);
  field.finite("seconds", it.seconds);
  field.unless_empty("note", it.note, "room", it.room);
  field.nested("power", [&it](auto& inner) { inner.optional("watts", it.watts); });
}

TEST(JsonFields, Struct_SurvivesBothWays) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Lamp lamp{"desk", Colour::green, 3, infinity, infinity, "", "hall", 40};
  const Json json = lamp;
  EXPECT_EQ(
      json.dump(),
      R"({"colour":"green","name":"desk","power":{"watts":40},"room":"hall","seconds":null,"uses":3,"volts":"inf"})");
  const Lamp read = json.get<Lamp>();
  EXPECT_EQ(Json(read), json);
  EXPECT_TRUE(std::isnan(read.seconds));
}

TEST(JsonFields, StrangersValues_AreBounded) {
  Json json = Lamp{.name = "desk"};
  json["uses"] = 1e30;
  json["colour"] = "blue";
  json["power"] = nullptr;
  const Lamp read = json.get<Lamp>();
  EXPECT_EQ(read.uses, 9);
  EXPECT_EQ(read.colour, Colour::red);
  EXPECT_EQ(read.watts, 0);
}

TEST(JsonFields, MissingOrWrong_Throws) {
  const Json whole = Lamp{.name = "desk"};
  for (const char* key : {"name", "colour", "volts"}) {
    Json json = whole;
    json.erase(key);
    EXPECT_FALSE(decode<Lamp>(json, "a lamp")) << key;
  }
  EXPECT_FALSE(decode<Lamp>("desk", "a lamp"));
}

TEST(Names, UnknownValue_HasTheFirstName) {
  EXPECT_EQ(name_in(kColours, Colour::green), "green");
  EXPECT_EQ(name_in(kColours, static_cast<Colour>(7)), "red");
  EXPECT_EQ(value_in(kColours, "green"), Colour::green);
  EXPECT_EQ(value_in(kColours, "blue"), std::nullopt);
}

}  // namespace
}  // namespace accelopt::base
