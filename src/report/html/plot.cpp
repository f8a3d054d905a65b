// SPDX-License-Identifier: Apache-2.0
#include "report/html/plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/text_width.hpp"

namespace accelopt::report::html {
namespace {

// Of a plot, in units of its own, which a screen scales.
constexpr double kWidth = 720;
constexpr double kHeight = 320;
constexpr double kTop = 14;
constexpr double kRight = 18;
constexpr double kBottom = 46;
constexpr double kLeft = 64;
constexpr double kLeftOfRows = 190;
constexpr double kRow = 30;
constexpr std::size_t kRowColumns = 24;  ///< of a row's name
constexpr int kTicksAcross = 7;
constexpr int kTicksUp = 6;

double share(const Axis& axis, double value) {
  if (axis.scale == Scale::linear) return (value - axis.range.low) / (axis.range.high - axis.range.low);
  return std::log(value / axis.range.low) / std::log(axis.range.high / axis.range.low);
}

std::string titled(const Axis& axis) {
  return axis.title + (axis.scale == Scale::log ? " (log scale)" : "");
}

Attributes line(std::string_view style, double x1, double y1, double x2, double y2) {
  return {{"class", std::string(style)},
          {"x1", coordinate(x1)},
          {"y1", coordinate(y1)},
          {"x2", coordinate(x2)},
          {"y2", coordinate(y2)}};
}

std::string path_of(Mark mark, double x, double y) {
  const auto at = [&](double dx, double dy) { return coordinate(x + dx) + " " + coordinate(y + dy); };
  switch (mark) {
    case Mark::slower:  // a triangle that points down
      return "M" + at(-4.5, -3.5) + "L" + at(4.5, -3.5) + "L" + at(0, 4.5) + "Z";
    case Mark::failed:  // a cross
      return "M" + at(-3.5, -3.5) + "L" + at(3.5, 3.5) + "M" + at(-3.5, 3.5) + "L" + at(3.5, -3.5);
    case Mark::known:  // a bar
      return "M" + at(-4, 0) + "L" + at(4, 0);
    case Mark::confirmed:  // a diamond
      return "M" + at(0, -6.5) + "L" + at(6.5, 0) + "L" + at(0, 6.5) + "L" + at(-6.5, 0) + "Z";
    case Mark::baseline:  // a square
      return "M" + at(-4.5, -4.5) + "L" + at(4.5, -4.5) + "L" + at(4.5, 4.5) + "L" + at(-4.5, 4.5) + "Z";
    default:
      return {};
  }
}

}  // namespace

std::string coordinate(double value) {
  std::string digits = fmt::format("{:.2f}", value);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits == "-0" ? "0" : digits;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 1e6) return coordinate(value / 1e6) + "M";
  if (size >= 1e4) return coordinate(value / 1e3) + "k";
  std::string digits = fmt::format("{:.{}f}", value, size > 0 && size < 0.01 ? 6 : 3);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

Axis ratio_axis(std::string title, const std::vector<double>& values) {
  double low = 1;
  double high = 1;
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Axis axis{std::move(title), {}, high / low > kLogSpan ? Scale::log : Scale::linear, "x"};
  if (axis.scale == Scale::log) {
    axis.range = {low / 1.15, high * 1.15};
  } else {
    const double room = std::max((high - low) * 0.08, 0.02);
    axis.range = {std::max(low - room, 0.0), high + room};
  }
  return axis;
}

std::vector<double> ticks_of(const Axis& axis, int count) {
  std::vector<double> ticks;
  const auto [low, high] = axis.range;
  if (axis.scale == Scale::log) {
    const double decades = std::log10(high / low);
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (decades > 3 && digit != 1) continue;
        if (power * digit >= low && power * digit <= high) ticks.push_back(power * digit);
      }
    }
    return ticks;
  }
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double digit : {5.0, 2.0, 1.0}) {
    if (power * digit >= rough) step = power * digit;
  }
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k)
    ticks.push_back(k == 0 ? 0 : k * step);
  return ticks;
}

