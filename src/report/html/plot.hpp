// SPDX-License-Identifier: Apache-2.0
// Plots as inline SVG. What is drawn can be read back: each mark is where the axes' ticks say that its values are, and
// its title gives them as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluation.hpp"
#include "report/html/markup.hpp"

namespace accelopt::report::html {

enum class Scale { linear, log };

/// The values that an axis shows, ends included.
struct Range {
  double low = 0;
  double high = 1;
};

struct Axis {
  std::string title;
  Range range;
  Scale scale = Scale::linear;
  std::string unit;  ///< behind the number of a tick: "x", " %"
};

/// A range that holds all values and, where that leaves little room, begins at `from`; log where the values span more
/// than kLogSpan.
inline constexpr double kLogSpan = 4;
Axis ratio_axis(std::string title, const std::vector<double>& values);

/// Round values in the range, about `count` of them.
std::vector<double> ticks_of(const Axis& axis, int count);

/// A number for people: as many digits as it needs, no exponent.
std::string short_number(double value);

/// How a mark looks; also its class in the style sheet.
enum class Mark { faster, slower, tie, undecided, failed, known, baseline, best, confirmed };
std::string_view to_string(Mark mark);
/// The mark of what was measured, and of what failed.
Mark mark_of(model::Status status, model::Verdict verdict);

/// A symbol of its own shape for each mark, so that colour is not needed to tell them apart.
Markup symbol(Mark mark, double x, double y, const std::string& title);

/// A plot with two axes.
class Plot {
 public:
  /// `name`: beginning of the ids in the document, unique there. `rows`: of a plot whose vertical axis has names
  /// instead of numbers, top to bottom; then `y` has no range.
  Plot(std::string name, Axis x, Axis y, const std::vector<std::string>& rows = {});

  void mark(Mark mark, double x, double y, const std::string& title);
  /// A vertical line over an interval of y at x; with rows, a horizontal one over an interval of x at a row.
  void interval(Mark mark, double at, const model::Interval& values);
  /// A line of steps: each value holds until the next begins.
  struct Point {
    double x = 0;
    double y = 0;
  };
  void steps(Mark mark, const std::vector<Point>& points, double until);
  /// A line across the plot: of y, or with rows of x.
  void reference(double value, const std::string& label);
  /// A bar of a row, from one value to another.
  void bar(std::string_view style, double row, Range values, const std::string& title);

  /// The figure: the drawing, named and described, with its caption. Used once.
  [[nodiscard]] Markup finish(const std::string& title, const std::string& description);

 private:
  [[nodiscard]] double place_x(double value) const;
  [[nodiscard]] double place_y(double value) const;
  void draw_axes(const std::vector<std::string>& rows);

  std::string name_;
  Axis x_;
  Axis y_;
  bool has_rows_ = false;
  double height_ = 0;
  double left_ = 0;
  Markup body_;
};

/// scaled: as wide as the page; natural: a unit is a pixel, and what does not fit is scrolled to.
enum class Size { scaled, natural };
/// A figure around a drawing.
Markup figure(const std::string& name, double width, double height, const std::string& title,
              const std::string& description, const Markup& body, Size size);

/// A coordinate: two decimals at most.
std::string coordinate(double value);

}  // namespace accelopt::report::html
