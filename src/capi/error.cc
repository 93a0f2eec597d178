#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include "capi/call.h"
#include "image/names/readable_names.h"

namespace baton::capi {
namespace {

// What a call without memory returns. It is made before it is needed, and never released.
baton_error* without_memory() {
  static baton_error* const shared = make_handle<baton_error>(
      Error(ErrorCode::kOutOfMemory, "the host's memory is exhausted"), std::string());
  return shared;
}
[[maybe_unused]] const baton_error* const kMadeEarly = without_memory();

baton_error* make_error(const Error& error) {
  return make_handle<baton_error>(image::with_readable_names(error), error.where().to_string());
}

std::int32_t code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return BATON_ERROR_INVALID_INPUT;
    case ErrorCode::kNotFound:
      return BATON_ERROR_NOT_FOUND;
    case ErrorCode::kCompile:
      return BATON_ERROR_COMPILE;
    case ErrorCode::kLimit:
      return BATON_ERROR_LIMIT;
    case ErrorCode::kMismatch:
      return BATON_ERROR_MISMATCH;
    case ErrorCode::kFault:
      return BATON_ERROR_FAULT;
    case ErrorCode::kTimeout:
      return BATON_ERROR_TIMEOUT;
    case ErrorCode::kDamaged:
      return BATON_ERROR_DAMAGED;
    case ErrorCode::kNoDevice:
      return BATON_ERROR_NO_DEVICE;
    case ErrorCode::kOutOfMemory:
      return BATON_ERROR_OUT_OF_MEMORY;
    case ErrorCode::kDriver:
      return BATON_ERROR_DRIVER;
    case ErrorCode::kUnsupported:
      return BATON_ERROR_UNSUPPORTED;
    case ErrorCode::kInterrupted:
      return BATON_ERROR_INTERRUPTED;
    case ErrorCode::kInternal:
      return BATON_ERROR_INTERNAL;
  }
  return BATON_ERROR_INTERNAL;
}

std::optional<ErrorCode> code_of_number(std::int32_t number) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto known = static_cast<ErrorCode>(i);
    if (code_of(known) == number) return known;
  }
  return std::nullopt;
}

// What the readers of an error read: null where there is none to be read.
const ErrorContent* readable(const baton_error* error) noexcept {
  const bool alive =
      error != nullptr && error->is_of(handle_mark(baton_error::kName)) && error->alive();
  return alive ? &error->content() : nullptr;
}

// What `read` says of an error, or `otherwise` where there is none to be read.
template <typename T, typename Read>
T read_error(const baton_error* error, T otherwise, Read&& read) noexcept {
  const ErrorContent* content = readable(error);
  return content == nullptr ? otherwise : static_cast<T>(read(*content));
}

}  // namespace

baton_error* error_of_exception() noexcept {
  try {
    try {
      throw;
    } catch (const Error& failure) {
      return make_error(failure);
    } catch (const std::bad_alloc&) {
      return without_memory();
    } catch (const std::exception& failure) {
      return make_error(Error(ErrorCode::kInternal, failure.what()));
    } catch (...) {
      return make_error(Error(ErrorCode::kInternal, "an exception of an unknown type"));
    }
  } catch (...) {
    // There is none for the error either.
    return without_memory();
  }
}

Error error_of(const baton_error* error) {
  const ErrorContent* content = readable(error);
  if (content != nullptr) return content->error;
  return Error(ErrorCode::kInvalidInput, baton_error_message(error));
}

void throw_returned(baton_error* error) {
  if (error == nullptr) return;
  Error thrown = error_of(error);
  baton_error_release(error);
  throw thrown;
}

}  // namespace baton::capi

using baton::capi::ErrorContent;
using baton::capi::read_error;

std::int32_t baton_error_code(const baton_error* error) {
  if (error == nullptr) return BATON_OK;
  return read_error<std::int32_t>(
      error, BATON_ERROR_INVALID_INPUT,
      [](const ErrorContent& content) { return baton::capi::code_of(content.error.code()); });
}

const char* baton_error_code_name(std::int32_t code) {
  if (code == BATON_OK) return "ok";
  const auto known = baton::capi::code_of_number(code);
  // The names are literals, which end in a NUL.
  return known ? baton::to_string(*known).data() : "unknown";
}

const char* baton_error_message(const baton_error* error) {
  const char* const none =
      error == nullptr ? "" : "the pointer is not a baton_error, or the error was released";
  return read_error<const char*>(
      error, none, [](const ErrorContent& content) { return content.error.message().c_str(); });
}

const char* baton_error_where(const baton_error* error) {
  return read_error<const char*>(error, "",
                                 [](const ErrorContent& content) { return content.where.c_str(); });
}

const char* baton_error_file(const baton_error* error) {
  return read_error<const char*>(error, "", [](const ErrorContent& content) {
    return content.error.where().file.text().c_str();
  });
}

std::int32_t baton_error_line(const baton_error* error) {
  return read_error<std::int32_t>(
      error, 0, [](const ErrorContent& content) { return content.error.where().line; });
}

std::int32_t baton_error_column(const baton_error* error) {
  return read_error<std::int32_t>(
      error, 0, [](const ErrorContent& content) { return content.error.where().column; });
}

std::size_t baton_error_note_count(const baton_error* error) {
  return read_error<std::size_t>(
      error, 0, [](const ErrorContent& content) { return content.error.notes().size(); });
}

const char* baton_error_note(const baton_error* error, std::size_t index) {
  return read_error<const char*>(error, nullptr, [&](const ErrorContent& content) {
    const auto& notes = content.error.notes();
    return index < notes.size() ? notes[index].c_str() : nullptr;
  });
}

const char* baton_error_text(const baton_error* error) {
  return read_error<const char*>(error, baton_error_message(error),
                                 [](const ErrorContent& content) { return content.error.what(); });
}

std::int32_t baton_error_driver_result(const baton_error* error) {
  return read_error<std::int32_t>(
      error, 0, [](const ErrorContent& content) { return content.error.driver_result(); });
}

baton_error* baton_error_create(std::int32_t code, const char* message) {
  return baton::capi::call(__func__, [&](const baton::capi::Call& call) {
    throw baton::Error(baton::capi::code_of_number(code).value_or(baton::ErrorCode::kInvalidInput),
                       std::string(call.optional_text(message)));
  });
}

void baton_error_retain(baton_error* error) {
  if (error != baton::capi::without_memory()) baton::capi::retain(error);
}

void baton_error_release(baton_error* error) {
  if (error != baton::capi::without_memory()) baton::capi::release(error);
}
