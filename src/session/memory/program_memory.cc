#include "session/memory/program_memory.h"

#include <algorithm>
#include <chrono>

#include "base/array/array.h"
#include "base/array/npy.h"
#include "base/error.h"
#include "base/file/held_bytes.h"
#include "base/system/zero_bytes.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "baton/bundle.h"
#include "bind/initialise.h"
#include "bind/shards.h"
#include "driver/driver.h"
#include "driver/simulator.h"
#include "program/buffer_roles.h"
#include "runtime/host_wait.h"

namespace baton {
namespace {

// Fills outputs before a run on a device that cannot tell who reads or writes: a value that no
// computation is likely to leave in every byte.
constexpr std::uint8_t kPoison = 0xC7;

// A variable has what its image says even where the program says nothing.
bool has_contents(const ProgramBuffer& buffer) {
  return buffer.init != BufferInit::kNone || buffer.variable;
}

std::shared_ptr<const SafetensorsModel> open_safetensors(const ProgramBuffer& buffer) {
  if (buffer.contents == nullptr) return std::make_shared<const SafetensorsModel>(buffer.file);
  return std::make_shared<const SafetensorsModel>(
      buffer.contents, [&](const std::string& shard) -> std::shared_ptr<const HeldBytes> {
        const auto found = buffer.content_shards.find(shard);
        return found == buffer.content_shards.end() ? nullptr : found->second;
      });
}

// Weights that a bundle was built without lie beside it. Nothing for another failure.
std::optional<Error> missing_beside_bundle(const Error& failure, const ProgramBuffer& buffer,
                                           const Program& program) {
  std::error_code unknown;
  if (failure.code() != ErrorCode::kNotFound || buffer.contents != nullptr ||
      std::filesystem::exists(buffer.file, unknown) || !Bundle::is_bundle(program.file())) {
    return std::nullopt;
  }
  return error(ErrorCode::kNotFound,
               "{} is not there, and the bundle {} does not have it; put it there, or build the "
               "bundle with its weights",
               buffer.file.string(), program.file().string());
}

std::string copy_of(const HeldBytes& held) {
  std::string bytes(held.size(), '\0');
  held.read(0, bytes.size(), bytes.data());
  return bytes;
}

// Whether the buffer is downloaded after a run.
bool is_result(const bind::BoundBuffer& buffer) {
  return !buffer.given && facts_of(buffer.definition->role).is_result;
}

// Whether a binding gives the buffer its contents. Memory of the caller has contents. Kernels of
// other programs may write a variable that is a weight here, so each run initialises it again.
bool is_uploaded_once(const bind::BoundBuffer& buffer) {
  const RoleFacts& role = facts_of(buffer.definition->role);
  return role.once && !buffer.given && !(role.is_constant && buffer.definition->variable);
}

// Shares the memory.
Memory shared_view(const Device& device, const std::shared_ptr<const Memory>& memory) {
  return Memory::adopt(device, memory->address(), memory->bytes(), memory);
}

constexpr std::chrono::milliseconds kUploadInterval{250};

// Tells the caller of a bind, now and then, how far its uploads are.
class UploadTicker {
 public:
  explicit UploadTicker(std::function<void(const UploadProgress&)> tell) : tell_(std::move(tell)) {}

  void expect(std::uint64_t bytes) { progress_.bytes += bytes; }
  void begin(std::string_view buffer) { progress_.buffer = buffer; }
  void add(std::uint64_t bytes) {
    progress_.bytes_done += bytes;
    if (!tell_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_ && progress_.bytes_done != progress_.bytes) return;
    next_ = now + kUploadInterval;
    tell_(progress_);
  }

