// SPDX-License-Identifier: Apache-2.0
#include "report/html/page.hpp"

#include <algorithm>
#include <array>

#include "base/hash.hpp"

namespace accelopt::report::html {
namespace {

// Colours of both schemes keep a contrast of at least 4.5 to 1 where they carry text (WCAG 2.2, 1.4.3), and of 3 to 1
// where they are marks (1.4.11).
constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;--good:#116329;--bad:#a40e26;--even:#57606a;--best:#0550ae;--known:#6e7781;--old:#ffebe9;--new:#dafbe1}
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9da7b3;--line:#30363d;--panel:#161b22;--good:#56d364;--bad:#ff8a80;--even:#9da7b3;--best:#79c0ff;--known:#8b949e;--old:#3c1618;--new:#12321c}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif}
header,main,footer{max-width:66rem;margin:0 auto;padding:.5rem 1rem}
section:first-child h2{margin-top:.5rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.25rem 0 .25rem;overflow-wrap:anywhere}
p{margin:.5rem 0;overflow-wrap:anywhere}
.answer{font-size:1.15rem;border-left:4px solid var(--best);padding-left:.75rem}
.soft,figcaption{color:var(--soft);font-size:.875rem}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;margin:.5rem 0}
a{color:var(--best)}
figure{margin:.75rem 0}
.scroll{overflow-x:auto;max-width:100%}
.tall{max-height:30rem;overflow-y:auto}
svg{display:block;width:100%;height:auto;min-width:34rem;font:12px system-ui,sans-serif}
svg.natural{width:auto;min-width:0}
svg text{fill:var(--text)}
svg .node{stroke:var(--back);stroke-width:4px}
svg .tick,svg .axis,svg .node{fill:var(--soft)}
svg .kept{fill:var(--text);font-weight:600}
.grid{stroke:var(--line);stroke-width:.6}
.frame{stroke:var(--soft);stroke-width:1}
.reference{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4}
.edge{fill:none;stroke:var(--known);stroke-width:1}
.way{stroke:var(--best);stroke-width:3}
.mark{stroke-width:1.5;fill:var(--back);stroke:var(--even)}
.mark.faster{fill:var(--good);stroke:var(--good)}
.mark.slower{fill:var(--bad);stroke:var(--bad)}
.mark.undecided{stroke-dasharray:2 2}
.mark.failed{stroke:var(--bad);stroke-width:2;fill:none}
.mark.known{stroke:var(--known);stroke-width:2}
.mark.baseline{fill:var(--text);stroke:var(--text)}
.mark.best,.mark.confirmed{fill:var(--best);stroke:var(--best)}
.interval{stroke:var(--even);stroke-width:2}
.interval.best,.interval.confirmed{stroke:var(--best)}
.interval.confirmed{stroke-width:3}
.steps{fill:none;stroke:var(--best);stroke-width:2}
.bar{fill:var(--best)}
.bar.second{fill:var(--even)}
table{border-collapse:collapse;font-size:.875rem;min-width:100%}
caption{text-align:left;color:var(--soft);padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid var(--line);overflow-wrap:break-word;min-width:4.5rem;max-width:34rem}
th{background:var(--panel)}
.right{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--best)}
pre,code{font:13px/1.4 ui-monospace,monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--panel);padding:.75rem;margin:.5rem 0}
.diff{table-layout:fixed;width:100%;min-width:0}
.diff td{border:0;min-width:0;max-width:none;overflow-wrap:anywhere;padding:0 .4rem;white-space:pre-wrap}
.diff .number{color:var(--soft);text-align:right}
.diff col.narrow{width:3.5rem}
.diff .line{border-right:1px solid var(--line)}
.diff .old{background:var(--old)}
.diff .new{background:var(--new)}
.diff .gap{text-align:center;color:var(--soft);background:var(--panel)}
ins,del{text-decoration:none}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;padding:0;font-size:.875rem}
.legend svg{display:inline-block;width:16px;height:16px;min-width:0;vertical-align:-3px}
:focus-visible{outline:3px solid var(--best);outline-offset:2px}
@media (max-width:42rem){
.diff,.diff tbody,.diff thead,.diff caption{display:block}
.diff colgroup{display:none}
.diff tr{display:grid;grid-template-columns:2.75rem 1fr}
.diff th{grid-column:1/-1;width:auto}
.diff .none{display:none}
.diff .same:nth-child(n+3){display:none}
.diff .gap{grid-column:1/-1}
}
@media print{
:root{color-scheme:light}
body{font-size:11pt}
header,main,footer{max-width:none;padding:0}
.scroll,.tall{overflow:visible;max-height:none}
svg{min-width:0}
svg.natural{width:100%}
table{font-size:8pt}
th,td{min-width:0;padding:.1rem .3rem;overflow-wrap:anywhere}
.right{white-space:normal}
figure,tr{break-inside:avoid}
h2,h3{break-after:avoid}
nav{display:none}
details::details-content{content-visibility:visible;display:block;block-size:auto}
}
)css";

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A digest of hexadecimal digits in base 64, as policies of content name style sheets.
std::string base64_of_hex(std::string_view hex) {
  const auto value = [](char digit) { return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10); };
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char digit : hex) {
    bits = (bits << 4U) | value(digit);
    count += 4;
    if (count < 6) continue;
    count -= 6;
    out += kDigits[(bits >> static_cast<unsigned>(count)) & 63U];
  }
  if (count > 0) out += kDigits[(bits << static_cast<unsigned>(6 - count)) & 63U];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

