#include "baton/error.h"

#include <utility>

namespace baton {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
#define BATON_ERROR_CODE(name, id, exit_status) \
  case ErrorCode::name:                         \
    return id;
#include "base/error_codes.inc"
#undef BATON_ERROR_CODE
  }
  return "internal";
}

int exit_status(ErrorCode code) noexcept {
  switch (code) {
#define BATON_ERROR_CODE(name, id, exit_status) \
  case ErrorCode::name:                         \
    return exit_status;
#include "base/error_codes.inc"
#undef BATON_ERROR_CODE
  }
  return 3;
}

std::string SourceLocation::to_string() const {
  std::string text = file;
  if (line > 0) text += ':' + std::to_string(line);
  if (line > 0 && column > 0) text += ':' + std::to_string(column);
  return text;
}

Error::Error(ErrorCode code, std::string message, SourceLocation where)
    : code_(code), message_(std::move(message)), where_(std::move(where)) {
  compose();
}

Error& Error::note(std::string text) & {
  notes_.push_back(std::move(text));
  compose();
  return *this;
}

Error&& Error::note(std::string text) && {
  return std::move(note(std::move(text)));
}

Error& Error::of_driver(int result) & {
  driver_result_ = result;
  return *this;
}

Error& Error::at(SourceLocation where) & {
  if (!where_.known()) {
    where_ = std::move(where);
    compose();
  }
  return *this;
}

void Error::compose() {
  what_.clear();
  if (where_.known()) what_ = where_.to_string() + ": ";
  what_ += message_;
  for (const std::string& text : notes_) what_ += '\n' + text;
}

}  // namespace baton
