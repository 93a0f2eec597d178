#include "base/text/json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/text/text.h"

namespace baton {
namespace {

constexpr int kMaxDepth = 32;

SourceLocation place_of(std::string_view text, std::size_t at, const std::string& name) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column =
      start == std::string_view::npos ? before.size() + 1 : before.size() - start;
  return {name, static_cast<int>(lines + 1), static_cast<int>(column)};
}

// The part of the library's message that says what is wrong, without its own numbers.
std::string reason_of(const Json::parse_error& failure) {
  const std::string text = failure.what();
  const std::size_t found = text.find(": ");
  return printable(found == std::string::npos ? text : text.substr(found + 2));
}

[[noreturn]] void refuse(const Json& value, const std::string& where, const char* wanted) {
  throw error(ErrorCode::kInvalidInput, "{} is {} {}, it must be {}", where,
              std::string_view(value.type_name()).starts_with('o') ||
                      std::string_view(value.type_name()).starts_with('a')
                  ? "an"
                  : "a",
              value.type_name(), wanted);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  std::vector<std::unordered_set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
        keys.emplace_back();
        [[fallthrough]];
      case Json::parse_event_t::array_start:
        if (depth >= kMaxDepth) {
          throw error(ErrorCode::kInvalidInput, "{} nests deeper than {} levels", name, kMaxDepth);
        }
        break;
      case Json::parse_event_t::object_end:
        keys.pop_back();
        break;
      case Json::parse_event_t::key:
        if (!keys.back().insert(parsed.get_ref<const std::string&>()).second) {
          throw error(ErrorCode::kInvalidInput, "{}: the key \"{}\" occurs twice in one object",
                      name, printable(parsed.get_ref<const std::string&>()));
        }
        break;
      default:
        break;
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::parse_error& failure) {
    throw error_at(place_of(text, failure.byte == 0 ? 0 : failure.byte - 1, name),
                   ErrorCode::kInvalidInput, "this is not JSON: {}", reason_of(failure));
  } catch (const Json::out_of_range& failure) {
    // A number that no double holds: the library quotes it, and does not say where it stands.
    const std::string said = failure.what();
    const std::size_t open = said.find('\'');
    const std::string number =
        open == std::string::npos ? "" : said.substr(open + 1, said.rfind('\'') - open - 1);
    throw error_at(place_of(text, std::min(text.find(number), text.size()), name),
                   ErrorCode::kInvalidInput, "the number {} exceeds the range of a double",
                   printable(number));
  }
}

const Json& require_object(const Json& value, const std::string& where) {
  if (!value.is_object()) refuse(value, where, "an object");
  return value;
}

const Json& require_array(const Json& value, const std::string& where) {
  if (!value.is_array()) refuse(value, where, "an array");
  return value;
}

const std::string& require_string(const Json& value, const std::string& where) {
  if (!value.is_string()) refuse(value, where, "a string");
  return value.get_ref<const std::string&>();
}

std::int64_t require_integer(const Json& value, const std::string& where) {
  if (!value.is_number_integer()) refuse(value, where, "an integer");
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    throw error(ErrorCode::kInvalidInput, "{} is {}, which exceeds a 64-bit integer", where,
                value.get<std::uint64_t>());
  }
  return value.get<std::int64_t>();
}

bool require_bool(const Json& value, const std::string& where) {
  if (!value.is_boolean()) refuse(value, where, "true or false");
  return value.get<bool>();
}

const Json* find_member(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::vector<std::string> string_list(const Json& object, std::string_view key,
                                     const std::string& where) {
  std::vector<std::string> list;
  const Json* found = find_member(object, key);
  if (found == nullptr) return list;
  const std::string place = fmt::format("{}.{}", where, key);
  for (const Json& item : require_array(*found, place)) {
    list.push_back(require_string(item, fmt::format("{}[{}]", place, list.size())));
  }
  return list;
}

std::string to_text(const Json& value, const std::string& name) {
  try {
    return value.dump(2) + '\n';
  } catch (const Json::exception&) {
    throw error(ErrorCode::kInvalidInput,
                "{} holds text that is not UTF-8, which JSON cannot contain; write the binary form",
                name);
  }
}

}  // namespace baton
