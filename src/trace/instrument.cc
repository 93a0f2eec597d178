#include "trace/instrument.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "image/trace_parameter.h"
#include "ptx/flat.h"
#include "trace/kernel_editor.h"
#include "trace/kernel_events.h"

namespace baton::trace {
namespace {

using ptx::TextEdit;

// What `step` gives, or why the text that it reads is not PTX.
template <typename Step>
std::string obstacle_of(const Step& step) {
  try {
    return step();
  } catch (const Error& unreadable) {
    if (unreadable.code() != ErrorCode::kInvalidInput) throw;
    return unreadable.message();
  }
}

}  // namespace

Instrumented instrument(const std::shared_ptr<const ptx::ParsedModule>& module) {
  Instrumented out;
  // Names of files may have the prefix too.
  const auto has = [&](std::string_view mark) {
    return module->text().find(mark) != std::string::npos;
  };
  const bool is_done = has(fmt::format("%{}", kInsertedPrefix)) ||
                       has(fmt::format("${}", kInsertedPrefix)) || has(image::kTraceParameter);
  std::unordered_set<std::string_view> used;
  const std::string unread = obstacle_of([&] {
    used = used_names(*module);
    return std::string();
  });
  CalledEvents called(*module);
  std::vector<TextEdit> edits;
  for (const ptx::Function* kernel : module->entries()) {
    InstrumentedKernel& result = out.kernels.emplace_back();
    result.kernel = kernel->name;
    result.obstacle = obstacle_of([&]() -> std::string {
      if (!unread.empty()) return unread;
      if (is_done) return "its PTX is instrumented already";
      if (module->address_size() != 64) return "its PTX has addresses of 32 bits";
      // activemask
      if (module->version_major() * 10 + module->version_minor() < 62) {
        return fmt::format("its PTX has the version {}.{}, and records need 6.2",
                           module->version_major(), module->version_minor());
      }
      if (!kernel->has_body) return "its PTX has no body";
      if (used.contains(kernel->name)) return "its PTX uses its name elsewhere";
      std::string unseen = called.missed_by(*kernel);
      if (!unseen.empty()) return unseen;
      const std::vector<TextEdit> own = edits_of(*module, *kernel);
      edits.insert(edits.end(), own.begin(), own.end());
      return "";
    });
  }
  if (edits.empty()) return out;
  const std::string unreadable = obstacle_of([&] {
    out.module =
        ptx::ParsedModule::parse(ptx::edited(module->text(), std::move(edits)), module->name());
    for (const ptx::Function* kernel : out.module->entries()) {
      if (kernel->has_body) ptx::FlatFunction{*kernel};
    }
    return std::string();
  });
  if (unreadable.empty()) return out;
  out.module = nullptr;
  for (InstrumentedKernel& kernel : out.kernels) {
    if (kernel.obstacle.empty()) kernel.obstacle = unreadable;
  }
  return out;
}

}  // namespace baton::trace
