#include "baton/error.h"

#include <utility>

namespace baton {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidInput:
      return "invalid_input";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCompile:
      return "compile";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kMismatch:
      return "mismatch";
    case ErrorCode::kFault:
      return "fault";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kDamaged:
      return "damaged";
    case ErrorCode::kNoDevice:
      return "no_device";
    case ErrorCode::kOutOfMemory:
      return "out_of_memory";
    case ErrorCode::kDriver:
      return "driver";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kInterrupted:
      return "interrupted";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

int exit_status(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kMismatch:
    case ErrorCode::kFault:
    case ErrorCode::kTimeout:
    case ErrorCode::kDamaged:
      return 1;
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
    case ErrorCode::kCompile:
    case ErrorCode::kLimit:
      return 2;
    case ErrorCode::kNoDevice:
    case ErrorCode::kOutOfMemory:
    case ErrorCode::kDriver:
    case ErrorCode::kUnsupported:
    case ErrorCode::kInternal:
      return 3;
    case ErrorCode::kInterrupted:
      return 130;
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