 private:
  std::function<void(const UploadProgress&)> tell_;
  UploadProgress progress_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

bool is_input(const bind::BoundBuffer& buffer, const Bindings& given) {
  return std::ranges::any_of(
      given.inputs, [&](const auto& input) { return input.first == buffer.definition->name; });
}

}  // namespace

ProgramMemory::ProgramMemory(const LoadedProgramState& state)
    : state_(state), table_(std::make_unique<bind::BufferTable>(unbound_buffers(state.program))) {}

bool ProgramMemory::stays(const bind::BoundBuffer& wanted, const Bindings& given) const {
  if (!allocated_ || !is_uploaded_once(wanted)) return false;
  const std::size_t index = bind::buffer_index(*table_, wanted.definition->name);
  const bind::BoundBuffer& now = (*table_)[index];
  if (!is_uploaded_once(now) || now.shape != wanted.shape || is_input(wanted, given)) return false;
  // The steps have changed a state since, so its first contents do not matter any more.
  if (!facts_of(wanted.definition->role).is_constant) return true;
  return !given_[index] && (!bind::depends_on_seed(*wanted.definition) || given.seed == seed_);
}

// Executables share what the program says of a weight, not what a binding gives or what setup steps
// make of it.
std::optional<WeightPool::Key> ProgramMemory::shared_key(const bind::BufferTable& table,
                                                         std::size_t index, const Next& next,
                                                         std::uint64_t seed) const {
  const bind::BoundBuffer& buffer = table[index];
  const ProgramBuffer& definition = *buffer.definition;
  if (!facts_of(definition.role).is_constant || !is_uploaded_once(buffer)) return std::nullopt;
  if (next.given[index] || definition.init == BufferInit::kNone) return std::nullopt;
  WeightPool::Key key{index, buffer.shape, std::nullopt, next.allocator.get(), buffer.shards};
  if (bind::depends_on_seed(definition)) key.seed = seed;
  return key;
}

bool ProgramMemory::is_made(std::size_t buffer) const {
  return state_.setup && state_.setup->uses_buffer(buffer) &&
         is_made_by_setup(state_.program.buffers()[buffer]);
}

ProgramMemory::Next ProgramMemory::read(Bindings& given, const bind::BufferTable& table) const {
  Next next;
  next.allocator = given.allocator;
  next.progress = given.progress;
  for (std::size_t i = 0; i < table.size(); ++i) {
    next.kept.push_back(stays(table[i], given));
    next.given.push_back(is_input(table[i], given));
    const auto key = next.kept[i] ? std::nullopt : shared_key(table, i, next, given.seed);
    next.shared.push_back(key ? state_.weights.find(*key) : nullptr);
  }
  std::map<std::filesystem::path, std::shared_ptr<const SafetensorsModel>> files;
  for (auto& [name, array] : given.inputs) {
    const bind::BoundBuffer& buffer = table[bind::buffer_index(table, name)];
    next.contents.emplace(name, bind::part_of(std::move(array), buffer, "the input " + name));
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    const bind::BoundBuffer& buffer = table[i];
    const ProgramBuffer& definition = *buffer.definition;
    if (buffer.given || next.given[i]) continue;
    if (!has_contents(definition) && !is_made(i) && facts_of(definition.role).needs_contents) {
      throw error_at(definition.where, ErrorCode::kInvalidInput,
                     "nothing initialises the buffer {} of role {}; give it an input, or an init "
                     "or a file in the program",
                     definition.name, to_string(definition.role));
    }
    if (definition.init != BufferInit::kFile || next.kept[i] || next.shared[i]) continue;
    try {
      if (!definition.tensor.empty()) {
        std::shared_ptr<const SafetensorsModel>& file = files[definition.file];
        if (file == nullptr) file = open_safetensors(definition);
        next.tensors.emplace(definition.name, TensorStack(file, buffer));
        continue;
      }
      Array array = definition.contents == nullptr
                        ? read_npy(definition.file, definition.dtype)
                        : parse_npy(copy_of(*definition.contents), definition.dtype,
                                    definition.contents->name());
      array = bind::part_of(std::move(array), buffer, definition.file.string());
      next.contents.emplace(definition.name, std::move(array));
    } catch (const Error& failure) {
      Error told = missing_beside_bundle(failure, definition, state_.program).value_or(failure);
      told.at(definition.where);
      throw Error(std::move(told));
    }
  }
  return next;
}

bool ProgramMemory::stays(const bind::BufferTable& table, const Next& next) const {
  if (!allocated_) return false;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const bind::BoundBuffer& now = (*table_)[i];
    if (now.shape != table[i].shape || now.given != table[i].given) return false;
    if (is_uploaded_once(now) && !next.kept[i]) return false;
  }
  return true;
}

void ProgramMemory::keep(Next next, std::uint64_t seed) {
  // A state that stays keeps the contents that it is reset to.
  for (std::size_t i = 0; i < table_->size(); ++i) {
    if (!next.kept[i]) continue;
    const std::string& name = (*table_)[i].definition->name;
    if (auto array = contents_.extract(name)) next.contents.insert(std::move(array));
    if (auto stack = tensors_.extract(name)) next.tensors.insert(std::move(stack));
  }
  contents_ = std::move(next.contents);
  tensors_ = std::move(next.tensors);
  given_ = std::move(next.given);
  allocator_ = std::move(next.allocator);
  seed_ = seed;
  is_initialised_ = false;
}

void ProgramMemory::allocate(bind::BufferTable table, Next next, std::uint64_t seed,
                             const Stream& stream) {
  allocated_ = false;
  auto fresh = std::make_unique<bind::BufferTable>(std::move(table));
  for (std::size_t i = 0; i < fresh->size(); ++i) {
    if (!next.kept[i]) continue;
    (*fresh)[i].memory = std::move((*table_)[i].memory);
    (*fresh)[i].from_allocator = (*table_)[i].from_allocator;
  }
  *table_ = unbound_buffers(state_.program);
  // Another thread may be uploading the same weights: they are looked for again once it is done.
  std::vector<std::optional<WeightPool::Key>> keys(fresh->size());
  std::vector<std::shared_ptr<const Memory>> added(fresh->size());
  std::unique_lock<std::mutex> filling;
  for (std::size_t i = 0; i < fresh->size(); ++i) {
    if (next.kept[i] || next.shared[i]) continue;
    keys[i] = shared_key(*fresh, i, next, seed);
    if (!keys[i]) continue;
    if (!filling) filling = state_.weights.filling();
    next.shared[i] = state_.weights.find(*keys[i]);
  }
  for (std::size_t i = 0; i < fresh->size(); ++i) {
    if (next.kept[i]) continue;
    bind::BoundBuffer& buffer = (*fresh)[i];
    const ProgramBuffer& definition = *buffer.definition;
    buffer.from_allocator = next.allocator != nullptr && !buffer.given && !definition.variable;
    if (next.shared[i]) {
      buffer.memory.emplace(shared_view(state_.device, next.shared[i]));
      continue;
    }
    try {
      buffer.memory.emplace(memory_of(buffer, next));
    } catch (Error& failure) {
      failure.at(definition.where);
      throw;
    }
    if (keys[i]) {
      added[i] = std::make_shared<const Memory>(*std::move(buffer.memory));
      buffer.memory.emplace(shared_view(state_.device, added[i]));
    }
    // Its module or its owner has named it.
    if (definition.variable || buffer.given || next.allocator) continue;
    buffer.memory->set_name(bind::title_of(buffer));
  }
  table_ = std::move(fresh);
  const std::vector<bool> kept = next.kept;
  const auto shared = next.shared;
  const auto is_due = [&](std::size_t i) {
    return !kept[i] && !shared[i] && is_uploaded_once((*table_)[i]);
  };
  UploadTicker ticker(std::move(next.progress));
  for (std::size_t i = 0; i < table_->size(); ++i) {
    if (is_due(i)) ticker.expect((*table_)[i].bytes);
  }
  keep(std::move(next), seed);
  std::optional<UploadStaging> staging;
  bool is_uploaded = false;
  for (std::size_t i = 0; i < table_->size(); ++i) {
    const bind::BoundBuffer& buffer = (*table_)[i];
    if (kept[i] || !is_uploaded_once(buffer)) continue;
    if (is_due(i)) {
      is_uploaded = true;
      ticker.begin(buffer.definition->name);
      fill(buffer, stream, staging, [&](std::uint64_t bytes) { ticker.add(bytes); });
    }
    if (!facts_of(buffer.definition->role).is_constant) continue;
    contents_.erase(buffer.definition->name);
    tensors_.erase(buffer.definition->name);
  }
  // Work of any stream may use the buffers from now on.
  if (is_uploaded) stream.synchronize();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (added[i]) state_.weights.add(*std::move(keys[i]), added[i]);
  }
  allocated_ = true;
}

