#include "sim/engine/lower/module.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "sim/engine/lower/decode.h"
#include "sim/engine/lower/modifiers.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

struct ModuleTarget {
  int number = 0;
  bool specific = false;  // sm_90a, sm_100f
};

ModuleTarget parse_target(const ptx::ParsedModule& module) {
  const std::string_view name = module.target();
  ModuleTarget target;
  const char* begin = name.data() + std::min<std::size_t>(name.size(), 3);
  const char* end = name.data() + name.size();
  const auto [at, error_code] = std::from_chars(begin, end, target.number);
  if (!name.starts_with("sm_") || error_code != std::errc() || end - at > 1) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the .target \"{}\" is not a known target, such as sm_90", module.name(), name);
  }
  target.specific = at != end;
  return target;
}

std::uint32_t constant_bytes_of(const ptx::ParsedModule& module) {
  std::uint32_t bytes = 0;
  for (const ptx::TopLevel& item : module.items()) {
    const auto* variable = std::get_if<ptx::Variable>(&item);
    if (variable != nullptr && variable->space == ptx::StateSpace::kConst) {
      bytes += static_cast<std::uint32_t>(bytes_of(*variable));
    }
  }
  return bytes;
}

}  // namespace

struct LoadedModule::Impl {
  std::shared_ptr<const ptx::ParsedModule> ptx;
  DeviceMemory* memory = nullptr;
  ModuleFacts facts;
  std::uint32_t constant_bytes = 0;  // of all .const variables: each kernel has them
  std::recursive_mutex mutex;
  std::map<std::string, std::unique_ptr<LoadedKernel>, std::less<>> kernels;
  std::unordered_map<const ptx::Function*, std::shared_ptr<const DecodedKernel>> counting, debugged;
  std::unordered_map<const ptx::Variable*, std::uint64_t> addresses;
  std::unordered_map<const ptx::Function*, std::uint32_t> indices;
  std::vector<std::uint64_t> owned;
  std::unordered_map<const ptx::Variable*, std::uint64_t> constants;  // their .const addresses
  std::uint64_t first_constant = 0;                                   // 0: none is placed yet

  // Generic.
  std::uint64_t address_of(const ptx::Variable& variable);
  std::uint64_t constant_base();
  std::uint64_t allocate(const ptx::Variable& variable, std::uint64_t bytes);
  std::uint32_t index_of(const ptx::Function& function);
  std::vector<const ptx::Function*> addressed();
  void initialise(const ptx::Variable& variable, std::uint64_t bytes, std::uint64_t address);
  void fill(const ptx::Variable& variable, const ptx::InstructionOperand& value,
            std::size_t dimension, std::uint64_t at, std::vector<std::byte>* image);
  std::uint64_t value_of(const ptx::Variable& variable, const ptx::InstructionOperand& value,
                         Type type);
  LoadedKernel make_kernel(const ptx::Function& function);
};

// All constants of the module are given addresses at once, each with room after it, and memory
// when they are needed.
std::uint64_t LoadedModule::Impl::constant_base() {
  std::lock_guard lock(mutex);
  if (first_constant != 0) return first_constant;
  std::uint64_t end = DeviceMemory::Impl::span_of(0);
  for (const ptx::TopLevel& item : ptx->items()) {
    const auto* variable = std::get_if<ptx::Variable>(&item);
    if (variable == nullptr || variable->space != ptx::StateSpace::kConst) continue;
    constants.emplace(variable, end - DeviceMemory::Impl::span_of(0));
    end += DeviceMemory::Impl::span_of(std::max<std::uint64_t>(bytes_of(*variable), 1));
  }
  first_constant = end >> 32 == 0 ? memory->impl().reserve_constants(end) : 0;
  if (first_constant == 0) {
    throw error(ErrorCode::kOutOfMemory, "{}: no room on the device for its constants of {} bytes",
                ptx->name(), constant_bytes);
  }
  return first_constant;
}

// Returns 0 where there is no room.
std::uint64_t LoadedModule::Impl::allocate(const ptx::Variable& variable, std::uint64_t bytes) {
  if (variable.space != ptx::StateSpace::kConst) return memory->allocate(bytes);
  const std::uint64_t base = constant_base();
  const std::uint64_t address = base + constants.at(&variable);
  return memory->impl().allocate_at(address, bytes) ? address : 0;
}

