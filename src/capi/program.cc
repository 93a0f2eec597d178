#include "baton/program.h"

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "capi/allocator.h"
#include "capi/buffer_role.h"
#include "capi/dtype.h"
#include "capi/program_call.h"
#include "capi/rewrite_modes.h"
#include "capi/stream_or_default.h"
#include "capi/tensor.h"
#include "program/buffer_roles.h"

using baton::Bundle;
using baton::Device;
using baton::LoadedProgram;
using baton::LoadOptions;
using baton::Program;
using baton::capi::Call;
using baton::capi::call_program;
using baton::capi::ProgramInstance;
using baton::capi::StreamOrDefault;

namespace baton::capi {
namespace {

// How a program is loaded and executed.
struct GivenProgramOptions {
  LoadOptions load;
  ExecutorKind executor = ExecutorKind::kStream;

  GivenProgramOptions(const Call& call, const baton_program_options* options) {
    static constexpr Call::Constant<ExecutorKind> kExecutors[] = {
        {BATON_EXECUTOR_STREAM, ExecutorKind::kStream},
        {BATON_EXECUTOR_GRAPH, ExecutorKind::kGraph},
    };
    static constexpr Call::Constant<PdlMode> kModes[] = {
        {BATON_PDL_AUTO, PdlMode::kAuto},
        {BATON_PDL_OFF, PdlMode::kOff},
        {BATON_PDL_ON, PdlMode::kOn},
    };
    const baton_program_options given = call.read(options, BATON_PROGRAM_OPTIONS_INIT, "options");
    call.require_zero(given.reserved, "options->reserved");
    call.require_zero(given.reserved_2, "options->reserved_2");
    load.rewrite = call.constant(given.rewrite, kRewriteModes, "options->rewrite");
    executor = call.constant(given.executor, kExecutors, "options->executor");
    load.pdl = call.constant(given.pdl, kModes, "options->pdl");
    load.use_cache = call.flag(given.use_cache, "options->use_cache");
  }
};

// `load` reads the program and loads its kernels.
baton_error* load_program(const char* function, const baton_device* device,
                          const baton_program_options* options, baton_program** program,
                          const auto& load) {
  return capi::call(function, [&](const Call& call) {
    baton_program*& result = call.result(program, "program");
    const Device& on = call.get(device, "device");
    const GivenProgramOptions given(call, options);
    result =
        make_handle<baton_program>(ProgramInstance(load(call, on, given.load), given.executor));
  });
}

baton_error* load_bundled(const char* function, const baton_bundle* bundle,
                          const baton_device* device, const char* name,
                          const baton_program_options* options, baton_program** program) {
  return load_program(function, device, options, program,
                      [&](const Call& call, const Device& on, const LoadOptions& load) {
                        const Bundle& from = call.get(bundle, "bundle").bundle;
                        const std::string& own = from.program().name();
                        if (name != nullptr && own != name) {
                          throw error(ErrorCode::kNotFound,
                                      "the bundle {} has no program \"{}\"; its program is \"{}\"",
                                      from.name(), printable(name), printable(own));
                        }
                        return LoadedProgram::load(from, on, load);
                      });
}

// Nothing for 0 seconds.
std::optional<std::chrono::duration<double>> time_limit(const Call& call, double seconds,
                                                        const char* argument) {
  // Written so that NaN is refused.
  if (!(seconds >= 0)) {
    throw error(ErrorCode::kInvalidInput, "{}: {} is {}, it takes seconds, or 0 for no limit",
                call.function(), argument, seconds);
  }
  if (seconds == 0) return std::nullopt;
  return std::chrono::duration<double>(seconds);
}

RunOptions run_options(const Call& call, const baton_run_options* options) {
  const baton_run_options given = call.read(options, BATON_RUN_OPTIONS_INIT, "options");
  RunOptions result;
  result.repeat = given.repeat;
  result.timeout = time_limit(call, given.timeout, "options->timeout");
  if (given.schedule != nullptr) result.schedule = parse_schedule(given.schedule);
  if (given.races != nullptr) result.races = parse_races(given.races);
  return result;
}

baton_buffer_info buffer_info(const ProgramInstance& instance, const ProgramBuffer& buffer) {
  baton_buffer_info value = BATON_BUFFER_INFO_INIT;
  value.name = buffer.name.c_str();
  value.ndim = static_cast<std::int32_t>(buffer.shape.size());
  value.role = role_of(buffer.role);
  value.dtype = to_c(buffer.dtype);
  if (!instance.is_bound()) return value;
  const Memory& memory = instance.executable().memory(buffer.name);
  value.shape = instance.executable().shape(buffer.name).data();
  value.address = reinterpret_cast<void*>(memory.address());
  value.bytes = memory.bytes();
  return value;
}

// A tensor for a buffer, copied where it is in host memory.
void set_tensor(ProgramInstance& instance, const ProgramBuffer& buffer, const baton_tensor& given) {
  CheckedTensor tensor;
  try {
    tensor = check_tensor(given, instance.device());
    if (tensor.dtype != buffer.dtype) {
      throw error(ErrorCode::kInvalidInput, "has elements of {}, the buffer of {}",
                  to_string(tensor.dtype), to_string(buffer.dtype));
    }
    if (static_cast<std::size_t>(given.ndim) != buffer.shape.size()) {
      throw error(ErrorCode::kInvalidInput, "has {} dimensions, the buffer has {}", given.ndim,
                  buffer.shape.size());
    }
  } catch (const Error& failure) {
    throw error(failure.code(), "the tensor for the buffer {} {}", buffer.name, failure.message());
  }
  if (!tensor.on_host) {
    instance.set(buffer, DeviceArray{tensor.dtype, shape_of(given), tensor.address()});
    return;
  }
  if (!facts_of(buffer.role).takes_input) {
    throw error(ErrorCode::kInvalidInput,
                "the tensor for the buffer {} is in host memory, and the buffer has the role {}; "
                "first contents are for {} buffers",
                buffer.name, to_string(buffer.role), names_of_roles(&RoleFacts::takes_input));
  }
  Array contents{tensor.dtype, shape_of(given), {}};
  contents.bytes.assign(static_cast<const char*>(tensor.data), tensor.bytes);
  instance.set(buffer, std::move(contents));
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_program_load_file(const char* path, const baton_device* device,
                                     const baton_program_options* options,
                                     baton_program** program) {
  return baton::capi::load_program(
      __func__, device, options, program,
      [&](const Call& call, const Device& on, const LoadOptions& load) {
        const std::string_view file = call.text(path, "path");
        if (Bundle::is_bundle(file)) return LoadedProgram::load(Bundle::open(file), on, load);
        return LoadedProgram::load(Program::from_file(file), on, load);
      });
}

baton_error* baton_program_load_text(const char* toml, const char* name, const char* directory,
                                     const baton_device* device,
                                     const baton_program_options* options,
                                     baton_program** program) {
  return baton::capi::load_program(
      __func__, device, options, program,
      [&](const Call& call, const Device& on, const LoadOptions& load) {
        return LoadedProgram::load(
            Program::from_text(call.text(toml, "toml"), name == nullptr ? "<text>" : name,
                               Call::optional_text(directory)),
            on, load);
      });
}

baton_error* baton_program_load(const baton_bundle* bundle, const baton_device* device,
                                const char* name, baton_program** program) {
  return baton::capi::load_bundled(__func__, bundle, device, name, nullptr, program);
}

baton_error* baton_program_load_with(const baton_bundle* bundle, const baton_device* device,
                                     const char* name, const baton_program_options* options,
                                     baton_program** program) {
  return baton::capi::load_bundled(__func__, bundle, device, name, options, program);
}

baton_error* baton_program_instance(const baton_program* program,
                                    const baton_program_options* options,
                                    baton_program** instance) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_program*& result = call.result(instance, "instance");
    // What is loaded never changes: no turn is needed to read it.
    const auto& from = call.get(program, "program");
    const baton::capi::GivenProgramOptions given(call, options);
    result = baton::capi::make_handle<baton_program>(
        ProgramInstance(from.instance.loaded(), given.executor));
  });
}

