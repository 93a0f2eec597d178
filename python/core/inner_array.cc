#include "core/inner_array.h"

#include "base/error.h"
#include "core/common_argument.h"
#include "core/errors.h"
#include "core/given.h"
#include "core/stream.h"

namespace baton::python {
namespace {

// inner_address(array, device, what, dense): the address of an array whose address a value of the
// launch holds; None for host memory, which the simulated GPU needs a copy of. `what` names it in
// messages, "argument 0". `dense`: whether the kernel counts on C order.
PyObject* inner_address(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded(
      [&] {
        require_positional(4, nargs);
        const Device device = device_argument(args[1]);
        const std::string_view what = text_argument(args[2], "the name of an array");
        try {
          TensorView view;
          if (!view_tensor(args[0], view)) {
            throw error(ErrorCode::kInvalidInput, "is {}, which is not an array",
                        with_article(type_name(args[0])));
          }
          require_reachable(view, device, "the kernel");
          if (view.read_only) {
            throw error(ErrorCode::kInvalidInput,
                        "is read-only, and the kernel may write through its address; pass a copy");
          }
          const std::uint64_t bytes = args[3] == Py_True ? contiguous_bytes(view.tensor) : 0;
          if (view.own != nullptr) return to_python(view.own->address());
          const std::uint64_t address = address_in(view.tensor);
          if (address == 0 && bytes != 0) {
            throw error(
                ErrorCode::kInvalidInput,
                "has {} bytes, and no memory: its storage was freed, or it is a fake tensor",
                bytes);
          }
          return view.on_host() ? none() : to_python(address);
        } catch (const Error& failure) {
          throw error(failure.code(), "{} {}", what, failure.message());
        }
      },
      Subject::kArguments);
}

// choose_stream(arrays, stream, device): the address of the stream for a call with these arrays.
PyObject* choose_stream(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded(
      [&] {
        require_positional(3, nargs);
        CallStream chosen;
        for (Py_ssize_t i = 0; i < PyTuple_Size(args[0]); ++i) {
          TensorView view;
          if (!view_tensor(PyTuple_GetItem(args[0], i), view) || view.on_host()) continue;
          if (view.own != nullptr) continue;  // which names no stream
          if (view.exchange != nullptr) {
            chosen.note(view.exchange, view.tensor.device.device_id);
          } else {
            chosen.note_declared(view.declared_stream);
          }
        }
        const NativeStream native = chosen.choose(args[1], device_argument(args[2]));
        return to_python(std::uint64_t{reinterpret_cast<std::uintptr_t>(native)});
      },
      Subject::kArguments);
}

PyMethodDef functions[] = {
    {"inner_address", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(inner_address)),
     METH_FASTCALL, nullptr},
    {"choose_stream", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(choose_stream)),
     METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void require_reachable(const TensorView& view, const Device& device, std::string_view user) {
  if (view.own != nullptr) {
    if (view.own->device() == device) return;
    throw error(ErrorCode::kInvalidInput, "is in memory of {}; {} is on {}",
                view.own->device().spec(), user, device.spec());
  }
  const auto type = static_cast<std::int32_t>(view.tensor.device.device_type);
  const int id = view.tensor.device.device_id;
  const bool simulated = is_simulated(device);
  if (type == kDlCpu) {
    if (simulated) return;
    throw error(ErrorCode::kInvalidInput,
                "is in host memory, which no kernel on {} can read; copy it there, such as by "
                "baton.array",
                device.spec());
  }
  const bool everywhere = type == kDlCudaHost || type == kDlCudaManaged;
  const bool here = type == kDlCuda && id == ordinal_of(device);
  if (!simulated && (everywhere || here)) return;
  throw error(ErrorCode::kInvalidInput,
              "is in memory of another device (DLPack's type {}, id {}); {} is on {}", type, id,
              user, device.spec());
}

void add_inner_arrays(PyObject* module) {
  check(PyModule_AddFunctions(module, functions));
}

}  // namespace baton::python
