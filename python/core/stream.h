#pragma once

#include <memory>
#include <optional>

#include "baton/launch.h"
#include "baton/stream.h"
#include "core/object.h"
#include "core/tensor.h"

namespace baton::python {

// baton.Stream and baton.Event.
struct StreamValue {
  std::shared_ptr<const Stream> stream;
  Ref owner;  // the object that an adopted stream came from
};
struct EventValue {
  std::shared_ptr<Event> event;
};

// The stream that an argument `stream=` names, on `device`: a baton.Stream, an object with
// `__cuda_stream__`, a framework's stream with `cuda_stream` or `ptr`, or an int, the address of a
// CUstream. Throws kInvalidInput for another object, and for a stream of another device.
NativeStream stream_argument(PyObject* object, const Device& device);

// The stream of a call on `device` without `stream=`: that of `with baton.stream(s)`, otherwise the
// current stream of the first array's framework. Throws kInvalidInput where arrays of another
// library name no stream.
class CallStream {
 public:
  // Notes where the first array on a GPU comes from.
  void note(const DlExchangeApi* exchange, std::int32_t device_id) {
    if (seen_) return;
    seen_ = true;
    exchange_ = exchange;
    device_id_ = device_id;
  }
  void note_declared(std::optional<std::uintptr_t> declared) {
    if (seen_) return;
    seen_ = true;
    foreign_ = true;
    declared_ = declared;
  }

  // `given` is the argument `stream=`, or null.
  NativeStream choose(PyObject* given, const Device& device) const;

 private:
  bool seen_ = false;
  bool foreign_ = false;  // of a library whose current stream cannot be asked for
  std::int32_t device_id_ = 0;
  const DlExchangeApi* exchange_ = nullptr;
  std::optional<std::uintptr_t> declared_;
};

// A Stream for waiting on a handle.
Stream adopted(NativeStream stream, const Device& device);

void add_stream_types(PyObject* module);

}  // namespace baton::python
