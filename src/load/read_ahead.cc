#include "load/read_ahead.h"

#include <system_error>
#include <utility>

#include "base/log.h"

namespace baton::load {
namespace {

// For fewer a thread gains less than it costs to start.
constexpr std::size_t kFewest = 4;

}  // namespace

ReadAhead::ReadAhead(std::vector<Image> images) {
  if (images.size() < kFewest) return;
  auto read = [images = std::move(images)](const std::stop_token& stop) {
    for (const Image& image : images) {
      if (stop.stop_requested()) return;
      try {
        static_cast<void>(image.bytes());
      } catch (...) {  // memory may be short, too
        return;
      }
    }
  };
  try {
    thread_ = std::jthread(std::move(read));
  } catch (const std::system_error& failure) {
    log(LogLevel::kDebug, "images are not read ahead: {}", failure.what());
  }
}

}  // namespace baton::load
