#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "baton/error.h"
#include "baton/metadata.h"
#include "metadata/library.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Whatever is read can be written in Baton's own form, and reads back as what it was.
void check(const baton::ModuleMetadata& module) {
  const std::string written = baton::metadata_binary(module);
  const baton::FoundMetadata again = baton::read_metadata(written, "written");
  require(again.modules.size() == 1);
  require(std::ranges::equal(again.modules[0].functions(), module.functions()));
  require(again.modules[0].sources() == module.sources());
  for (const baton::FunctionMetadata& function : module.functions()) {
    require(&module.function(function.symbol()) == &function);
    try {
      const std::string info = baton::tvm_function_info(function);
      require(baton::read_metadata(info, "info").modules.at(0).functions()[0] == function);
    } catch (const baton::Error& unsayable) {
      require(unsayable.code() == baton::ErrorCode::kInvalidInput);
    }
  }
}

}  // namespace

// Any bytes as a file of metadata, and as what a library's data symbol points to.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool library : {false, true}) {
    try {
      baton::FoundMetadata found;
      if (library) {
        baton::metadata::read_library_bytes(bytes, "input", found);
      } else {
        found = baton::read_metadata(bytes, "input");
      }
      for (const baton::ModuleMetadata& module : found.modules) check(module);
    } catch (const baton::Error& refused) {
      // A library may hold no metadata at all: nothing is found then.
      require(refused.code() == baton::ErrorCode::kInvalidInput ||
              refused.code() == baton::ErrorCode::kDamaged ||
              refused.code() == baton::ErrorCode::kNotFound);
    }
  }
  return 0;
}
