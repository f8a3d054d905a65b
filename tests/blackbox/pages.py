# SPDX-License-Identifier: Apache-2.0
"""HTML pages as tests read them: a tree of elements, tables as rows of texts, and plots whose numbers are read back from where
the marks stand between the axes' ticks."""

import html.parser
import json
import math
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = ROOT / "build" / "page-checks"
EMPTY = {"meta", "col", "br"}


class Element:
    def __init__(self, name, attributes, parent):
        self.name, self.attributes, self.parent, self.children = name, attributes, parent, []

    def __getitem__(self, attribute):
        return self.attributes.get(attribute, "")

    @property
    def classes(self):
        return self["class"].split()

    def all(self, name=None, style=None):
        """The elements below of that name and class, in order."""
        for child in self.children:
            if isinstance(child, Element):
                if name in (None, child.name) and (style is None or style in child.classes):
                    yield child
                yield from child.all(name, style)

    @property
    def text(self):
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.root = self.current = Element("", {}, None)
        self.feed(text)
        assert self.current is self.root, f"{self.current.name} is not closed"

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {name: value or "" for name, value in attrs}, self.current)
        self.current.children.append(element)
        if tag not in EMPTY:
            self.current = element

    def handle_startendtag(self, tag, attrs):
        self.current.children.append(Element(tag, {name: value or "" for name, value in attrs}, self.current))

    def handle_endtag(self, tag):
        assert self.current.name == tag, f"</{tag}> ends {self.current.name}"
        self.current = self.current.parent

    def handle_data(self, data):
        self.current.children.append(data)


def read(text):
    return Reader(text).root


def number(text):
    """Of a tick: 2, 0.5x, 50 %, 20k."""
    text = text.removesuffix(" %").removesuffix(" s").removesuffix("x")
    for letter, factor in (("k", 1e3), ("M", 1e6)):
        if text.endswith(letter):
            return float(text[:-1]) * factor
    return float(text)


class Axis:
    """A value for a coordinate, from the ticks alone."""

    def __init__(self, ticks, log):
        assert len(ticks) >= 2, ticks
        self.log = log
        (self.place, first), (end, last) = min(ticks), max(ticks)
        self.first = self.scaled(first)
        self.per_unit = (self.scaled(last) - self.first) / (end - self.place)

    def scaled(self, value):
        return math.log(value) if self.log else value

    def value(self, place):
        scaled = self.first + (place - self.place) * self.per_unit
        return math.exp(scaled) if self.log else scaled


class Plot:
    def __init__(self, svg):
        self.svg = svg
        titles = [text.text for text in svg.all("text", "axis")]
        upright = [text.text for text in svg.all("text", "axis") if "rotate" in text["transform"]]
        along = next(title for title in titles if title not in upright)
        self.x = Axis([(float(t["x"]), number(t.text)) for t in svg.all("text", "tick-x")], "log scale" in along)
        ticks = [(float(t["y"]) - 4, number(t.text)) for t in svg.all("text", "tick-y")]
        self.y = Axis(ticks, "log scale" in upright[0]) if ticks else None
        self.rows = {float(t["y"]) - 4: t.text for t in svg.all("text", "row")}

    def height_of(self, y):
        return self.y.value(y) if self.y else self.rows[y]

    def marks(self, style):
        """(x, y or row) of each mark of a class."""
        for mark in self.svg.all(style="mark"):
            if style in mark.classes:
                x, y = (float(mark[f"data-{a}"] or mark[f"c{a}"]) for a in "xy")
                yield self.x.value(x), self.height_of(y)

    def intervals(self, style):
        """(place, low, high) of each interval of a class."""
        for line in self.svg.all("line", "interval"):
            if style not in line.classes:
                continue
            x1, x2, y1, y2 = (float(line[name]) for name in ("x1", "x2", "y1", "y2"))
            yield (self.x.value(x1), self.y.value(y1), self.y.value(y2)) if self.y else (self.rows[y1], self.x.value(x1), self.x.value(x2))

    def bars(self, row):
        """(begin, end, class) of each bar of a row."""
        for bar in self.svg.all("rect", "bar"):
            middle = float(bar["y"]) + float(bar["height"]) / 2
            if self.rows[round(middle, 2)] == row:
                yield self.x.value(float(bar["x"])), self.x.value(float(bar["x"]) + float(bar["width"])), bar.classes[-1]


def plot(page, name):
    return Plot(next(svg for svg in page.all("svg") if svg["id"] == name))


def table(page, caption):
    """The rows of a table, titles first."""
    found = next(t for t in page.all("table") if next(t.all("caption")).text == caption)
    return [[cell.text for cell in row.children if isinstance(cell, Element)] for row in found.all("tr")]


def chromium():
    return shutil.which("chromium")


def checked_in_browser(files, *options):
    """What tests/fakes/browser/check_pages.mjs says of each file, or why it cannot be asked."""
    if not chromium() or not shutil.which("node"):
        return "chromium or node is not installed (scripts/install-deps.sh)"
    if not (MODULES / "node_modules").exists():
        return f"{MODULES} is not there (scripts/fetch-page-checks.sh)"
    ran = subprocess.run(["node", ROOT / "tests/fakes/browser/check_pages.mjs", MODULES, chromium(), *options, *files],
                         capture_output=True, text=True, timeout=240, check=False)
    if ran.returncode:
        raise AssertionError(ran.stderr)
    return [json.loads(line) for line in ran.stdout.splitlines()]