std::string_view to_string(Mark mark) {
  switch (mark) {
    case Mark::faster:
      return "faster";
    case Mark::slower:
      return "slower";
    case Mark::tie:
      return "tie";
    case Mark::undecided:
      return "undecided";
    case Mark::failed:
      return "failed";
    case Mark::known:
      return "known";
    case Mark::baseline:
      return "baseline";
    case Mark::best:
      return "best";
    case Mark::confirmed:
      return "confirmed";
  }
  return "tie";
}

Mark mark_of(model::Status status, model::Verdict verdict) {
  if (status != model::Status::passed) return Mark::failed;
  switch (verdict) {
    case model::Verdict::faster:
      return Mark::faster;
    case model::Verdict::slower:
      return Mark::slower;
    case model::Verdict::tie:
      return Mark::tie;
    case model::Verdict::undecided:
    case model::Verdict::none:
      return Mark::undecided;
  }
  return Mark::undecided;
}

Markup symbol(Mark mark, double x, double y, const std::string& title) {
  const std::string style = fmt::format("mark {}", to_string(mark));
  const Markup tip = title.empty() ? Markup() : element("title", title);
  const std::string path = path_of(mark, x, y);
  // The centre, for whoever reads a plot back: that of a path is not written otherwise.
  if (!path.empty())
    return element("path", {{"class", style}, {"d", path}, {"data-x", coordinate(x)}, {"data-y", coordinate(y)}}, tip);
  return element(
      "circle", {{"class", style}, {"cx", coordinate(x)}, {"cy", coordinate(y)}, {"r", mark == Mark::best ? "5" : "4"}},
      tip);
}

Plot::Plot(std::string name, Axis x, Axis y, const std::vector<std::string>& rows)
    : name_(std::move(name)), x_(std::move(x)), y_(std::move(y)), has_rows_(!rows.empty()) {
  left_ = has_rows_ ? kLeftOfRows : kLeft;
  height_ = has_rows_ ? kTop + kBottom + kRow * static_cast<double>(rows.size()) : kHeight;
  if (has_rows_) y_.range = {0, static_cast<double>(rows.size())};
  draw_axes(rows);
}

double Plot::place_x(double value) const {
  return left_ + std::clamp(share(x_, value), 0.0, 1.0) * (kWidth - left_ - kRight);
}

double Plot::place_y(double value) const {
  const double length = height_ - kTop - kBottom;
  // Rows are counted from the top, and a row's middle is half a row below its beginning.
  if (has_rows_) return kTop + (value + 0.5) * kRow;
  return kTop + (1 - std::clamp(share(y_, value), 0.0, 1.0)) * length;
}

void Plot::draw_axes(const std::vector<std::string>& rows) {
  const double bottom = height_ - kBottom;
  for (const double tick : ticks_of(x_, kTicksAcross)) {
    const double x = place_x(tick);
    body_ += empty_element("line", line("grid", x, kTop, x, bottom));
    body_ += element(
        "text",
        {{"class", "tick tick-x"}, {"x", coordinate(x)}, {"y", coordinate(bottom + 17)}, {"text-anchor", "middle"}},
        short_number(tick) + x_.unit);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double y = place_y(static_cast<double>(row));
    body_ += element(
        "text",
        {{"class", "tick row"}, {"x", coordinate(left_ - 10)}, {"y", coordinate(y + 4)}, {"text-anchor", "end"}},
        clip(printable(rows[row]), kRowColumns));
  }
  if (!has_rows_) {
    for (const double tick : ticks_of(y_, kTicksUp)) {
      const double y = place_y(tick);
      body_ += empty_element("line", line("grid", left_, y, kWidth - kRight, y));
      body_ += element(
          "text",
          {{"class", "tick tick-y"}, {"x", coordinate(left_ - 8)}, {"y", coordinate(y + 4)}, {"text-anchor", "end"}},
          short_number(tick) + y_.unit);
    }
    body_ += element("text",
                     {{"class", "axis"},
                      {"x", "0"},
                      {"y", "0"},
                      {"text-anchor", "middle"},
                      {"transform", fmt::format("translate(14 {}) rotate(-90)", coordinate((kTop + bottom) / 2))}},
                     titled(y_));
  }
  body_ += empty_element("line", line("frame", left_, bottom, kWidth - kRight, bottom));
  body_ += empty_element("line", line("frame", left_, kTop, left_, bottom));
  body_ += element("text",
                   {{"class", "axis"},
                    {"x", coordinate((left_ + kWidth - kRight) / 2)},
                    {"y", coordinate(height_ - 8)},
                    {"text-anchor", "middle"}},
                   titled(x_));
}

