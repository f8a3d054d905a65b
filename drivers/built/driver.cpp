// Calls the function on every case, a line each, and writes what it gave, or the kind of error, and its arguments after it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "{stem}.hpp"  // TODO: check, or declare it here

template <class T> void told(std::ostream& out, const T& value);
// Overloads for types of your own come here: void told(std::ostream& out, const Point& value) { told(out, value.x); ... }

template <class T> using ElementOf = std::decay_t<decltype(*std::begin(std::declval<const T&>()))>;
template <class T, class = void> constexpr bool is_range = false;
template <class T> constexpr bool is_range<T, std::void_t<ElementOf<T>>> = !std::is_same_v<ElementOf<T>, T>;  // a path holds paths
template <class T, class = void> constexpr bool is_hashed = false;
template <class T> constexpr bool is_hashed<T, std::void_t<typename T::hasher>> = true;
template <class T, class = void> constexpr bool is_tuple = false;
template <class T> constexpr bool is_tuple<T, std::void_t<decltype(std::tuple_size<T>::value)>> = true;
template <class T, class = void> constexpr bool is_streamed = false;
template <class T> constexpr bool is_streamed<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>> = true;
template <class> constexpr bool may_be_empty = false;
template <class T> constexpr bool may_be_empty<std::optional<T>> = true;
template <class T, class D> constexpr bool may_be_empty<std::unique_ptr<T, D>> = !std::is_array_v<T>;
template <class T> constexpr bool may_be_empty<std::shared_ptr<T>> = !std::is_array_v<T>;
template <class> constexpr bool is_variant = false;
template <class... T> constexpr bool is_variant<std::variant<T...>> = true;

void told_text(std::ostream& out, std::string_view text) {
  out << '"';
  for (const char c : text) {
    char code[5];
    if (static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\') out << c;
    else out << (std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c)), code);
  }
  out << '"';
}

// Writes a value so that no other one of its type is written likewise: all digits, texts in quotes, borders of elements.
template <class T>
void told(std::ostream& out, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    told(out, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (value != value) out << "nan";  // whose sign does not count
    else out.precision(std::numeric_limits<T>::max_digits10), out << value;
  } else if constexpr (std::is_integral_v<T>) {
    out << +value;
  } else if constexpr (std::is_null_pointer_v<T> || std::is_same_v<T, std::monostate> || std::is_same_v<T, std::nullopt_t>) {
    out << "null";
  } else if constexpr (std::is_same_v<T, const char*> || std::is_same_v<T, char*>) {
    if (value) told_text(out, value);
    else out << "null";
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    told_text(out, value);
  } else if constexpr (may_be_empty<T>) {
    if (value) out << '&', told(out, *value);
    else out << "null";
  } else if constexpr (is_variant<T>) {
    out << value.index() << ':';
    std::visit([&out](const auto& one) { told(out, one); }, value);
  } else if constexpr (is_hashed<T>) {
    std::vector<std::string> parts;
    for (const auto& one : value) {
      std::ostringstream part;
      told(part, one);
      parts.push_back(part.str());
    }
    std::sort(parts.begin(), parts.end());  // nobody can rely on another order
    out << '{';
    for (const std::string& part : parts) out << part << ',';
    out << '}';
  } else if constexpr (is_range<T>) {
    out << '[';
    for (const auto& one : value) told(out, one), out << ',';
    out << ']';
  } else if constexpr (is_tuple<T>) {
    out << '(';
    std::apply([&out](const auto&... one) { ((told(out, one), out << ','), ...); }, value);
    out << ')';
  } else {
    // What converts to a bool would be written as one.
    static_assert(is_streamed<T> && !std::is_convertible_v<const T&, bool>, "write above what is to be compared of this type: an overload of told");
    std::ostringstream text;
    text.precision(std::numeric_limits<long double>::max_digits10);
    text << value;
    told_text(out, text.str());
  }
}

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  const bool timed = std::getenv("ACCELOPT_TIME_CALLS") != nullptr;  // in a run of the old code alone: the calls' share of the time
  std::clock_t calls = 0;
  for (std::string line; std::getline(in, line);) {
    try {
      const std::clock_t began = timed ? std::clock() : 0;
      // TODO: call it as its users do
      const auto& value = {function}(line);
      if (timed) calls += std::clock() - began;
      told(out, value);
      out << ' ' << line << '\n';
    } catch (const std::exception& error) {
      out << "error " << typeid(error).name() << ' ' << line << '\n';
    }
  }
  if (timed) std::cerr << "seconds of calls: " << std::fixed << static_cast<double>(calls) / CLOCKS_PER_SEC << '\n';
}