std::uint64_t LoadedModule::Impl::address_of(const ptx::Variable& variable) {
  std::lock_guard lock(mutex);
  const auto found = addresses.find(&variable);
  if (found != addresses.end()) return found->second;
  if (variable.linkage == "extern") {
    throw error(ErrorCode::kInvalidInput,
                "{}: the variable {} is extern and nothing defines it: link the module first",
                ptx->name(), variable.name);
  }
  const std::uint64_t bytes = bytes_of(variable);
  const std::uint64_t address = allocate(variable, std::max<std::uint64_t>(bytes, 1));
  if (address == 0) {
    throw error(ErrorCode::kOutOfMemory, "{}: no room on the device for variable {} of {} bytes",
                ptx->name(), variable.name, bytes);
  }
  owned.push_back(address);
  addresses.emplace(&variable, address);
  memory->set_name(address, fmt::format("variable {}", variable.name));
  initialise(variable, bytes, address);
  return address;
}

void LoadedModule::Impl::initialise(const ptx::Variable& variable, std::uint64_t bytes,
                                    std::uint64_t address) {
  memory->fill(address, 0, 1, std::max<std::uint64_t>(bytes, 1));
  if (variable.initialiser.empty()) return;
  std::vector<std::byte> image(bytes);
  fill(variable, variable.initialiser[0], 0, 0, &image);
  memory->write(address, image.data(), image.size());
}

// Writes a literal, or a nested list of them, at byte `at` of the variable's image.
void LoadedModule::Impl::fill(const ptx::Variable& variable, const ptx::InstructionOperand& value,
                              std::size_t dimension, std::uint64_t at,
                              std::vector<std::byte>* image) {
  const std::optional<Type> type = parse_type(variable.type);
  const unsigned bytes = type ? std::max(bits_of(*type) / 8, 1u) : 8;
  if (value.kind == Kind::kVector) {
    std::uint64_t stride = dimension < variable.extents.size()
                               ? bytes * std::max<std::uint64_t>(variable.vector, 1)
                               : bytes;
    for (std::size_t d = dimension + 1; d < variable.extents.size(); ++d) {
      stride *= static_cast<std::uint64_t>(std::max<std::int64_t>(variable.extents[d], 1));
    }
    for (const ptx::InstructionOperand& child : value.children) {
      fill(variable, child, dimension + 1, at, image);
      at += stride;
    }
    return;
  }
  if (at + bytes > image->size()) {
    throw error_at({ptx->name(), static_cast<int>(value.position.line),
                    static_cast<int>(value.position.column)},
                   ErrorCode::kInvalidInput, "variable {} has more initial values than elements",
                   variable.name);
  }
  const std::uint64_t bits = value_of(variable, value, type.value_or(Type::kB64));
  std::memcpy(image->data() + at, &bits, std::min(bytes, 8u));
}

std::uint64_t LoadedModule::Impl::value_of(const ptx::Variable& variable,
                                           const ptx::InstructionOperand& value, Type type) {
  switch (value.kind) {
    case Kind::kInteger:
      return value.bits;
    case Kind::kFloat: {
      const double number = value.is_single
                                ? std::bit_cast<float>(static_cast<std::uint32_t>(value.bits))
                                : std::bit_cast<double>(value.bits);
      if (bits_of(type) == 64) {
        return value.is_single ? std::bit_cast<std::uint64_t>(number) : value.bits;
      }
      return value.is_single ? value.bits
                             : std::bit_cast<std::uint32_t>(static_cast<float>(number));
    }
    case Kind::kIdentifier: {
      const auto offset = static_cast<std::uint64_t>(value.offset);
      if (const ptx::Variable* other = ptx->variable(value.text)) {
        const bool constant = other->space == ptx::StateSpace::kConst;
        return address_of(*other) - (constant ? constant_base() : 0) + offset;
      }
      if (const ptx::Function* function = ptx->function(value.text)) {
        return kCodeWindow + index_of(*function);
      }
      break;
    }
    case Kind::kCall:
      // generic(symbol + offset) + offset.
      if (value.text == "generic" && value.children.size() == 1) {
        const ptx::Variable* other = ptx->variable(value.children[0].text);
        const bool constant = other != nullptr && other->space == ptx::StateSpace::kConst;
        return value_of(variable, value.children[0], type) + (constant ? constant_base() : 0) +
               static_cast<std::uint64_t>(value.offset);
      }
      // 0xff00(symbol): the bits of the address under the mask, moved down.
      if (value.children.size() == 1 && value.text.size() > 2 && value.text[0] == '0') {
        std::uint64_t mask = 0;
        const char* end = value.text.data() + value.text.size();
        const auto [at, failed] = std::from_chars(value.text.data() + 2, end, mask, 16);
        if (failed == std::errc() && at == end && mask != 0) {
          const std::uint64_t address = value_of(variable, value.children[0], Type::kB64) +
                                        static_cast<std::uint64_t>(value.offset);
          return (address & mask) >> std::countr_zero(mask);
        }
      }
      break;
    default:
      break;
  }
  throw error_at(
      {ptx->name(), static_cast<int>(value.position.line), static_cast<int>(value.position.column)},
      ErrorCode::kInvalidInput, "variable {} starts with \"{}\", which is not a known value",
      variable.name, value.text);
}