void Plot::mark(Mark mark, double x, double y, const std::string& title) {
  body_ += symbol(mark, place_x(x), place_y(y), title);
}

void Plot::interval(Mark mark, double at, const model::Interval& values) {
  const std::string style = fmt::format("interval {}", to_string(mark));
  if (has_rows_) {
    const double y = place_y(at);
    body_ += empty_element("line", line(style, place_x(values.low), y, place_x(values.high), y));
  } else {
    const double x = place_x(at);
    body_ += empty_element("line", line(style, x, place_y(values.low), x, place_y(values.high)));
  }
}

void Plot::steps(Mark mark, const std::vector<Point>& points, double until) {
  if (points.empty()) return;
  std::string path;
  for (const Point& point : points) {
    path += path.empty() ? "M" + coordinate(place_x(point.x)) + " " + coordinate(place_y(point.y))
                         : "H" + coordinate(place_x(point.x)) + "V" + coordinate(place_y(point.y));
  }
  path += "H" + coordinate(place_x(until));
  body_ += empty_element("path", {{"class", fmt::format("steps {}", to_string(mark))}, {"d", path}});
}

void Plot::reference(double value, const std::string& label) {
  const bool inside =
      has_rows_ ? value >= x_.range.low && value <= x_.range.high : value >= y_.range.low && value <= y_.range.high;
  if (!inside) return;
  if (has_rows_) {
    const double x = place_x(value);
    body_ += empty_element("line", line("reference", x, kTop, x, height_ - kBottom));
    return;
  }
  const double y = place_y(value);
  body_ += empty_element("line", line("reference", left_, y, kWidth - kRight, y));
  body_ += element(
      "text", {{"class", "tick"}, {"x", coordinate(kWidth - kRight)}, {"y", coordinate(y - 5)}, {"text-anchor", "end"}},
      label);
}

void Plot::bar(std::string_view style, double row, Range values, const std::string& title) {
  constexpr double kThick = 14;
  const double begin = place_x(values.low);
  body_ += element("rect",
                   {{"class", fmt::format("bar {}", style)},
                    {"x", coordinate(begin)},
                    {"y", coordinate(place_y(row) - kThick / 2)},
                    {"width", coordinate(std::max(place_x(values.high) - begin, 0.5))},
                    {"height", coordinate(kThick)}},
                   title.empty() ? Markup() : element("title", title));
}

Markup Plot::finish(const std::string& title, const std::string& description) {
  return figure(name_, kWidth, height_, title, description, body_, Size::scaled);
}

Markup figure(const std::string& name, double width, double height, const std::string& title,
              const std::string& description, const Markup& body, Size size) {
  Markup inner = element("title", {{"id", name + "-title"}}, title);
  inner += element("desc", {{"id", name + "-desc"}}, description);
  inner += body;
  Attributes attributes{{"id", name},
                        {"viewBox", fmt::format("0 0 {} {}", coordinate(width), coordinate(height))},
                        {"role", "img"},
                        {"aria-labelledby", name + "-title"},
                        {"aria-describedby", name + "-desc"}};
  if (size == Size::natural) {
    attributes.insert(attributes.end(),
                      {{"class", "natural"}, {"width", coordinate(width)}, {"height", coordinate(height)}});
  }
  const Markup out = element("svg", attributes, inner);
  Markup scrolled =
      element("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", title}}, out);
  scrolled += element("figcaption", description);
  return element("figure", scrolled);
}

}  // namespace accelopt::report::html
