#include "cli/picture/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cli/output/format.h"
#include "cli/picture/program_picture.h"
#include "cli/picture/sm_picture.h"
#include "cli/picture/svg.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"

namespace baton::cli {
namespace {

using PageJson = nlohmann::ordered_json;

// Rows of a table that are shown; more are counted.
constexpr std::size_t kMostPageRows = 500;
constexpr int kLinesAround = 3;

struct HtmlCell {
  std::string html;
  std::string_view css_class = "";  // "r" to the right, "w" with line ends
};

std::string html_table(const std::vector<HtmlCell>& head,
                       const std::vector<std::vector<HtmlCell>>& rows) {
  std::string html = "<div class=\"scroll\"><table><thead><tr>";
  for (const HtmlCell& cell : head) {
    html += fmt::format("<th class=\"{}\">{}</th>", cell.css_class, cell.html);
  }
  html += "</tr></thead><tbody>\n";
  for (std::size_t k = 0; k < std::min(rows.size(), kMostPageRows); ++k) {
    html += "<tr>";
    for (const HtmlCell& cell : rows[k]) {
      html += fmt::format("<td class=\"{}\">{}</td>", cell.css_class, cell.html);
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (rows.size() > kMostPageRows) {
    html += fmt::format("<p class=\"soft\">and {} more rows; --json has all</p>\n",
                        rows.size() - kMostPageRows);
  }
  return html;
}

std::string pill(std::string_view text, std::string_view css_class) {
  return fmt::format("<span class=\"pill {}\">{}</span>", css_class, escaped(text));
}

std::string text_of(const PageJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const PageJson& list_of(const PageJson& object, const char* key) {
  static const PageJson kEmpty = PageJson::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kEmpty;
}

std::string status_pill(const PageJson& result) {
  if (result.contains("error")) return pill("failed", "bad");
  for (const PageJson& finding : list_of(result, "findings")) {
    if (text_of(finding, "severity") == "warning") return pill("warnings", "doubt");
  }
  return list_of(result, "warnings").empty() ? pill("ok", "good") : pill("warnings", "doubt");
}

std::string excerpt_html(std::string_view where, tools::SourceLines& sources) {
  std::string html;
  for (const tools::SourceLine& line : sources.lines(where, kLinesAround)) {
    const std::string text = fmt::format("{:5} | {}", line.number, escaped(line.text));
    html += line.is_place ? fmt::format("<mark>{}</mark>", text) : text + "\n";
  }
  return html.empty() ? "" : fmt::format("<pre>{}</pre>\n", html);
}

std::string header_html(const PageJson& result) {
  std::string html =
      fmt::format("<h1>{} {}</h1>\n<dl>", escaped(text_of(result, "program")), status_pill(result));
  const auto add = [&](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped(value));
  };
  add("device", fmt::format("{} ({})", text_of(result, "device_name"), text_of(result, "device")));
  if (const auto symbols = result.find("symbols");
      symbols != result.end() && symbols->is_object()) {
    std::string text;
    for (const auto& [name, value] : symbols->items()) {
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value.dump());
    }
    add("symbols", text);
  }
  add("executor", text_of(result, "executor"));
  add("schedule", text_of(result, "schedule"));
  return html + "</dl>\n";
}

std::string error_html(const PageJson& result, tools::SourceLines& sources) {
  const auto error = result.find("error");
  if (error == result.end()) return {};
  std::string html =
      fmt::format("<div class=\"card bad\"><strong>{}</strong> {}",
                  escaped(text_of(*error, "code")), escaped(text_of(*error, "what")));
  const std::string where = text_of(*error, "where");
  if (!where.empty()) html += fmt::format("<div class=\"soft\">{}</div>", escaped(where));
  html += excerpt_html(where, sources);
  if (const PageJson& notes = list_of(*error, "notes"); !notes.empty()) {
    html += "<pre>";
    for (const PageJson& note : notes) html += escaped(note.get<std::string>()) + "\n";
    html += "</pre>";
  }
  return html + "</div>\n";
}

// The error of a fault says what its finding says.
bool is_the_error(const PageJson& finding, const PageJson& result) {
  const auto error = result.find("error");
  return error != result.end() && text_of(*error, "where") == text_of(finding, "where") &&
         text_of(*error, "what").find(text_of(finding, "message")) != std::string::npos;
}

std::string findings_html(const PageJson& result, tools::SourceLines& sources) {
  const PageJson& findings = list_of(result, "findings");
  const PageJson& warnings = list_of(result, "warnings");
  const bool any = std::any_of(findings.begin(), findings.end(), [&](const PageJson& finding) {
    return !is_the_error(finding, result);
  });
  if (!any && warnings.empty()) return {};
  std::string html = "<h2>Findings</h2>\n";
  for (const PageJson& finding : findings) {
    if (is_the_error(finding, result)) continue;
    const bool is_error = text_of(finding, "severity") == "error";
    const auto count = finding.value("count", std::uint64_t{1});
    html += fmt::format(
        "<div class=\"card {}\">{} <strong>{}</strong>{}<div>{}</div>\n<div class=\"soft\">kernel "
        "{}, block ({}), thread ({}){}{}{}</div>\n{}</div>\n",
        is_error ? "bad" : "", pill(is_error ? "error" : "warning", is_error ? "bad" : "doubt"),
        escaped(text_of(finding, "kind")), count == 1 ? "" : fmt::format(", {} times", count),
        escaped(text_of(finding, "message")),
        escaped(tools::with_readable_names(text_of(finding, "kernel"))),
        fmt::join(finding.at("block").get<std::vector<std::uint32_t>>(), ", "),
        fmt::join(finding.at("thread").get<std::vector<std::uint32_t>>(), ", "),
        text_of(finding, "launch").empty() ? "" : ", " + escaped(text_of(finding, "launch")),
        text_of(finding, "where").empty() ? "" : ", at ", escaped(text_of(finding, "where")),
        excerpt_html(text_of(finding, "where"), sources));
  }
  for (const PageJson& warning : warnings) {
    html += fmt::format("<div class=\"card\">{} {}</div>\n", pill("warning", "doubt"),
                        escaped(warning.get<std::string>()));
  }
  return html;
}

std::string seconds_text(const PageJson& value) {
  return value.is_number() ? format_duration(value.get<double>()) : "";
}

std::string extent_of(const PageJson& step, const char* key) {
  const auto found = step.find(key);
  if (found == step.end()) return "";
  const auto values = found->get<std::vector<std::uint32_t>>();
  return format_extent({values.at(0), values.at(1), values.at(2)});
}

std::string steps_html(const PageJson& result) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const PageJson& step : list_of(result, "steps")) {
    std::string label = text_of(step, "label");
    if (const std::string indexes = text_of(step, "indexes"); !indexes.empty()) {
      label += fmt::format(" ({})", indexes);
    }
    const auto executions = step.value("executions", std::uint64_t{1});
    const PageJson& instructions = step.at("instructions");
    rows.push_back(
        {{escaped(label)},
         {executions == 1 ? "" : fmt::format("{} times", executions), "r"},
         {extent_of(step, "grid"), "r"},
         {extent_of(step, "block"), "r"},
         {seconds_text(step.at("seconds")), "r"},
         {format_bytes(step.value("bytes", std::uint64_t{0})), "r"},
         {instructions.is_number() ? format_count(instructions.get<std::uint64_t>()) : "", "r"},
         {escaped(text_of(step, "where"))}});
  }
  if (rows.empty()) return {};
  return "<h2>Steps</h2>\n" + html_table({{"step"},
                                          {"", "r"},
                                          {"grid", "r"},
                                          {"block", "r"},
                                          {"time", "r"},
                                          {"moved", "r"},
                                          {"instructions", "r"},
                                          {"place"}},
                                         rows);
}

std::string edges_html(const PageJson& result) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const PageJson& edge : list_of(result, "edges")) {
    const std::string verdict = text_of(edge, "verdict");
    rows.push_back({{fmt::format("{} &rarr; {}", edge.value("from", 0), edge.value("to", 0))},
                    {pill(verdict, verdict == "proven"   ? "good"
                                   : verdict == "unsafe" ? "bad"
                                                         : "doubt")},
                    {escaped(text_of(edge, "decision"))},
                    {escaped(text_of(edge, "reason")), "w"}});
  }
  if (rows.empty()) return {};
  return "<h2>Edges</h2>\n" +
         html_table({{"launches"}, {"verdict"}, {"decision"}, {"reason"}}, rows);
}