void ProgramMemory::protect(bool in_setup) const {
  driver::Simulator* const simulator = state_.device.driver().simulator;
  if (simulator == nullptr) return;
  for (std::size_t i = 0; i < table_->size(); ++i) {
    const bind::BoundBuffer& buffer = (*table_)[i];
    if (!facts_of(buffer.definition->role).is_constant || buffer.bytes == 0) continue;
    // More may lie in the same allocation, and it is the caller's.
    if (buffer.given || allocator_) continue;
    await_work(state_.device.driver(), state_.device.native_context());
    simulator->protect(buffer.address(), !(in_setup && is_made(i)));
  }
}

void ProgramMemory::freeze(bool in_setup) const {
  driver::Simulator* const simulator = state_.device.driver().simulator;
  if (simulator == nullptr) return;
  for (const bind::BoundBuffer& buffer : *table_) {
    const std::optional<FrozenRows>& frozen = buffer.definition->frozen;
    if (!frozen || buffer.bytes == 0) continue;
    const bind::BoundBuffer& counter = (*table_)[number_of(frozen->counter)];
    driver::FrozenRange range;
    range.address = buffer.address();
    range.bytes = buffer.bytes;
    range.row_bytes = bind::row_bytes(buffer);
    // Setup steps may write any row.
    range.rows = in_setup ? 0 : static_cast<std::uint64_t>(buffer.shape[frozen->axis]);
    range.counter_bytes = static_cast<std::uint32_t>(counter.element_size());
    range.counter =
        counter.address() + static_cast<std::uint64_t>(frozen->element) * counter.element_size();
    range.is_signed = is_signed_integer(counter.definition->dtype);
    range.name = frozen->text();
    await_work(state_.device.driver(), state_.device.native_context());
    simulator->freeze(range);
  }
}

