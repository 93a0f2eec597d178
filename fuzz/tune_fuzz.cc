#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "baton/error.h"
#include "tune/record_text.h"

// Any bytes as a tuned record. A record that is read reads back from its own text as it was.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const baton::TuneRecord record = baton::tuning::read_record(bytes, "fuzz");
    const std::string text = baton::tuning::text_of(record);
    if (!(baton::tuning::read_record(text, "again") == record)) std::abort();
  } catch (const baton::Error& wrong) {
    if (wrong.code() != baton::ErrorCode::kInvalidInput) std::abort();
  }
  return 0;
}
