#include "compile/source/hidden_code.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "compile/headers.h"
#include "compile/source/includes.h"
#include "compile/source/words.h"

namespace baton::compiler {
namespace {

using Kind = Declaration::Kind;

// In so many rounds statements go; after that the whole body.
constexpr std::size_t kRoundsOfStatements = 3;
constexpr std::string_view kInline = "inline ";

bool says(std::string_view message, std::string_view what) {
  return message.find(what) != std::string_view::npos;
}

// Where the instantiation began that an error in a header is about: "... at line 12 of "k.cu"".
std::optional<SourceLocation> instantiation(std::string_view detail, std::string_view file) {
  constexpr std::string_view kAt = " at line ";
  const std::size_t at = detail.rfind(kAt);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = detail.substr(at + kAt.size());
  SourceLocation where{std::string(file), 0, 0};
  const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), where.line);
  if (number.ec != std::errc()) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(number.ptr - rest.data()));
  constexpr std::string_view kOf = " of ";
  if (rest.starts_with(kOf)) {
    rest.remove_prefix(kOf.size());
    if (rest.starts_with('"')) rest = rest.substr(1, rest.find('"', 1) - 1);
    where.file = rest;
  }
  return where;
}

}  // namespace

void HiddenCode::add_file(std::string name, std::string compilers_name, std::string text) {
  auto file = std::make_unique<File>(std::move(text));
  write(*file);
  names_.emplace(std::move(compilers_name), name);
  files_.emplace(std::move(name), std::move(file));
}

HiddenCode::File* HiddenCode::find(std::string_view name) const {
  const auto known = names_.find(name);
  const auto found = files_.find(known == names_.end() ? name : std::string_view(known->second));
  return found == files_.end() ? nullptr : found->second.get();
}

void HiddenCode::next_round() {
  for (auto& [name, file] : files_) write(*file);
  ++round_;
}

const std::string& HiddenCode::text(std::string_view name) const {
  return find(name)->out;
}

bool HiddenCode::is_changed(std::string_view name) const {
  const File* file = find(name);
  return file != nullptr && !file->edits.empty();
}

std::size_t HiddenCode::size() const {
  std::size_t parts = 0;
  for (const auto& [name, file] : files_) parts += file->edits.size();
  return parts;
}

bool HiddenCode::hide(const Diagnostic& error) {
  std::vector<SourceLocation> places = {error.where};
  for (const std::string& detail : error.details) {
    if (auto place = instantiation(detail, error.where.file)) places.push_back(std::move(*place));
  }
  for (const SourceLocation& where : places) {
    File* file = find(where.file);
    if (file == nullptr || file->outline.text().has_line_directives) continue;
    if (hide_at(*file, place_of(*file, where.line, where.column), error.message)) return true;
  }
  return false;
}

bool HiddenCode::hide_at(File& file, std::size_t place, std::string_view message) {
  if (message == "expected an expression") {
    const std::vector<TextRange> parts = file.outline.compound_literal(place);
    for (const TextRange& part : parts) add(file, part, Edit::Kind::kBlank);
    if (!parts.empty() || make_lambdas(file, place)) return true;
  }
  if (says(message, "annotation on lambda")) {
    const TextRange marks = file.outline.lambda_marks(place);
    if (!marks.empty()) return add(file, marks, Edit::Kind::kBlank);
  }
  if (hide_in_macros(file, place, message)) return true;
  std::vector<const Declaration*> chain = file.outline.at(place);
  std::erase_if(chain, [](const Declaration* each) { return each->kind == Kind::kNamespace; });
  if (chain.empty()) return false;
  const Declaration& inner = *chain.back();
  if (inner.is_for_device || inner.is_constexpr) return false;
  if (inner.kind == Kind::kFunction && inner.body.contains(place)) {
    return hide_in_function(file, inner, place, message);
  }
  if (chain.front()->kind == Kind::kClass) return hide_class(file, *chain.front());
  return add(file, inner.range, Edit::Kind::kBlank);
}

bool HiddenCode::hide_in_function(File& file, const Declaration& function, std::size_t place,
                                  std::string_view message) {
  std::vector<std::uint32_t>& rounds = file.rounds[function.range.begin];
  if (rounds.empty() || rounds.back() != round_) rounds.push_back(round_);
  if (says(message, "exception handling")) {
    const Outline::Try found = file.outline.try_at(place);
    if (!found.keyword.empty() && function.statements.contains(found.keyword.begin)) {
      add(file, found.keyword, Edit::Kind::kBlank);
      if (!found.handlers.empty()) add(file, found.handlers, Edit::Kind::kBlank);
      const std::size_t inside = found.block.begin + 1;
      return insert(file, {inside, kHiddenCall});
    }
  }
  const TextRange statement = rounds.size() > kRoundsOfStatements
                                  ? TextRange()
                                  : file.outline.statement(function.statements, place);
  if (statement.empty() || !add(file, statement, Edit::Kind::kCall)) {
    return add(file, function.body, Edit::Kind::kEnd);
  }
  // What is not declared any more is missed wherever it is named: no need to hear of each.
  const std::string_view name = undefined_name(message);
  if (name.empty()) return true;
  for (const TextRange& each : file.outline.statements_with(function.statements, name)) {
    add(file, each, Edit::Kind::kCall);
  }
  return true;
}

// A member that goes alone would change what the class is: its size, or how it is copied.
bool HiddenCode::hide_class(File& file, const Declaration& outermost) const {
  if (outermost.mentions_device || outermost.is_specialization) return false;
  return add(file, outermost.range, Edit::Kind::kBlank);
}