Memory ProgramMemory::memory_of(const bind::BoundBuffer& buffer, const Next& next) const {
  if (buffer.given) return Memory::adopt(state_.device, *buffer.given, buffer.bytes);
  if (buffer.definition->variable) return variable(buffer);
  return Memory(state_.device, buffer.bytes, next.allocator);
}

Memory ProgramMemory::variable(const bind::BoundBuffer& buffer) const {
  const ModuleVariable& variable = *buffer.definition->variable;
  Memory memory = state_.kernels.module(variable.kernel).variable(variable.name);
  if (memory.bytes() < buffer.bytes) {
    throw error(ErrorCode::kInvalidInput,
                "the buffer {} ({} {}) has {} bytes, the variable {} of kernel {} has {}",
                buffer.definition->name, to_string(buffer.definition->dtype),
                shape_text(buffer.shape), buffer.bytes, variable.name, variable.kernel,
                memory.bytes());
  }
  return memory;
}

const Array* ProgramMemory::contents(const ProgramBuffer& buffer) const {
  const auto found = contents_.find(buffer.name);
  return found == contents_.end() ? nullptr : &found->second;
}

void ProgramMemory::fill(const bind::BoundBuffer& buffer, const Stream& stream,
                         std::optional<UploadStaging>& staging,
                         const std::function<void(std::uint64_t)>& uploaded) const {
  const auto stack = tensors_.find(buffer.definition->name);
  if (stack == tensors_.end()) {
    bind::initialise(buffer, contents(*buffer.definition), seed_, stream);
    if (uploaded) uploaded(buffer.bytes);
    return;
  }
  if (buffer.bytes == 0) return;
  if (!staging || !staging->serves(stack->second.bytes())) {
    staging.emplace(state_.device, stack->second.bytes());
  }
  stack->second.upload(*buffer.memory, *staging, stream, uploaded);
}