std::string outputs_html(const PageJson& result) {
  std::vector<std::vector<HtmlCell>> rows;
  for (const PageJson& output : list_of(result, "outputs")) {
    const auto ok = output.find("ok");
    std::string verdict = "<span class=\"soft\">not compared</span>", details;
    if (ok != output.end()) {
      verdict = ok->get<bool>() ? pill("as expected", "good") : pill("differs", "bad");
      if (!ok->get<bool>()) {
        details = fmt::format("{} elements; {}", output.value("mismatches", std::int64_t{0}),
                              escaped(text_of(output, "pattern")));
      }
    }
    rows.push_back({{escaped(text_of(output, "name"))},
                    {escaped(text_of(output, "dtype"))},
                    {escaped(output.at("shape").dump())},
                    {verdict},
                    {details, "w"}});
  }
  if (rows.empty()) return {};
  return "<h2>Outputs</h2>\n" +
         html_table({{"buffer"}, {"dtype"}, {"shape"}, {"comparison"}, {""}}, rows);
}

std::string traced_html(const PageJson& result) {
  const auto trace = result.find("trace");
  if (trace == result.end() || !trace->is_object()) return {};
  const double all = trace->value("idle_sm_seconds", 0.0);
  const PageJson& costliest = trace->at("costliest");
  std::vector<std::vector<HtmlCell>> rows;
  for (const PageJson& edge : list_of(*trace, "edges")) {
    const double idle = edge.value("idle_sm_seconds", 0.0);
    const bool is_worst = costliest.is_number() && costliest == rows.size();
    rows.push_back(
        {{fmt::format("{} &rarr; {}", escaped(text_of(edge, "from_kernel")),
                      escaped(text_of(edge, "to_kernel")))},
         {fmt::format("{} times", edge.value("executions", std::uint64_t{0})), "r"},
         {seconds_text(edge.at("overlap_seconds")), "r"},
         {seconds_text(edge.at("gap_seconds")), "r"},
         {seconds_text(edge.at("wait_seconds")), "r"},
         {seconds_text(edge.at("tail_seconds")), "r"},
         {format_duration(idle), "r"},
         {is_worst ? pill("costs most", "bad")
                   : fmt::format("{:.0f} %", all > 0 ? 100 * idle / all : 0.0)},
         {escaped(list_of(edge, "advice").empty() ? "" : text_of(edge.at("advice").at(0), "text")),
          "w"}});
  }
  std::string html = "<h2>What the edges cost</h2>\n";
  if (!rows.empty()) {
    html += html_table({{"edge"},
                        {"", "r"},
                        {"overlap", "r"},
                        {"gap", "r"},
                        {"wait", "r"},
                        {"tail", "r"},
                        {"idle SM time", "r"},
                        {"of all"},
                        {"what may help"}},
                       rows);
  }
  for (const PageJson& remark : list_of(*trace, "remarks")) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", escaped(remark.get<std::string>()));
  }
  return html;
}

std::string section(std::string_view title, const std::string& picture) {
  return picture.empty()
             ? ""
             : fmt::format("<h2>{}</h2>\n<div class=\"scroll\">{}</div>\n", title, picture);
}

}  // namespace

std::string run_page(const PageJson& result, const std::string& trace,
                     tools::SourceLines& sources) {
  const std::string body =
      header_html(result) + error_html(result, sources) + findings_html(result, sources) +
      section("Program", program_picture(result)) + outputs_html(result) + steps_html(result) +
      edges_html(result) + section("Timeline", timeline_picture(result, trace)) +
      section("Blocks by multiprocessors", sm_picture(trace)) + traced_html(result);
  return html_page(
      fmt::format("{} on {}", text_of(result, "program"), text_of(result, "device_name")), body);
}

}  // namespace baton::cli