std::uint32_t LoadedModule::Impl::index_of(const ptx::Function& function) {
  std::lock_guard lock(mutex);
  return indices.try_emplace(&function, static_cast<std::uint32_t>(indices.size() + 1))
      .first->second;
}

std::vector<const ptx::Function*> LoadedModule::Impl::addressed() {
  std::vector<const ptx::Function*> found;
  const auto visit = [&](auto&& self, const ptx::InstructionOperand& operand) -> void {
    if (operand.kind == Kind::kIdentifier) {
      const ptx::Function* function = ptx->function(operand.text);
      if (function != nullptr && function->has_body && !function->is_entry) {
        found.push_back(function);
      }
    }
    for (const ptx::InstructionOperand& child : operand.children) self(self, child);
  };
  for (const ptx::TopLevel& item : ptx->items()) {
    const auto* variable = std::get_if<ptx::Variable>(&item);
    if (variable == nullptr) continue;
    for (const ptx::InstructionOperand& operand : variable->initialiser) visit(visit, operand);
  }
  return found;
}

LoadedKernel LoadedModule::Impl::make_kernel(const ptx::Function& function) {
  LoadedKernel kernel;
  kernel.name = function.name;
  kernel.function = &function;
  std::vector<std::uint32_t> offsets;
  kernel.param_bytes = layout_params(function.params, &offsets);
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    const ptx::Variable& param = function.params[k];
    kernel.params.push_back({std::string(param.name), offsets[k],
                             static_cast<std::uint32_t>(bytes_of(param)), align_of(param)});
  }
  const auto decoded = decode_kernel(facts, function);
  kernel.decoded = decoded;
  kernel.static_shared = decoded->static_shared;
  kernel.local_bytes = decoded->entry->local_bytes;
  kernel.constant_bytes = constant_bytes;
  const auto required = function.integers("reqntid", 3);
  const auto most = required ? required : function.integers("maxntid", 3);
  kernel.max_threads = facts.chip->threads_per_block;
  if (most) {
    const std::uint64_t threads = static_cast<std::uint64_t>((*most)[0]) *
                                  static_cast<std::uint64_t>((*most)[1]) *
                                  static_cast<std::uint64_t>((*most)[2]);
    kernel.max_threads =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, kernel.max_threads));
  }
  for (int d = 0; d < 3 && required; ++d) {
    kernel.required_block[d] = static_cast<std::uint32_t>((*required)[static_cast<std::size_t>(d)]);
  }
  if (const auto cluster = function.integers("reqnctapercluster", 3)) {
    for (int d = 0; d < 3; ++d) {
      kernel.required_cluster[d] =
          static_cast<std::uint32_t>((*cluster)[static_cast<std::size_t>(d)]);
    }
  }
  kernel.blocks_are_clusters = function.directive("blocksareclusters") != nullptr;
  kernel.explicit_cluster = function.directive("explicitcluster") != nullptr;
  // The compiler needs some for addresses and calls on top of what is alive in PTX. It is an
  // estimate, so it never stands in the way of a block that the kernel's bounds allow.
  const std::uint32_t live = decoded->entry->live_registers + 8;
  const std::uint32_t per_thread = facts.chip->registers_per_thread;
  const std::uint32_t fits =
      facts.chip->registers_per_block / std::max(kernel.max_threads, 1u) / 8 * 8;
  kernel.registers = std::clamp((live + 7) / 8 * 8, 16u, std::clamp(fits, 16u, per_thread));
  return kernel;
}

