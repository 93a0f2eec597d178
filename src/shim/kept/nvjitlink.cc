// nvJitLink makes machine code of PTX, and of LTO-IR. The PTX of the first is its input. Of the
// second, a second link gives it.

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "image/cubin/kept_ptx.h"
#include "image/ptx/link_ptx.h"
#include "shim/kept/hooks.h"
#include "shim/kept/link.h"

namespace baton::kept {
namespace {

struct LinkInput {
  int kind;
  std::string bytes;
  std::string name;
};

// A link as its caller describes it.
struct Link {
  std::vector<std::string> options;
  std::vector<LinkInput> inputs;
  bool is_whole = true;  // all inputs are known
  std::string cubin;     // with the PTX, once its size was asked for
};

struct LinkerState {
  std::mutex mutex;
  LinkCreateFunction create = nullptr;
  LinkAddFunction add = nullptr;
  LinkCompleteFunction complete = nullptr;
  LinkSizeFunction cubin_size = nullptr;
  LinkGetFunction cubin = nullptr;
  LinkSizeFunction ptx_size = nullptr;
  LinkGetFunction ptx = nullptr;
  LinkEndFunction destroy = nullptr;
  void* add_file = nullptr;
  std::map<LinkHandle, Link> links;
};

LinkerState& linker() {
  static auto& state = *new LinkerState;
  return state;
}

std::string link_output(LinkSizeFunction size, LinkGetFunction get, LinkHandle handle) {
  std::size_t bytes = 0;
  if (size == nullptr || get == nullptr || size(handle, &bytes) != 0) return {};
  std::string text(bytes, '\0');
  if (bytes == 0 || get(handle, text.data()) != 0) return {};
  return text;
}

std::string_view without_end(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

// What the same link of LTO-IR gives as PTX.
std::string relinked(const LinkerState& state, const Link& link) {
  std::vector<const char*> options;
  for (const std::string& option : link.options) options.push_back(option.c_str());
  options.push_back("-ptx");
  LinkHandle handle = nullptr;
  if (state.create(&handle, static_cast<std::uint32_t>(options.size()), options.data()) != 0) {
    return {};
  }
  const bool is_complete =
      std::all_of(link.inputs.begin(), link.inputs.end(),
                  [&](const LinkInput& input) {
                    return state.add(handle, input.kind, input.bytes.data(), input.bytes.size(),
                                     input.name.c_str()) == 0;
                  }) &&
      state.complete(handle) == 0;
  std::string ptx = is_complete ? link_output(state.ptx_size, state.ptx, handle) : std::string();
  state.destroy(&handle);
  return ptx;
}

std::string ptx_of(const LinkerState& state, const Link& link) {
  if (!link.is_whole || link.inputs.empty()) return {};
  const bool is_lto =
      std::find(link.options.begin(), link.options.end(), "-lto") != link.options.end();
  if (is_lto) return std::string(without_end(relinked(state, link)));
  std::vector<std::shared_ptr<const ptx::ParsedModule>> modules;
  for (const LinkInput& input : link.inputs) {
    if (input.kind != kLinkPtx) return {};
    modules.push_back(ptx::ParsedModule::of(std::string(without_end(input.bytes)), input.name));
  }
  if (modules.size() == 1) return std::string(without_end(link.inputs.front().bytes));
  return image::link_ptx(modules);
}

LinkResult link_create(LinkHandle* handle, std::uint32_t count, const char** options) {
  LinkerState& state = linker();
  const LinkResult result = state.create(handle, count, options);
  if (result != 0 || handle == nullptr) return result;
  const std::lock_guard lock(state.mutex);
  Link& link = state.links[*handle] = {};
  for (std::uint32_t k = 0; k < count; ++k) link.options.emplace_back(options[k]);
  return result;
}

LinkResult link_add(LinkHandle handle, int kind, const void* data, std::size_t bytes,
                    const char* name) {
  LinkerState& state = linker();
  const LinkResult result = state.add(handle, kind, data, bytes, name);
  if (result != 0) return result;
  const std::lock_guard lock(state.mutex);
  if (const auto found = state.links.find(handle); found != state.links.end()) {
    found->second.inputs.push_back({kind, std::string(static_cast<const char*>(data), bytes),
                                    name != nullptr ? name : "<data>"});
  }
  return result;
}

// Files are libraries for the most part, which bring no PTX.
LinkResult link_add_file(LinkHandle handle, int kind, const char* path) {
  LinkerState& state = linker();
  {
    const std::lock_guard lock(state.mutex);
    if (const auto found = state.links.find(handle); found != state.links.end()) {
      found->second.is_whole = false;
    }
  }
  return reinterpret_cast<LinkResult (*)(LinkHandle, int, const char*)>(state.add_file)(handle,
                                                                                        kind, path);
}

LinkResult link_cubin_size(LinkHandle handle, std::size_t* bytes) {
  LinkerState& state = linker();
  const LinkResult result = state.cubin_size(handle, bytes);
  if (result != 0 || bytes == nullptr) return result;
  const std::lock_guard lock(state.mutex);
  const auto found = state.links.find(handle);
  if (found == state.links.end()) return result;
  try {
    const std::string cubin = link_output(state.cubin_size, state.cubin, handle);
    const std::string ptx = ptx_of(state, found->second);
    if (cubin.empty() || ptx.empty()) return result;
    found->second.cubin = image::keep_ptx(cubin, ptx, "nvJitLink's cubin");
    *bytes = found->second.cubin.size();
  } catch (const std::exception& failure) {
    log(LogLevel::kWarning, "the PTX of a linked cubin is not kept: {}", failure.what());
  }
  return result;
}

// Who asks for a cubin has asked for its size.
LinkResult link_cubin(LinkHandle handle, void* bytes) {
  LinkerState& state = linker();
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.links.find(handle);
    if (found != state.links.end() && !found->second.cubin.empty() && bytes != nullptr) {
      std::memcpy(bytes, found->second.cubin.data(), found->second.cubin.size());
      return 0;
    }
  }
  return state.cubin(handle, bytes);
}

LinkResult link_destroy(LinkHandle* handle) {
  LinkerState& state = linker();
  if (handle != nullptr) {
    const std::lock_guard lock(state.mutex);
    state.links.erase(*handle);
  }
  return state.destroy(handle);
}

struct LinkHook {
  const char* name;
  void* function;
};

}  // namespace

void* link_hook(const char* name, void* library, BatonFindFunction find) {
  static const LinkHook kHooks[] = {
      {"nvJitLinkCreate", reinterpret_cast<void*>(link_create)},
      {"nvJitLinkAddData", reinterpret_cast<void*>(link_add)},
      {"nvJitLinkAddFile", reinterpret_cast<void*>(link_add_file)},
      {"nvJitLinkGetLinkedCubinSize", reinterpret_cast<void*>(link_cubin_size)},
      {"nvJitLinkGetLinkedCubin", reinterpret_cast<void*>(link_cubin)},
      {"nvJitLinkDestroy", reinterpret_cast<void*>(link_destroy)},
  };
  const auto* hook = std::find_if(std::begin(kHooks), std::end(kHooks), [name](const auto& each) {
    return std::strcmp(each.name, name) == 0;
  });
  if (hook == std::end(kHooks)) return nullptr;
  LinkerState& state = linker();
  const std::lock_guard lock(state.mutex);
  const auto own = [&](const char* each) { return find(library, each); };
  state.create = reinterpret_cast<LinkCreateFunction>(own("nvJitLinkCreate"));
  state.add = reinterpret_cast<LinkAddFunction>(own("nvJitLinkAddData"));
  state.add_file = own("nvJitLinkAddFile");
  state.complete = reinterpret_cast<LinkCompleteFunction>(own("nvJitLinkComplete"));
  state.cubin_size = reinterpret_cast<LinkSizeFunction>(own("nvJitLinkGetLinkedCubinSize"));
  state.cubin = reinterpret_cast<LinkGetFunction>(own("nvJitLinkGetLinkedCubin"));
  state.ptx_size = reinterpret_cast<LinkSizeFunction>(own("nvJitLinkGetLinkedPtxSize"));
  state.ptx = reinterpret_cast<LinkGetFunction>(own("nvJitLinkGetLinkedPtx"));
  state.destroy = reinterpret_cast<LinkEndFunction>(own("nvJitLinkDestroy"));
  const bool is_whole = state.create != nullptr && state.add != nullptr &&
                        state.complete != nullptr && state.cubin_size != nullptr &&
                        state.cubin != nullptr && state.destroy != nullptr &&
                        state.add_file != nullptr;
  return is_whole ? hook->function : nullptr;
}

}  // namespace baton::kept
