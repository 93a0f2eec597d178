#include "baton/error.h"

#include <utility>

namespace baton {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
#define BATON_ERROR_CODE(name, id, exit_status, meaning) \
  case ErrorCode::name:                                  \
    return id;
#include "base/error_codes.inc"
#undef BATON_ERROR_CODE
  }
  return "internal";
}

int exit_status(ErrorCode code) noexcept {
  switch (code) {
#define BATON_ERROR_CODE(name, id, exit_status, meaning) \
  case ErrorCode::name:                                  \
    return exit_status;
#include "base/error_codes.inc"
#undef BATON_ERROR_CODE
  }
  return 3;
}

FileName::FileName(std::string text)
    : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

const std::string& FileName::text() const noexcept {
  static const std::string kNone;
  return text_ == nullptr ? kNone : *text_;
}

std::string SourceLocation::to_string() const {
  std::string text = file;
  if (line > 0) text += ':' + std::to_string(line);
  if (line > 0 && column > 0) text += ':' + std::to_string(column);
  return text;
}

struct Error::Content {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  SourceLocation where;
  std::vector<std::string> notes;
  int driver_result = 0;
  std::string what;

  // A value that no other thread changes.
  std::shared_ptr<const Content> composed() && {
    if (where.known()) {
      what = where.to_string() + ": " + message;
    } else {
      what = message;
    }
    for (const std::string& text : notes) what += '\n' + text;
    return std::make_shared<const Content>(std::move(*this));
  }
};

Error::Error(ErrorCode code, std::string message, SourceLocation where)
    : content_(Content{code, std::move(message), std::move(where), {}, 0, {}}.composed()) {}

Error::~Error() = default;

ErrorCode Error::code() const noexcept {
  return content_->code;
}
const std::string& Error::message() const noexcept {
  return content_->message;
}
const SourceLocation& Error::where() const noexcept {
  return content_->where;
}
const std::vector<std::string>& Error::notes() const noexcept {
  return content_->notes;
}
int Error::driver_result() const noexcept {
  return content_->driver_result;
}
const char* Error::what() const noexcept {
  return content_->what.c_str();
}

// Copies share their content, so a change makes a new one.
Error& Error::note(std::string text) & {
  Content changed = *content_;
  changed.notes.push_back(std::move(text));
  content_ = std::move(changed).composed();
  return *this;
}

Error&& Error::note(std::string text) && {
  return std::move(note(std::move(text)));
}

Error& Error::of_driver(int result) & {
  Content changed = *content_;
  changed.driver_result = result;
  content_ = std::move(changed).composed();
  return *this;
}

Error& Error::at(SourceLocation where) & {
  if (content_->where.known()) return *this;
  Content changed = *content_;
  changed.where = std::move(where);
  content_ = std::move(changed).composed();
  return *this;
}

}  // namespace baton
