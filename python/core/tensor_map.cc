#include "core/tensor_map.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/suggest.h"
#include "baton/tensor_map.h"
#include "core/device.h"
#include "core/given.h"
#include "core/values.h"

namespace baton::python {
namespace {

// The enumerator of that name; the first one where no name was given.
template <typename Enum>
Enum choice(PyObject* given, const char* what, Enum last) {
  if (given == nullptr) return Enum{};
  const std::string_view name = text_argument(given, what);
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.push_back(to_string(static_cast<Enum>(i)));
    if (names.back() == name) return static_cast<Enum>(i);
  }
  throw error(ErrorCode::kInvalidInput, "there is no {} \"{}\" of a tensor map{}", what, name,
              suggestion(name, names));
}

// tensor_map(device, address, type, shape, strides, box, swizzle, l2_promotion, oob_fill): its 128
// bytes.
PyObject* tensor_map(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* names) {
  return guarded(
      [&] {
        enum { kDevice, kAddress, kType, kShape, kStrides, kBox, kSwizzle, kL2, kFill, kCount };
        static constexpr std::array<const char*, kCount> kNames = {
            "device", "address", "type",         "shape",   "strides",
            "box",    "swizzle", "l2_promotion", "oob_fill"};
        const Given given("tensor_map", kNames, 2, 6, args, nargs, names);
        const Device device = device_argument(given.set(kDevice));
        TensorMapOptions options;
        options.address = unsigned_argument(given[kAddress], "the tensor's address", UINT64_MAX);
        options.type = choice(given[kType], "type", TensorMapType::kTF32Ftz);
        options.shape = shape_argument(given[kShape]);
        options.strides = shape_argument(given[kStrides]);
        options.box = shape_argument(given[kBox]);
        options.swizzle = choice(given.set(kSwizzle), "swizzle", TensorMapSwizzle::k128BAtom64B);
        options.l2_promotion = choice(given.set(kL2), "l2_promotion", TensorMapL2Promotion::k256B);
        options.oob_fill = choice(given.set(kFill), "fill", TensorMapFill::kNan);
        const TensorMap map = TensorMap::encode(device, options);
        return Ref::checked(
            PyBytes_FromStringAndSize(reinterpret_cast<const char*>(map.bytes()), 128));
      },
      Subject::kArguments);
}

PyMethodDef functions[] = {
    {"tensor_map", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(tensor_map)),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_tensor_map(PyObject* module) {
  check(PyModule_AddFunctions(module, functions));
}

}  // namespace baton::python
