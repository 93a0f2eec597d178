#include <span>
#include <utility>
#include <vector>

#include "tvm_ffi/bundle_module.h"
#include "tvm_ffi/failure.h"
#include "tvm_ffi/kernel_call.h"
#include "tvm_ffi/runtime.h"

// The functions of a module, as tvm-ffi calls them.

namespace baton::tvm_ffi {
namespace {

// What a function object refers to.
struct BoundFunction {
  std::shared_ptr<BundleModule> module;
  FunctionName name;

  void call(std::span<const Any> arguments) const {
    const Target target = Target::of(arguments);
    using Kind = FunctionName::Kind;
    switch (name.kind) {
      case Kind::kProgram:
      case Kind::kProgramGraph: {
        // Wrong arguments are told before anything is loaded.
        const GivenValues values = read_arguments(module->parts(), arguments);
        const std::int32_t executor =
            name.kind == Kind::kProgram ? BATON_EXECUTOR_STREAM : BATON_EXECUTOR_GRAPH;
        return module->on(target).program(executor).run(values, target);
      }
      case Kind::kKernel: {
        LoadedBundle& loaded = module->on(target);
        return call_kernel(loaded.kernel(name.kernel), name.kernel, loaded.device(), target,
                           arguments);
      }
    }
  }
};

int call_function(void* self, const Any* args, std::int32_t count, Any* result) {
  return guarded([&] {
    const std::span<const Any> arguments(args, static_cast<std::size_t>(count));
    static_cast<const BoundFunction*>(self)->call(arguments);
    *result = Any{};
  });
}

void delete_function(void* self) {
  delete static_cast<BoundFunction*>(self);
}

}  // namespace

ObjectRef make_function(std::shared_ptr<BundleModule> module, FunctionName name) {
  auto bound = std::make_unique<BoundFunction>(BoundFunction{std::move(module), std::move(name)});
  Object* function = nullptr;
  if (runtime().FunctionCreate(bound.get(), call_function, delete_function, &function) != 0) {
    fail("RuntimeError", "libtvm_ffi cannot make a function");
  }
  bound.release();  // the function owns it
  return ObjectRef(function);
}

std::string describe_function(const ProgramParts& parts, const FunctionName& name) {
  using Kind = FunctionName::Kind;
  switch (name.kind) {
    case Kind::kProgram:
      return parts.signature("main");
    case Kind::kProgramGraph:
      return parts.signature("main_graph");
    case Kind::kKernel:
      return fmt::format("{}(the kernel's arguments..., grid, block, shared = 0)", name.kernel);
  }
  return {};
}

}  // namespace baton::tvm_ffi
