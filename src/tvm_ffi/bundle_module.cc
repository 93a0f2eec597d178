#include "tvm_ffi/bundle_module.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {

BundleModule::BundleModule(BundleHandle bundle, std::string path, std::string bytes)
    : bundle_(std::move(bundle)),
      path_(std::move(path)),
      bytes_(std::move(bytes)),
      parts_(ProgramParts::read(bundle_.get())) {}

std::shared_ptr<BundleModule> BundleModule::open(const std::string& path) {
  BundleHandle bundle;
  check(baton_bundle_open(path.c_str(), BATON_VERIFY_INDEX, bundle.out()));
  return std::shared_ptr<BundleModule>(new BundleModule(std::move(bundle), path, {}));
}

std::shared_ptr<BundleModule> BundleModule::from_bytes(std::string_view bytes) {
  BundleHandle bundle;
  check(baton_bundle_from_bytes(bytes.data(), bytes.size(), "<bundle>", BATON_VERIFY_INDEX,
                                bundle.out()));
  return std::shared_ptr<BundleModule>(new BundleModule(std::move(bundle), {}, std::string(bytes)));
}

LoadedBundle& BundleModule::on(const Target& target) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<LoadedBundle>& loaded = loaded_[target.spec];
  if (!loaded) loaded = std::make_unique<LoadedBundle>(bundle_.get(), parts_, target);
  return *loaded;
}

std::string BundleModule::bytes() const {
  if (path_.empty()) return bytes_;
  std::ifstream file(path_, std::ios::binary);
  std::ostringstream contents;
  contents << file.rdbuf();
  if (!file) fail("RuntimeError", "cannot read the bundle {}", path_);
  return std::move(contents).str();
}

std::optional<FunctionName> find_function(const ProgramParts& parts, std::string_view name) {
  constexpr std::string_view kPrefix = "kernel.";
  using Kind = FunctionName::Kind;
  if (name == "main") return FunctionName{Kind::kProgram};
  if (name == "main_graph") return FunctionName{Kind::kProgramGraph};
  if (parts.has_kernel(name)) return FunctionName{Kind::kKernel, std::string(name)};
  if (name == parts.name) return FunctionName{Kind::kProgram};
  if (name.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (!parts.has_kernel(name)) return std::nullopt;
  return FunctionName{Kind::kKernel, std::string(name)};
}

}  // namespace baton::tvm_ffi
