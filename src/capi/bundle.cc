#include "baton/bundle.h"

#include <fmt/core.h>

#include "capi/call.h"

using baton::Bundle;
using baton::Verify;
using baton::capi::Call;

namespace baton::capi {
namespace {

Verify verify_of(const Call& call, std::int32_t verify) {
  static constexpr Call::Constant<Verify> kLevels[] = {
      {BATON_VERIFY_INDEX, Verify::kIndex},
      {BATON_VERIFY_ALL, Verify::kAll},
      {BATON_VERIFY_ONCE, Verify::kOnce},
  };
  return call.constant(verify, kLevels, "verify");
}

baton_bundle* make_bundle(Bundle bundle) {
  std::string version = bundle.version();
  std::vector<std::string> architectures = bundle.architectures();
  return make_handle<baton_bundle>(std::move(bundle), std::move(version), std::move(architectures));
}

BundleChecks checks_of(const Call& call, const baton_bundle_options* given) {
  static constexpr baton_bundle_options kDefaults = BATON_BUNDLE_OPTIONS_INIT;
  const baton_bundle_options options = call.read(given, kDefaults, "options");
  call.require_zero(options.reserved, "reserved");
  BundleChecks checks{verify_of(call, options.verify), std::nullopt};
  const auto keys = call.array(options.keys, options.key_count, "keys");
  if (!keys.empty()) checks.keys.emplace();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    checks.keys->push_back(
        PublicKey::from_pem(call.text(keys[i], "keys"), fmt::format("keys[{}]", i)));
  }
  return checks;
}

Bundle copy_bundle(const Call& call, const void* bytes, std::size_t size, const char* name,
                   const BundleChecks& checks) {
  call.require_bytes(bytes, size, "bytes");
  return Bundle::from_bytes(std::string(static_cast<const char*>(bytes), size),
                            name == nullptr ? "<bundle>" : name, checks);
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_bundle_open(const char* path, std::int32_t verify, baton_bundle** bundle) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_bundle*& result = call.result(bundle, "bundle");
    const Verify level = baton::capi::verify_of(call, verify);
    result = baton::capi::make_bundle(Bundle::open(call.text(path, "path"), level));
  });
}

baton_error* baton_bundle_from_bytes(const void* bytes, std::size_t size, const char* name,
                                     std::int32_t verify, baton_bundle** bundle) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_bundle*& result = call.result(bundle, "bundle");
    const Verify level = baton::capi::verify_of(call, verify);
    result = baton::capi::make_bundle(
        baton::capi::copy_bundle(call, bytes, size, name, {level, std::nullopt}));
  });
}

baton_error* baton_bundle_open_with(const char* path, const baton_bundle_options* options,
                                    baton_bundle** bundle) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_bundle*& result = call.result(bundle, "bundle");
    const std::string_view file = call.text(path, "path");
    result = baton::capi::make_bundle(Bundle::open(file, baton::capi::checks_of(call, options)));
  });
}

baton_error* baton_bundle_from_bytes_with(const void* bytes, std::size_t size, const char* name,
                                          const baton_bundle_options* options,
                                          baton_bundle** bundle) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_bundle*& result = call.result(bundle, "bundle");
    result = baton::capi::make_bundle(
        baton::capi::copy_bundle(call, bytes, size, name, baton::capi::checks_of(call, options)));
  });
}

baton_error* baton_bundle_signed_by(const baton_bundle* bundle, char* key_id) {
  return baton::capi::call(__func__, [&](const Call& call) {
    char& first = call.result(key_id, "key_id");
    first = '\0';
    const auto signer = call.get(bundle, "bundle").bundle.signed_by();
    if (!signer) return;
    key_id[signer->id().copy(key_id, BATON_KEY_ID_SIZE - 1)] = '\0';
  });
}

baton_error* baton_bundle_get_info(const baton_bundle* bundle, baton_bundle_info* info) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const auto& content = call.get(bundle, "bundle");
    baton_bundle_info value = BATON_BUNDLE_INFO_INIT;
    value.name = content.bundle.name().c_str();
    value.version = content.version.c_str();
    value.program = content.bundle.program().name().c_str();
    value.architecture_count = content.architectures.size();
    value.kernel_count = content.bundle.program().kernels().size();
    value.buffer_count = content.bundle.program().buffers().size();
    value.symbol_count = content.bundle.program().symbols().size();
    call.write(info, value, "info");
  });
}

baton_error* baton_bundle_architecture(const baton_bundle* bundle, std::size_t index,
                                       const char** architecture) {
  return baton::capi::call(__func__, [&](const Call& call) {
    const char*& result = call.result(architecture, "architecture");
    const auto& architectures = call.get(bundle, "bundle").architectures;
    call.require_index(index, architectures.size(), "architectures");
    result = architectures[index].c_str();
  });
}

void baton_bundle_retain(baton_bundle* bundle) {
  baton::capi::retain(bundle);
}

void baton_bundle_release(baton_bundle* bundle) {
  baton::capi::release(bundle);
}