LoadedModule::LoadedModule(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LoadedModule::~LoadedModule() {
  for (std::uint64_t address : impl_->owned) impl_->memory->free(address);
}

std::shared_ptr<LoadedModule> LoadedModule::load(std::shared_ptr<const ptx::ParsedModule> module,
                                                 DeviceMemory& memory, const chip::Chip& chip) {
  const ModuleTarget target = parse_target(*module);
  const bool runs =
      target.specific ? target.number == chip.architecture : target.number <= chip.architecture;
  if (!runs) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the module is for {}, the device is sm_{}: compile it for that{}",
                module->name(), module->target(), chip.architecture,
                target.specific ? ", as code for an 'a' or 'f' target runs only on that one" : "");
  }
  if (module->address_size() != 64) {
    throw error(ErrorCode::kInvalidInput, "{}: .address_size is {}; only 64 is supported",
                module->name(), module->address_size());
  }
  auto impl = std::make_unique<Impl>();
  impl->ptx = std::move(module);
  impl->memory = &memory;
  impl->facts.ptx = impl->ptx;
  impl->facts.chip = &chip;
  impl->constant_bytes = constant_bytes_of(*impl->ptx);
  impl->facts.architecture = target.number;
  impl->facts.arch_specific = target.specific;
  Impl* raw = impl.get();
  impl->facts.address_of = [raw](const ptx::Variable& v) { return raw->address_of(v); };
  impl->facts.constant_base = [raw] { return raw->constant_base(); };
  impl->facts.index_of = [raw](const ptx::Function& f) { return raw->index_of(f); };
  impl->facts.addressed = [raw] { return raw->addressed(); };
  return std::shared_ptr<LoadedModule>(new LoadedModule(std::move(impl)));
}

std::vector<std::string> LoadedModule::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Function* entry : impl_->ptx->entries()) names.emplace_back(entry->name);
  return names;
}

const LoadedKernel* LoadedModule::kernel(std::string_view name) {
  std::lock_guard lock(impl_->mutex);
  const auto found = impl_->kernels.find(name);
  if (found != impl_->kernels.end()) return found->second.get();
  const ptx::Function* function = impl_->ptx->function(name);
  if (function == nullptr || !function->is_entry || !function->has_body) return nullptr;
  auto kernel = std::make_unique<LoadedKernel>(impl_->make_kernel(*function));
  return impl_->kernels.emplace(std::string(name), std::move(kernel)).first->second.get();
}

std::shared_ptr<const DecodedKernel> LoadedModule::counting(const LoadedKernel& kernel) {
  std::lock_guard lock(impl_->mutex);
  std::shared_ptr<const DecodedKernel>& counting = impl_->counting[kernel.function];
  if (counting == nullptr) {
    counting = decode_kernel(impl_->facts, *kernel.function, DecodeMode::kCounting);
  }
  return counting;
}

std::shared_ptr<const DecodedKernel> LoadedModule::debugged(const LoadedKernel& kernel) {
  std::lock_guard lock(impl_->mutex);
  std::shared_ptr<const DecodedKernel>& debugged = impl_->debugged[kernel.function];
  if (debugged == nullptr) {
    debugged = decode_kernel(impl_->facts, *kernel.function, DecodeMode::kDebugged);
  }
  return debugged;
}

bool LoadedModule::global(std::string_view name, std::uint64_t* address, std::uint64_t* bytes) {
  const ptx::Variable* variable = impl_->ptx->variable(name);
  if (variable == nullptr ||
      (variable->space != ptx::StateSpace::kGlobal && variable->space != ptx::StateSpace::kConst)) {
    return false;
  }
  *address = impl_->address_of(*variable);
  *bytes = bytes_of(*variable);
  return true;
}

std::vector<LoadedModule::ManagedVariable> LoadedModule::managed_variables() const {
  std::vector<ManagedVariable> found;
  for (const ptx::TopLevel& item : impl_->ptx->items()) {
    const auto* variable = std::get_if<ptx::Variable>(&item);
    if (variable == nullptr || std::ranges::count(variable->attributes, "managed") == 0) continue;
    found.push_back({std::string(variable->name), std::max<std::uint64_t>(bytes_of(*variable), 1)});
  }
  return found;
}

void LoadedModule::set_address(std::string_view name, std::uint64_t address, bool initialise) {
  std::lock_guard lock(impl_->mutex);
  const ptx::Variable& variable = *impl_->ptx->variable(name);
  impl_->addresses.insert_or_assign(&variable, address);
  impl_->memory->set_name(address, fmt::format("variable {}", name));
  if (initialise) impl_->initialise(variable, bytes_of(variable), address);
}

const ptx::ParsedModule& LoadedModule::ptx() const {
  return *impl_->ptx;
}

}  // namespace baton::sim
