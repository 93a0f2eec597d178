#include "cli/picture/svg.h"

#include <fmt/core.h>

#include <cstdint>

#include "tools/basics.h"

namespace baton::cli {
namespace {

constexpr std::string_view kPictureStyle = R"(
:root{--ink:#1c2530;--soft:#5b6775;--rule:#d5dbe2;--ground:#fff;--panel:#f5f7f9;--bar:#3b7dd8;
--good:#1f8a4c;--bad:#c8372d;--doubt:#b7791f;--quiet:#aeb8c4}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#9aa7b4;--rule:#323c47;
--ground:#12171d;--panel:#1a2129;--bar:#5b9cf0;--good:#4cc27e;--bad:#f0705f;--doubt:#e0a94a;
--quiet:#56626f}}
svg text{font:12px ui-sans-serif,system-ui,sans-serif;fill:var(--ink)}
svg .n{fill:var(--soft);font-size:11px}svg .in{fill:#fff;font-size:11px;pointer-events:none}
svg .h{font-weight:600}
svg .box{fill:var(--panel);stroke:var(--rule)}svg .bar{fill:var(--bar)}
svg .move{fill:var(--quiet)}svg .side{fill:none;stroke:var(--quiet);stroke-dasharray:4 3}
svg .k0{fill:var(--bar)}svg .k1{fill:var(--good)}svg .k2{fill:var(--doubt)}
svg .k3{fill:var(--bad)}svg .wait{fill:var(--ground);opacity:.75}
svg .axis{stroke:var(--rule);fill:none}
svg .roof{stroke:var(--bad);stroke-dasharray:5 4;fill:none}
svg .good{stroke:var(--good);fill:none;stroke-width:2}
svg .bad{stroke:var(--bad);fill:none;stroke-width:2}
svg .doubt{stroke:var(--doubt);fill:none;stroke-width:2}
svg .quiet{stroke:var(--quiet);fill:none;stroke-width:2}
svg .tgood{fill:var(--good)}svg .tbad{fill:var(--bad)}svg .tdoubt{fill:var(--doubt)}
)";

constexpr std::string_view kPageStyle = R"(
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 ui-sans-serif,system-ui,
sans-serif}main{max-width:1000px;margin:0 auto;padding:24px 16px 64px}
h1{font-size:26px;margin:8px 0}h2{font-size:18px;margin:36px 0 8px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:12px 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}
th,td{padding:5px 10px;text-align:left;border-bottom:1px solid var(--rule);white-space:nowrap}
th{color:var(--soft);font-weight:600}td.r,th.r{text-align:right;font-variant-numeric:tabular-nums}
td.w{white-space:normal;min-width:220px}
pre{background:var(--panel);border:1px solid var(--rule);border-radius:6px;padding:10px 12px;
overflow-x:auto;font:13px/1.45 ui-monospace,monospace;margin:8px 0}
mark{background:color-mix(in srgb,var(--bad) 22%,transparent);color:inherit;display:block}
.card{border:1px solid var(--rule);border-left:4px solid var(--doubt);border-radius:6px;
padding:10px 14px;margin:12px 0}.card.bad{border-left-color:var(--bad)}
.pill{display:inline-block;border-radius:10px;padding:1px 10px;font-size:13px;font-weight:600;
border:1px solid currentColor}.pill.good{color:var(--good)}.pill.bad{color:var(--bad)}
.pill.doubt{color:var(--doubt)}.soft{color:var(--soft)}svg{max-width:100%;height:auto;display:block}
)";

std::string_view anchor_name(Svg::Anchor anchor) {
  switch (anchor) {
    case Svg::Anchor::kStart:
      return "start";
    case Svg::Anchor::kMiddle:
      return "middle";
    case Svg::Anchor::kEnd:
      return "end";
  }
  return "start";
}

std::string title_element(std::string_view title) {
  return title.empty() ? "" : fmt::format("<title>{}</title>", escaped(title));
}

// The first characters, and "…" where some are left out. Bytes that go on in a character stay.
std::string cut(std::string_view text, std::size_t most) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<std::uint8_t>(text[i]) & 0xc0) != 0x80;
    if (begins && characters++ == most) return std::string(text.substr(0, i)) + "…";
  }
  return std::string(text);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  const auto add_line = [&](std::string_view line) {
    for (const char c : printable(line, std::string_view::npos)) {
      switch (c) {
        case '&':
          result += "&amp;";
          break;
        case '<':
          result += "&lt;";
          break;
        case '>':
          result += "&gt;";
          break;
        case '"':
          result += "&quot;";
          break;
        case '\'':
          result += "&#39;";
          break;
        default:
          result += c;
      }
    }
  };
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_line(text.substr(0, end));
    if (end == text.size()) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

void Svg::rectangle(double x, double y, double width, double height, std::string_view css_class,
                    std::string_view title) {
  body_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "rx=\"3\">{}</rect>\n",
      css_class, x, y, width, height, title_element(title));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  body_ +=
      fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                  css_class, x1, y1, x2, y2);
}

void Svg::circle(double x, double y, double radius, std::string_view css_class,
                 std::string_view title) {
  body_ +=
      fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>\n",
                  css_class, x, y, radius, title_element(title));
}

void Svg::path(std::string_view commands, std::string_view css_class, std::string_view title) {
  body_ += fmt::format("<path class=\"{}\" d=\"{}\">{}</path>\n", css_class, commands,
                       title_element(title));
}

void Svg::text(double x, double y, std::string_view text, Anchor anchor, std::string_view css_class,
               std::size_t most) {
  body_ +=
      fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                  css_class, x, y, anchor_name(anchor), escaped(cut(text, most)));
}

std::string Svg::tag(std::string_view extra, std::string_view label, std::string_view style) const {
  return fmt::format(
      "<svg{0} role=\"img\" aria-label=\"{1}\" width=\"{2:.0f}\" height=\"{3:.0f}\" viewBox=\"0 0 "
      "{2:.0f} {3:.0f}\">\n{4}{5}</svg>\n",
      extra, escaped(label), width_, height_, style, body_);
}

std::string Svg::element(std::string_view label) const {
  return tag("", label, "");
}

std::string Svg::file(std::string_view label) const {
  const std::string style = fmt::format(
      "<style>{}</style><rect width=\"100%\" height=\"100%\" style=\"fill:var(--ground)\"/>\n",
      kPictureStyle);
  return tag(" xmlns=\"http://www.w3.org/2000/svg\"", label, style);
}

std::string_view picture_style() {
  return kPictureStyle;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style></head>\n<body><main>\n{}</main></body></html>\n",
      escaped(title), kPictureStyle, kPageStyle, body);
}

}  // namespace baton::cli