void HiddenCode::blank_byte_order_marks() {
  for (auto& [name, file] : files_) {
    if (file->source.starts_with(kByteOrderMark)) {
      add(*file, {0, kByteOrderMark.size()}, Edit::Kind::kBlank);
    }
  }
}

void HiddenCode::make_host_functions_inline(bool keeps_marked) {
  for (auto& [name, file] : files_) {
    std::vector<const Declaration*> open;
    const auto visit = [&](const auto& self, const std::vector<Declaration>& scope) -> void {
      for (const Declaration& each : scope) {
        if (each.kind == Kind::kNamespace) self(self, each.members);
        if (each.kind != Kind::kFunction || each.is_for_device || each.is_constexpr) continue;
        if (keeps_marked && each.mentions_device) continue;
        const std::size_t at = file->outline.specifiers(each.range.begin);
        insert(*file, {at, kInline});
      }
    };
    visit(visit, file->outline.declarations());
    write(*file);
  }
}

bool HiddenCode::touches(const SourceLocation& place) const {
  const File* found = find(place.file);
  if (found == nullptr || found->outline.text().has_line_directives) return false;
  const File& file = *found;
  const auto chain = file.outline.at(place_of(file, place.line, place.column));
  if (chain.empty() || chain.back()->kind == Kind::kNamespace) return false;
  const TextRange& range = chain.back()->range;
  return std::any_of(file.edits.begin(), file.edits.end(), [&](const Edit& edit) {
    return edit.inserted != kInline && range.contains(edit.range.begin);
  });
}

bool HiddenCode::add(File& file, const TextRange& range, Edit::Kind kind) const {
  return add(file, {range, kind, round_});
}

bool HiddenCode::insert(File& file, const Insertion& insertion) const {
  const TextRange range{insertion.at, insertion.at};
  return add(file, {range, Edit::Kind::kInsert, round_, insertion.text});
}

bool HiddenCode::add(File& file, const Edit& edit) const {
  for (const Edit& other : file.edits) {
    const bool is_within =
        other.range.begin <= edit.range.begin && edit.range.end <= other.range.end;
    if (is_within && (!other.range.empty() || edit.inserted == other.inserted)) {
      return other.round == round_;
    }
  }
  file.edits.push_back(edit);
  return true;
}

std::size_t HiddenCode::place_of(const File& file, int line, int column) {
  std::size_t at = 0;
  for (int i = 1; i < line && at < file.out.size(); ++i) {
    at = file.out.find('\n', at);
    at = at == std::string::npos ? file.out.size() : at + 1;
  }
  const auto is_continued = [&](std::size_t byte) {
    return (static_cast<unsigned char>(file.out[byte]) & 0xC0) == 0x80;
  };
  if (column == 0) {
    while (at < file.out.size() && (file.out[at] == ' ' || file.out[at] == '\t')) ++at;
  }
  for (int i = 1; i < column && at < file.out.size() && file.out[at] != '\n'; ++i) {
    do ++at;
    while (at < file.out.size() && is_continued(at));
  }
  const auto after =
      std::upper_bound(file.origins.begin(), file.origins.end(), at,
                       [](std::size_t out, const auto& each) { return out < each.first; });
  if (after == file.origins.begin()) return at;
  const auto& [out, source] = *std::prev(after);
  return std::min(source + (at - out), file.source.size());
}

void HiddenCode::write(File& file) {
  // Larger ranges first: what lies within one goes with it.
  std::stable_sort(file.edits.begin(), file.edits.end(), [](const Edit& a, const Edit& b) {
    return a.range.begin != b.range.begin ? a.range.begin < b.range.begin
                                          : a.range.end > b.range.end;
  });
  file.out.clear();
  file.origins.clear();
  std::size_t at = 0;
  const auto copy_to = [&](std::size_t end) {
    file.origins.emplace_back(file.out.size(), at);
    file.out.append(file.source, at, end - at);
    at = end;
  };
  for (const Edit& edit : file.edits) {
    if (edit.range.begin < at) continue;
    copy_to(edit.range.begin);
    file.origins.emplace_back(file.out.size(), edit.range.begin);
    write_hidden(file, edit);
    at = edit.range.end;
  }
  copy_to(file.source.size());
}

void HiddenCode::write_hidden(File& file, const Edit& edit) {
  const bool calls = edit.kind == Edit::Kind::kCall;
  const std::string call = std::string(kHiddenCall);
  file.out += edit.inserted;
  if (edit.kind == Edit::Kind::kEnd) file.out += ';';
  // Between directives, which stay, each part with text becomes a call: any of them may be the one
  // that is compiled.
  bool wants_call = calls;
  std::size_t at = edit.range.begin;
  const std::vector<DirectiveLine>& directives = file.outline.text().directives;
  auto directive = std::lower_bound(
      directives.begin(), directives.end(), at,
      [](const DirectiveLine& each, std::size_t place) { return each.begin < place; });
  while (at < edit.range.end) {
    if (directive != directives.end() && directive->begin == at) {
      const std::string_view line =
          std::string_view(file.source).substr(at, directive->end - directive->begin);
      // A #pragma may belong to the statement that follows it.
      if (!contains_word(line, "pragma")) {
        file.out += line;
      } else {
        file.out.append(static_cast<std::size_t>(std::count(line.begin(), line.end(), '\n')), '\n');
      }
      at = directive->end;
      ++directive;
      wants_call = calls;
      continue;
    }
    const char c = file.source[at++];
    const bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
    if (wants_call && !is_blank) {
      file.out += call;
      wants_call = false;
    }
    if (c == '\n' || c == '\t')
      file.out += c;
    else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      file.out += ' ';
  }
}

}  // namespace baton::compiler