baton_error* baton_program_kernel(const baton_program* program, const char* name,
                                  baton_kernel** kernel) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_kernel*& result = call.result(kernel, "kernel");
    // What is loaded never changes: no turn is needed to read it.
    const LoadedProgram& loaded = call.get(program, "program").instance.loaded();
    const std::string_view wanted = call.text(name, "name");
    std::vector<std::string_view> names;
    for (const baton::KernelModule& module : loaded.modules()) {
      for (const auto& [known, facts] : module.kernels) {
        if (known == wanted) {
          result = baton::capi::make_handle<baton_kernel>(loaded.module(known).kernel(facts.name));
          return;
        }
        names.push_back(known);
      }
    }
    throw baton::error(baton::ErrorCode::kNotFound, "the program {} has no kernel \"{}\"{}",
                       baton::printable(loaded.program().name()), baton::printable(wanted),
                       baton::suggestion(wanted, names));
  });
}

baton_error* baton_program_set_int(baton_program* program, const char* symbol, std::int64_t value) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    instance.set(call.text(symbol, "symbol"), value);
  });
}

baton_error* baton_program_set_tensor(baton_program* program, const char* buffer,
                                      const baton_tensor* tensor) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const auto& known = instance.buffer(call.text(buffer, "buffer"));
    baton::capi::set_tensor(instance, known, call.result(tensor, "tensor"));
  });
}

baton_error* baton_program_unset(baton_program* program, const char* name) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    instance.unset(call.text(name, "name"));
  });
}

baton_error* baton_program_set_allocator(baton_program* program, const baton_allocator* allocator) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    instance.set_allocator(baton::capi::given_allocator(call, allocator));
  });
}

