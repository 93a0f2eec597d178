#include "ptx/text_edit.h"

#include <algorithm>
#include <functional>

#include "base/error.h"

namespace baton::ptx {

std::size_t offset_of(const ParsedModule& module, std::string_view part) {
  const std::string_view text = module.text();
  const std::less<const char*> less;
  const char* end = text.data() + text.size();
  if (less(part.data(), text.data()) || less(end, part.data() + part.size())) {
    throw error(ErrorCode::kInvalidInput, "{} is not written in its PTX", part);
  }
  return static_cast<std::size_t>(part.data() - text.data());
}

std::size_t begin_of(const ParsedModule& module, const Instruction& instruction) {
  if (instruction.guard.empty()) return offset_of(module, instruction.opcode);
  const std::size_t guard = offset_of(module, instruction.guard);
  const std::size_t found = module.text().rfind('@', guard);
  return found == std::string::npos ? guard : found;
}

std::size_t top_of(const ParsedModule& module, const Function& function) {
  return offset_of(module, function.body_text()) + 1;
}

std::string edited(std::string_view text, std::vector<TextEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const TextEdit& a, const TextEdit& b) { return a.at < b.at; });
  std::string out;
  std::size_t copied = 0;
  for (const TextEdit& edit : edits) {
    out += text.substr(copied, edit.at - copied);
    out += edit.inserted;
    copied = edit.at + edit.removed;
  }
  out += text.substr(copied);
  return out;
}

}  // namespace baton::ptx
