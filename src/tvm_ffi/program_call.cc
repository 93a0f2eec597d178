#include "tvm_ffi/program_call.h"

#include <algorithm>

#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {
namespace {

const baton_tensor* tensor_in(const GivenValue& value) {
  const auto* const tensor = std::get_if<const baton_tensor*>(&value);
  return tensor == nullptr ? nullptr : *tensor;
}

}  // namespace

ProgramCall::ProgramCall(const ProgramParts& parts, OpenDevice& device, const baton_program* loaded,
                         std::int32_t executor)
    : parts_(parts), device_(device) {
  baton_program_options options = BATON_PROGRAM_OPTIONS_INIT;
  options.executor = executor;
  check(baton_program_instance(loaded, &options, program_.out()));
  check(baton_event_create(device.get(), 0, done_.out()));
}

void ProgramCall::run(const GivenValues& values, const Target& target) {
  const std::lock_guard lock(mutex_);
  try {
    if (device_.is_on_host(target)) return run_on_host(values);
    set_and_enqueue(values, device_.current_stream());
  } catch (...) {
    // What was set is known no more: the next call sets everything.
    bound_.reset();
    throw;
  }
}

void ProgramCall::run_on_host(const GivenValues& values) {
  StreamHandle stream;
  check(baton_stream_create(device_.get(), 0, stream.out()));
  HostTensors host;
  for (const auto& [name, value] : values) {
    if (const auto* const tensor = tensor_in(value)) {
      host.add(*tensor, std::string(name), parts_.buffer(name)->is_written());
    }
  }
  host.upload(device_, stream.get());
  std::vector<baton_tensor> tensors;
  tensors.reserve(values.size());
  GivenValues on_device = values;
  for (auto& [name, value] : on_device) {
    if (tensor_in(value) == nullptr) continue;
    tensors.push_back(host.on_device(tensors.size()));
    value = &tensors.back();
  }
  try {
    set_and_enqueue(on_device, stream.get());
    check(baton_program_wait(program_.get(), stream.get(), 0));
    host.download(stream.get());
    check(baton_stream_synchronize(stream.get()));
  } catch (const Failure& failure) {
    if (failure.code == BATON_ERROR_FAULT) check(baton_device_recover(device_.get()));
    throw;
  }
  last_stream_ = nullptr;  // the stream ends here, and all its work is done
}

void ProgramCall::set_and_enqueue(const GivenValues& values, const baton_stream* stream) {
  in_own_memory_ = has_memory_of_its_own(values);
  Bound next;
  bool bind = !bound_;
  bind |= unset_others(values);
  for (const auto& [name, value] : values) {
    const std::string key(name);
    const auto* const tensor = tensor_in(value);
    bind |= tensor != nullptr ? set_tensor(key, *tensor, next)
                              : set_symbol(key, std::get<std::int64_t>(value), next);
  }
  enqueue(stream, bind);
  bound_ = std::move(next);
}

// The next three return whether the program has to be bound again.
bool ProgramCall::unset_others(const GivenValues& values) {
  bool bind = false;
  for (auto name = set_.begin(); name != set_.end();) {
    if (values.count(*name) != 0) {
      ++name;
      continue;
    }
    check(baton_program_unset(program_.get(), name->c_str()));
    name = set_.erase(name);
    bind = true;
  }
  return bind;
}

bool ProgramCall::set_tensor(const std::string& name, const baton_tensor& tensor, Bound& next) {
  const BoundTensor& wanted = next.tensors.emplace(name, tensor).first->second;
  const BoundTensor* known = nullptr;
  if (bound_) {
    const auto found = bound_->tensors.find(name);
    if (found != bound_->tensors.end()) known = &found->second;
  }
  if (known != nullptr && known->is_same(wanted)) return false;
  check(baton_program_set_tensor(program_.get(), name.c_str(), &tensor));
  set_.insert(name);
  return known == nullptr || known->shape != wanted.shape;
}

bool ProgramCall::set_symbol(const std::string& name, std::int64_t value, Bound& next) {
  next.symbols.emplace(name, value);
  const bool was_set = bound_ && bound_->symbols.count(name) != 0;
  if (was_set && bound_->symbols.find(name)->second == value) return false;
  check(baton_program_set_int(program_.get(), name.c_str(), value));
  set_.insert(name);
  return !was_set;
}

bool ProgramCall::has_memory_of_its_own(const GivenValues& values) const {
  return std::any_of(parts_.buffers.begin(), parts_.buffers.end(), [&](const auto& buffer) {
    return buffer.is_written() && values.count(buffer.name) == 0;
  });
}

void ProgramCall::enqueue(const baton_stream* stream, bool bind) {
  if (!bind) {
    try {
      return enqueue_in_order(stream);
    } catch (const Failure& failure) {
      // A symbol that changes the shape of a buffer needs a bind, which also tells other errors.
      if (failure.code != BATON_ERROR_INVALID_INPUT) throw;
    }
  }
  check(baton_program_bind(program_.get()));
  enqueue_in_order(stream);
}

// A run in memory of the program's own starts after the run before it, on whichever stream that
// was. The owner of a captured graph orders its launches.
void ProgramCall::enqueue_in_order(const baton_stream* stream) {
  if (!in_own_memory_) return check(baton_program_enqueue(program_.get(), stream));
  std::int32_t capturing = 0;
  check(baton_stream_capturing(stream, &capturing));
  const bool elsewhere = last_stream_ != nullptr && last_stream_ != stream;
  if (elsewhere && capturing == 0) check(baton_event_wait(done_.get(), stream));
  check(baton_program_enqueue(program_.get(), stream));
  if (capturing != 0) return;
  check(baton_event_record(done_.get(), stream));
  last_stream_ = stream;
}

ProgramCall::BoundTensor::BoundTensor(const baton_tensor& tensor)
    : address(static_cast<std::byte*>(tensor.data) + tensor.byte_offset),
      dtype(tensor.dtype),
      device(tensor.device),
      shape(tensor.shape, tensor.shape + tensor.ndim) {}

bool ProgramCall::BoundTensor::is_same(const BoundTensor& other) const {
  return address == other.address && shape == other.shape && dtype.code == other.dtype.code &&
         dtype.bits == other.dtype.bits && dtype.lanes == other.dtype.lanes &&
         device.device_type == other.device.device_type &&
         device.device_id == other.device.device_id;
}

}  // namespace baton::tvm_ffi