baton_error* baton_program_set_progress(baton_program* program, baton_progress_function progress,
                                        void* data) {
  return call_program(__func__, program, [&](const Call&, ProgramInstance& instance) {
    if (progress == nullptr) return instance.set_progress({});
    instance.set_progress([progress, data](const baton::UploadProgress& at) {
      const std::string buffer(at.buffer);
      baton::capi::throw_returned(progress(data, buffer.c_str(), at.bytes_done, at.bytes));
    });
  });
}

baton_error* baton_program_bind(baton_program* program) {
  return call_program(__func__, program,
                      [](const Call&, ProgramInstance& instance) { instance.bind(); });
}

baton_error* baton_program_run(baton_program* program) {
  return call_program(__func__, program, [](const Call&, ProgramInstance& instance) {
    instance.bound_anyhow().run();
  });
}

baton_error* baton_program_run_with(baton_program* program, const baton_run_options* options) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const baton::RunOptions given = baton::capi::run_options(call, options);
    instance.bound_anyhow().run(given);
  });
}

baton_error* baton_program_enqueue(baton_program* program, const baton_stream* stream) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const StreamOrDefault on(call, stream, instance.device());
    instance.bound_in_place().enqueue(*on);
  });
}

baton_error* baton_program_prepare(baton_program* program, const baton_stream* stream) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const StreamOrDefault on(call, stream, instance.device());
    instance.bound_in_place().prepare(*on);
  });
}

baton_error* baton_program_initialise(baton_program* program, const baton_stream* stream) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const StreamOrDefault on(call, stream, instance.device());
    instance.bound_in_place().initialise(*on);
  });
}

baton_error* baton_program_reset(baton_program* program, const char* state,
                                 const baton_stream* stream) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const std::string_view name = call.text(state, "state");
    const StreamOrDefault on(call, stream, instance.device());
    instance.bound_in_place().reset(name, *on);
  });
}

baton_error* baton_program_wait(baton_program* program, const baton_stream* stream,
                                double timeout) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const StreamOrDefault on(call, stream, instance.device());
    const baton::WaitOptions options{baton::capi::time_limit(call, timeout, "timeout")};
    instance.bound_before().wait(*on, options);
  });
}

baton_error* baton_program_upload(baton_program* program, const char* buffer, std::size_t offset,
                                  const void* source, std::size_t bytes,
                                  const baton_stream* stream) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const std::string_view name = call.text(buffer, "buffer");
    call.require_bytes(source, bytes, "source");
    const StreamOrDefault on(call, stream, instance.device());
    instance.bound_in_place().memory(name).upload(source, bytes, offset, *on);
  });
}

baton_error* baton_program_download(baton_program* program, const char* buffer, std::size_t offset,
                                    void* target, std::size_t bytes, const baton_stream* stream) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const std::string_view name = call.text(buffer, "buffer");
    call.require_bytes(target, bytes, "target");
    const StreamOrDefault on(call, stream, instance.device());
    instance.bound_in_place().memory(name).download(target, bytes, offset, *on);
  });
}

baton_error* baton_program_buffer_count(baton_program* program, std::size_t* count) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    call.result(count, "count") = instance.program().buffers().size();
  });
}

baton_error* baton_program_buffer_at(baton_program* program, std::size_t index,
                                     baton_buffer_info* info) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const auto& buffers = instance.program().buffers();
    call.require_index(index, buffers.size(), "buffers");
    call.write(info, baton::capi::buffer_info(instance, buffers[index]), "info");
  });
}

baton_error* baton_program_buffer(baton_program* program, const char* name,
                                  baton_buffer_info* info) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const auto& buffer = instance.buffer(call.text(name, "name"));
    call.write(info, baton::capi::buffer_info(instance, buffer), "info");
  });
}

baton_error* baton_program_output(baton_program* program, const char* buffer, void* target,
                                  std::size_t bytes) {
  return call_program(__func__, program, [&](const Call& call, ProgramInstance& instance) {
    const std::string_view name = call.text(buffer, "buffer");
    const std::string& contents = instance.executable().output(name).bytes;
    call.require_bytes(target, bytes, "target");
    if (contents.size() != bytes) {
      throw baton::error(baton::ErrorCode::kInvalidInput,
                         "{}: the output {} has {} bytes, the target {}", call.function(), name,
                         contents.size(), bytes);
    }
    std::copy(contents.begin(), contents.end(), static_cast<char*>(target));
  });
}

baton_error* baton_program_findings(baton_program* program, baton_findings** findings) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_findings*& result = call.result(findings, "findings");
    baton::capi::with_program(call, program, [&](ProgramInstance& instance) {
      result = baton::capi::make_handle<baton_findings>(instance.executable().report().findings);
    });
  });
}

void baton_program_retain(baton_program* program) {
  baton::capi::retain(program);
}

void baton_program_release(baton_program* program) {
  baton::capi::release(program);
}
