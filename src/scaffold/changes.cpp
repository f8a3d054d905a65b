// SPDX-License-Identifier: Apache-2.0
#include "scaffold/changes.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "base/text.hpp"
#include "model/c_tokens.hpp"

namespace accelopt::scaffold {
namespace {

using syntax::Extent;

/// What changed parts say that they are of.
constexpr const char* kChangedPart = "accelopt's part";

bool touch(const Extent& a, const Extent& b) {
  return a.begin <= b.end && b.begin <= a.end;
}

std::size_t line_at(const std::string& text, std::size_t offset) {
  return 1 +
         static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

/// By how much all changes that end before the offset (or there, where `ends_there`) lengthen a text.
template <class Ends>
std::size_t moved(std::size_t offset, const std::vector<Change>& changes, Extent Change::*from, Extent Change::*to,
                  const Ends& ends) {
  for (const Change& change : changes) {
    if (ends((change.*from).end)) offset += (change.*to).size() - (change.*from).size();
  }
  return offset;
}

}  // namespace

std::vector<Change> composed(const std::vector<Change>& first, const std::vector<Change>& second) {
  std::vector<Extent> parts;  // of the text in between
  for (const Change& change : first) parts.push_back(change.after);
  for (const Change& change : second) parts.push_back(change.before);
  std::sort(parts.begin(), parts.end(),
            [](const Extent& a, const Extent& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::vector<Extent> merged;
  for (const Extent& part : parts) {
    if (merged.empty() || !touch(merged.back(), part)) {
      merged.push_back(part);
    } else {
      merged.back().end = std::max(merged.back().end, part.end);
    }
  }
  std::vector<Change> all;
  for (const Extent& part : merged) {
    const auto before_it = [&](std::size_t end) { return end < part.begin; };
    const auto up_to_its_end = [&](std::size_t end) { return end <= part.end; };
    all.push_back({{moved(part.begin, first, &Change::after, &Change::before, before_it),
                    moved(part.end, first, &Change::after, &Change::before, up_to_its_end)},
                   {moved(part.begin, second, &Change::before, &Change::after, before_it),
                    moved(part.end, second, &Change::before, &Change::after, up_to_its_end)}});
  }
  return all;
}

std::string with_marks(const std::string& text, Side side, const std::string& old_text,
                       const std::vector<Change>& changes, const std::string& name) {
  std::string marked;
  std::size_t at = 0;
  for (const Change& change : changes) {
    const Extent& part = side == Side::before ? change.before : change.after;
    marked += text.substr(at, part.begin - at) + "\n#line 1 \"" + kChangedPart + "\"\n" +
              text.substr(part.begin, part.size()) + "\n#line " + std::to_string(line_at(old_text, change.before.end)) +
              " \"" + name + "\"\n";
    at = part.end;
  }
  return marked + text.substr(at);
}

std::vector<std::string> unchanged_tokens(const std::string& preprocessed) {
  struct File {
    bool counts = true;
    bool counted_outside = true;  // the file that includes it
  };
  std::vector<File> files{{}};
  std::string kept;
  for (std::size_t at = 0; at < preprocessed.size();) {
    const std::size_t end = std::min(preprocessed.find('\n', at), preprocessed.size());
    const std::string line = preprocessed.substr(at, end - at);
    at = end + 1;
    const bool is_mark = line.size() > 2 && line.starts_with("# ") && std::isdigit(static_cast<unsigned char>(line[2]));
    if (!is_mark) {
      if (files.back().counts) kept += line + "\n";
      continue;
    }
    const std::string flags = line.substr(std::min(line.rfind('"'), line.size()));
    if (flags.find(" 1") != std::string::npos) files.push_back({true, files.back().counts});
    if (flags.find(" 2") != std::string::npos && files.size() > 1) files.pop_back();
    const bool of_system = flags.find(" 3") != std::string::npos;
    files.back().counts = files.back().counted_outside && !of_system && line.find(kChangedPart) == std::string::npos;
  }
  return model::canonical_tokens(kept);
}

std::string first_difference(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const auto [one, other] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  if (one == before.end() && other == after.end()) return "";
  constexpr std::ptrdiff_t kAround = 6;
  const auto excerpt = [&](const std::vector<std::string>& tokens, std::ptrdiff_t at) {
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(tokens.size());
    const std::vector<std::string> some(tokens.begin() + std::max<std::ptrdiff_t>(at - kAround, 0),
                                        tokens.begin() + std::min(at + kAround, size));
    return "\"" + base::joined(some, " ") + "\"";
  };
  return excerpt(before, one - before.begin()) + " would become " + excerpt(after, other - after.begin());
}

}  // namespace accelopt::scaffold
