#include "baton/module.h"

#include <string>
#include <vector>

#include "base/file/mapped_file.h"
#include "bundle/index.h"
#include "capi/call.h"

using baton::Image;
using baton::Module;
using baton::Source;
using baton::capi::Call;

namespace baton::capi {
namespace {

// What the caller asks of the compiler, apart from the source.
struct CompileRequest {
  CompileOptions options;
  std::vector<std::filesystem::path> include;
  std::vector<std::string> flags;
  baton_compile_options given;

  CompileRequest(const Call& call, const baton_compile_options* asked, const Device& device)
      : given(call.read(asked, BATON_COMPILE_OPTIONS_INIT, "options")) {
    options.use_cache = call.flag(given.use_cache, "options->use_cache");
    options.param_names = call.flag(given.param_names, "options->param_names");
    options.arch = given.arch == nullptr ? device.compile_arch() : given.arch;
    add_texts(call, given.entries, given.entry_count, "options->entries", options.entries);
    add_texts(call, given.include, given.include_count, "options->include", include);
    add_texts(call, given.options, given.option_count, "options->options", flags);
  }

  Compiled compile(Source source) const {
    if (given.name != nullptr) source.name = given.name;
    if (given.directory != nullptr) source.directory = given.directory;
    if (given.prelude != nullptr) source.prelude = given.prelude;
    source.include = include;
    source.options = flags;
    return baton::compile(source, options);
  }

 private:
  template <typename T>
  static void add_texts(const Call& call, const char* const* first, std::size_t count,
                        const char* argument, std::vector<T>& texts) {
    for (const char* text : call.array(first, count, argument)) {
      texts.emplace_back(std::string(call.text(text, argument)));
    }
  }
};

baton_error* compile_module(const char* function, const baton_device* device,
                            const baton_compile_options* options, baton_module** module,
                            const auto& make_source) {
  return capi::call(function, [&](const Call& call) {
    baton_module*& result = call.result(module, "module");
    const Device& on = call.get(device, "device");
    const CompileRequest request(call, options, on);
    Compiled compiled = request.compile(make_source(call));
    result = make_handle<baton_module>(Module::load(on, compiled), std::move(compiled.log));
  });
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_module_load(const baton_device* device, const void* bytes, std::size_t size,
                               baton_module** module) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_module*& result = call.result(module, "module");
    const baton::Device& on = call.get(device, "device");
    call.require_bytes(bytes, size, "bytes");
    const std::string_view view(static_cast<const char*>(bytes), size);
    // It says what is wrong with a bundle that was cut. A whole one is not an image either.
    if (baton::bundle::is_bundle(view)) {
      baton::bundle::Index::read(*baton::MappedFile::from_bytes(std::string(view), "<image>"));
    }
    result = baton::capi::make_handle<baton_module>(
        Module::load(on, Image::from_bytes(view, "<image>")), std::string());
  });
}

baton_error* baton_module_load_file(const baton_device* device, const char* path,
                                    baton_module** module) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_module*& result = call.result(module, "module");
    const baton::Device& on = call.get(device, "device");
    result = baton::capi::make_handle<baton_module>(
        Module::load(on, Image::from_file(call.text(path, "path"))), std::string());
  });
}

baton_error* baton_module_compile(const baton_device* device, const char* source,
                                  const baton_compile_options* options, baton_module** module) {
  return baton::capi::compile_module(__func__, device, options, module, [&](const Call& call) {
    return Source::from_text(std::string(call.text(source, "source")));
  });
}

baton_error* baton_module_compile_file(const baton_device* device, const char* path,
                                       const baton_compile_options* options,
                                       baton_module** module) {
  return baton::capi::compile_module(__func__, device, options, module, [&](const Call& call) {
    return Source::from_file(call.text(path, "path"));
  });
}

baton_error* baton_module_load_kernels(const baton_module* module) {
  return baton::capi::call(
      __func__, [&](const Call& call) { call.get(module, "module").module.load_kernels(); });
}

baton_error* baton_module_get_info(const baton_module* module, baton_module_info* info) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const auto& content = call.get(module, "module");
    const baton::ImageFacts& facts = content.module.facts();
    baton_module_info value = BATON_MODULE_INFO_INIT;
    value.arch = facts.arch.c_str();
    value.producer = facts.producer.c_str();
    value.log = content.log.c_str();
    value.kernel_count = facts.kernels.size();
    call.write(info, value, "info");
  });
}

baton_error* baton_module_kernel_name(const baton_module* module, std::size_t index,
                                      const char** name) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const char*& result = call.result(name, "name");
    const auto& kernels = call.get(module, "module").module.facts().kernels;
    call.require_index(index, kernels.size(), "kernels");
    result = kernels[index].name.c_str();
  });
}

baton_error* baton_module_variable(const baton_module* module, const char* name, void** address,
                                   std::size_t* bytes) {
  return baton::capi::call(__func__, [&](const Call& call) {
    void*& where = call.result(address, "address");
    std::size_t& size = call.result(bytes, "bytes");
    const auto found = call.get(module, "module").module.global(call.text(name, "name"));
    where = reinterpret_cast<void*>(found.first);
    size = found.second;
  });
}

void baton_module_retain(baton_module* module) {
  baton::capi::retain(module);
}

void baton_module_release(baton_module* module) {
  baton::capi::release(module);
}