void ProgramMemory::initialise(const Stream& stream) {
  std::optional<UploadStaging> staging;
  const bool poison = state_.device.driver().simulator == nullptr;
  for (const bind::BoundBuffer& buffer : *table_) {
    const ProgramBuffer& definition = *buffer.definition;
    if (buffer.given || is_uploaded_once(buffer)) continue;
    fill(buffer, stream, staging);
    if (poison && is_result(buffer) && contents(definition) == nullptr &&
        !has_contents(definition)) {
      buffer.memory->fill(kPoison, 1, buffer.bytes, 0, stream);
    }
  }
  is_initialised_ = true;
}

void ProgramMemory::reset(std::size_t index, const Stream& stream) {
  std::optional<UploadStaging> staging;
  fill((*table_)[index], stream, staging);
}

void ProgramMemory::adopt(std::size_t index, DeviceAddress address) {
  bind::BoundBuffer& buffer = (*table_)[index];
  Memory memory = Memory::adopt(state_.device, address, buffer.bytes);
  buffer.given = address;
  buffer.memory = std::move(memory);
}

ProgramMemory::Arrays ProgramMemory::download(const Stream& stream,
                                              std::span<const std::string> more,
                                              bool with_states) const {
  Arrays arrays;
  const auto add = [&](const bind::BoundBuffer& buffer) {
    Array& array = arrays[buffer.definition->name];
    if (!array.bytes.empty()) return;
    array = {buffer.definition->dtype, buffer.shape, zero_bytes(buffer.bytes)};
    buffer.memory->download(array.bytes.data(), buffer.bytes, 0, stream);
  };
  for (const bind::BoundBuffer& buffer : *table_) {
    if (is_result(buffer) && (with_states || !is_kept(buffer.definition->role))) add(buffer);
  }
  if (!with_states) return arrays;
  for (const std::string& name : more) add((*table_)[number_of(name)]);
  return arrays;
}

Array ProgramMemory::contents_of(std::size_t number, const Stream& stream) const {
  const bind::BoundBuffer& buffer = (*table_)[number];
  Array array{buffer.definition->dtype, buffer.shape, zero_bytes(buffer.bytes)};
  buffer.memory->download(array.bytes.data(), buffer.bytes, 0, stream);
  stream.synchronize();
  return array;
}

std::size_t ProgramMemory::number_of(std::string_view name) const {
  std::vector<std::string_view> known;
  for (std::size_t i = 0; i < table_->size(); ++i) {
    if ((*table_)[i].definition->name == name) return i;
    known.push_back((*table_)[i].definition->name);
  }
  throw error(ErrorCode::kNotFound, "the program {} has no buffer \"{}\"{}",
              printable(state_.program.name()), printable(name), suggestion(name, known));
}

std::vector<std::string> ProgramMemory::unwritten(const Arrays& outputs,
                                                  const std::vector<bool>& written) const {
  std::vector<std::string> warnings;
  driver::Simulator* const simulator = state_.device.driver().simulator;
  const bool poisoned = simulator == nullptr;
  for (std::size_t i = 0; i < table_->size(); ++i) {
    const bind::BoundBuffer& buffer = (*table_)[i];
    const ProgramBuffer& definition = *buffer.definition;
    if (definition.role != BufferRole::kOutput || buffer.bytes == 0) continue;
    // Kernels write variables by their names, which no argument shows. The earlier contents of the
    // caller's memory are not known.
    if (definition.variable || buffer.given) continue;
    const bool untouched = !poisoned && simulator->untouched(buffer.address(), buffer.bytes);
    if (!written[i] || untouched) {
      warnings.push_back(fmt::format("no step writes the output {}, at {}", definition.name,
                                     definition.where.to_string()));
      continue;
    }
    const std::string& bytes = outputs.find(definition.name)->second.bytes;
    if (poisoned && !has_contents(definition) &&
        bytes.find_first_not_of(static_cast<char>(kPoison)) == std::string::npos) {
      warnings.push_back(
          fmt::format("perhaps no step writes the output {}, at {}: it holds what it held before "
                      "the run",
                      definition.name, definition.where.to_string()));
    }
  }
  return warnings;
}

}  // namespace baton