Markup head(const std::string& title) {
  // A page that was passed on in a mail or from a folder runs in whoever's browser: it may load and run nothing.
  const std::string policy = "default-src 'none'; style-src 'sha256-" + base64_of_hex(base::sha256_hex(kStyle)) +
                             "'; base-uri 'none'; form-action 'none'";
  Markup out = empty_element("meta", {{"charset", "utf-8"}});
  out += empty_element("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
  out += empty_element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out += empty_element("meta", {{"name", "referrer"}, {"content", "no-referrer"}});
  out += element("title", title);
  out += style(kStyle);
  return element("head", out);
}

}  // namespace

std::vector<Markup> cells(const std::vector<std::string>& texts) {
  std::vector<Markup> out;
  out.reserve(texts.size());
  for (const std::string& one : texts) out.push_back(text(one));
  return out;
}

Markup to_markup(const Table& table) {
  if (table.rows.empty()) return {};
  Markup heads;
  for (const Column& column : table.columns) {
    Attributes attributes{{"scope", "col"}};
    if (column.align == Align::right) attributes.emplace_back("class", "right");
    heads += element("th", attributes, column.title);
  }
  Markup body;
  for (const auto& row : table.rows) {
    Markup line;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Markup cell = i < row.size() ? row[i] : Markup();
      line += table.columns[i].align == Align::right ? element("td", {{"class", "right"}}, cell) : element("td", cell);
    }
    body += element("tr", line);
  }
  Markup out = element("caption", table.caption);
  out += element("thead", element("tr", heads));
  out += element("tbody", body);
  // What scrolls can be reached by keyboard.
  return element("div",
                 {{"class", "scroll tall"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", table.caption}},
                 element("table", out));
}

Markup folded(const std::string& summary, const Markup& content) {
  if (content.empty()) return {};
  Markup out = element("summary", summary);
  out += content;
  return element("details", out);
}

Markup section(const std::string& id, const std::string& heading, const Markup& content) {
  if (content.empty()) return {};
  Markup out = element("h2", {{"id", id}}, heading);
  out += content;
  return element("section", {{"aria-labelledby", id}}, out);
}

Markup paragraphs(std::string_view lines) {
  Markup out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0) out += element("p", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

std::string page(const std::string& title, const Markup& header, const Markup& body) {
  Markup content = element("header", header);
  content += element("main", body);
  content += element("footer", element("p", {{"class", "soft"}}, "Written by accelopt from the run's record."));
  Markup document = head(title);
  document += element("body", content);
  return "<!DOCTYPE html>\n" + element("html", {{"lang", "en"}}, document).source() + "\n";
}

}  // namespace accelopt::report::html
