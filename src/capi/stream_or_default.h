#pragma once

#include <optional>

#include "capi/call.h"

namespace baton::capi {

// The stream that a call was given, or the legacy default stream of a device where it is null.
class StreamOrDefault {
 public:
  StreamOrDefault(const Call& call, const baton_stream* given, const Device& device,
                  const char* argument = "stream") {
    if (given != nullptr) {
      given_ = &call.get(given, argument);
    } else {
      default_ = Stream::adopt(device, nullptr);
    }
  }

  const Stream& operator*() const { return given_ != nullptr ? *given_ : *default_; }

 private:
  const Stream* given_ = nullptr;
  std::optional<Stream> default_;
};

}  // namespace baton::capi
