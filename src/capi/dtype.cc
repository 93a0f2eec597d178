#include "capi/dtype.h"

#include <vector>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "capi/call.h"

using baton::capi::Call;

const char* baton_dtype_name(baton_dtype type) {
  const auto dtype = baton::capi::dtype_of(type);
  // The names are literals, which end in a NUL.
  return dtype ? baton::to_string(*dtype).data() : nullptr;
}

baton_error* baton_dtype_parse(const char* name, baton_dtype* type) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_dtype& result = call.result(type, "type");
    const std::string_view text = call.text(name, "name");
    const auto dtype = baton::parse_dtype(text);
    if (!dtype) {
      throw baton::error(baton::ErrorCode::kNotFound, "{}: there is no dtype \"{}\"{}",
                         call.function(), baton::printable(text),
                         baton::suggestion(text, baton::dtype_names()));
    }
    result = baton::capi::to_c(dtype);
  });
}
