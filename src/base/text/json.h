#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace baton {

using Json = nlohmann::json;

// Parses any text. Throws kInvalidInput with line and column if it is not JSON, has a key twice
// or nests deeper than 32 levels.
Json parse_json(std::string_view text, const std::string& name);

// Typed access. `where` is the path for messages: "tags.json: func_info.k.arg_types".
const Json& require_object(const Json& value, const std::string& where);
const Json& require_array(const Json& value, const std::string& where);
const std::string& require_string(const Json& value, const std::string& where);
std::int64_t require_integer(const Json& value, const std::string& where);
bool require_bool(const Json& value, const std::string& where);

// The member of that name, or null.
const Json* find_member(const Json& object, std::string_view key);
// The strings of the array of that name; none where it is left out.
std::vector<std::string> string_list(const Json& object, std::string_view key,
                                     const std::string& where);

// Two spaces a level and a line end. Throws kInvalidInput for text that is not UTF-8.
std::string to_text(const Json& value, const std::string& name);

}  // namespace baton
