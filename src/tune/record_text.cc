#include "tune/record_text.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "base/text/json.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/names.h"

namespace baton {

bool operator==(const TuneRecord& a, const TuneRecord& b) {
  const auto parts = [](const TuneRecord& r) {
    return std::tie(r.program, r.images, r.device, r.multiprocessors, r.driver, r.symbols,
                    r.variant, r.accepted, r.ratio.ratio, r.ratio.low, r.ratio.high,
                    r.ratio.samples, r.noise, r.cost);
  };
  return parts(a) == parts(b);
}

namespace tuning {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::string_view kExecutors[] = {"stream", "graph"};

// Reads the members of one object, named in messages.
class ObjectReader {
 public:
  ObjectReader(const Json& value, std::string where)
      : value_(require_object(value, where)), where_(std::move(where)) {}

  const Json& member(const char* key) const {
    const Json* found = find_member(value_, key);
    if (found == nullptr) {
      throw error(ErrorCode::kInvalidInput, "{} lacks \"{}\"", where_, key);
    }
    return *found;
  }
  std::string place(const char* key) const { return where_ + "." + key; }
  std::string text(const char* key) const { return require_string(member(key), place(key)); }
  std::int64_t integer(const char* key) const { return require_integer(member(key), place(key)); }
  int small(const char* key) const {
    const std::int64_t value = integer(key);
    if (value < 0 || value > std::numeric_limits<int>::max()) {
      throw error(ErrorCode::kInvalidInput, "{} is {}, out of range", place(key), value);
    }
    return static_cast<int>(value);
  }
  bool boolean(const char* key) const { return require_bool(member(key), place(key)); }
  double number(const char* key) const {
    const Json& value = member(key);
    if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
    throw error(ErrorCode::kInvalidInput, "{} is not a number", place(key));
  }
  const Json& array(const char* key) const { return require_array(member(key), place(key)); }

 private:
  const Json& value_;
  std::string where_;
};

template <std::size_t N>
std::size_t choice(const std::string& given, const std::array<std::string_view, N>& names,
                   const std::string& where) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == given) return i;
  }
  throw error(ErrorCode::kInvalidInput, "{} is \"{}\"{}", where, printable(given),
              suggestion(given, std::span<const std::string_view>(names)));
}

// [["N", 4096], …]: an object would lose the order.
std::vector<std::pair<std::string, std::int64_t>> read_values(const Json& list,
                                                              const std::string& where) {
  std::vector<std::pair<std::string, std::int64_t>> values;
  for (const Json& item : list) {
    if (require_array(item, where).size() != 2) {
      throw error(ErrorCode::kInvalidInput, "an item of {} must be a pair of a name and a value",
                  where);
    }
    values.emplace_back(require_string(item[0], where), require_integer(item[1], where));
  }
  return values;
}

// [["peer", 0], …]: what executes the collective of that number.
std::vector<std::pair<std::string, std::uint32_t>> read_named(const Json& list,
                                                              const std::string& where) {
  std::vector<std::pair<std::string, std::uint32_t>> named;
  for (const auto& [name, number] : read_values(require_array(list, where), where)) {
    if (number < 0 || number > std::numeric_limits<std::uint32_t>::max()) {
      throw error(ErrorCode::kInvalidInput, "{} names collective {}, which cannot be", where,
                  number);
    }
    named.emplace_back(name, static_cast<std::uint32_t>(number));
  }
  return named;
}

Json values_json(const std::vector<std::pair<std::string, std::int64_t>>& values) {
  Json list = Json::array();
  for (const auto& [name, value] : values) list.push_back(Json::array({name, value}));
  return list;
}

TuneChoices read_choices(const Json& value, const std::string& where) {
  const ObjectReader object(value, where);
  TuneChoices choices;
  for (const Json& item : object.array("rewrites")) {
    if (require_array(item, object.place("rewrites")).size() != 2) {
      throw error(ErrorCode::kInvalidInput, "an item of {} must be a pair of a kernel and a mode",
                  object.place("rewrites"));
    }
    const std::size_t mode = choice(require_string(item[1], object.place("rewrites")),
                                    kRewriteNames, object.place("rewrites"));
    choices.rewrites.emplace_back(require_string(item[0], object.place("rewrites")),
                                  static_cast<RewriteMode>(mode));
  }
  for (const Json& item : object.array("even")) {
    choices.even.push_back(require_string(item, object.place("even")));
  }
  for (const Json& item : object.array("full_edges")) {
    const std::int64_t launch = require_integer(item, object.place("full_edges"));
    if (launch < 0 || launch > std::numeric_limits<std::uint32_t>::max()) {
      throw error(ErrorCode::kInvalidInput, "{} names launch {}, which cannot be",
                  object.place("full_edges"), launch);
    }
    choices.full_edges.push_back(static_cast<std::uint32_t>(launch));
  }
  // Records of programs without ranks have none.
  if (const Json* list = find_member(value, "collectives")) {
    constexpr std::array<std::string_view, 3> kBy = {"nccl", "host", "peer"};
    for (const auto& [by, number] : read_named(*list, object.place("collectives"))) {
      const auto executor = choice(by, kBy, object.place("collectives")) + 1;
      choices.collectives.emplace_back(number, static_cast<CollectiveExecutor>(executor));
    }
  }
  choices.parameters = read_values(object.array("parameters"), object.place("parameters"));
  return choices;
}

Json json_of(const TuneChoices& choices) {
  Json rewrites = Json::array();
  for (const auto& [kernel, mode] : choices.rewrites) {
    rewrites.push_back(Json::array({kernel, std::string(to_string(mode))}));
  }
  Json json = {{"rewrites", rewrites},
               {"even", choices.even},
               {"full_edges", choices.full_edges},
               {"parameters", values_json(choices.parameters)}};
  for (const auto& [number, by] : choices.collectives) {
    json["collectives"].push_back(Json::array({std::string(to_string(by)), number}));
  }
  return json;
}

}  // namespace

std::string text_of(const TuneRecord& record) {
  const auto executor = static_cast<std::size_t>(record.variant.executor);
  const Json json = {{"version", kVersion},
                     {"program", record.program},
                     {"images", record.images},
                     {"device", record.device},
                     {"multiprocessors", record.multiprocessors},
                     {"driver", record.driver},
                     {"symbols", values_json(record.symbols)},
                     {"executor", std::string(kExecutors[executor])},
                     {"choices", json_of(record.variant.choices)},
                     {"accepted", record.accepted},
                     {"ratio", record.ratio.ratio},
                     {"low", record.ratio.low},
                     {"high", record.ratio.high},
                     {"samples", record.ratio.samples},
                     {"noise", record.noise},
                     {"cost", record.cost}};
  return to_text(json, "a tuned record");
}

TuneRecord read_record(std::string_view text, const std::string& name) {
  const Json json = parse_json(text, name);
  const ObjectReader object(json, name);
  if (const std::int64_t version = object.integer("version"); version != kVersion) {
    throw error(ErrorCode::kInvalidInput, "{} has version {}, this Baton reads {}", name, version,
                kVersion);
  }
  TuneRecord record;
  record.program = object.text("program");
  record.images = object.text("images");
  record.device = object.text("device");
  record.multiprocessors = object.small("multiprocessors");
  record.driver = object.small("driver");
  record.symbols = read_values(object.array("symbols"), object.place("symbols"));
  constexpr std::array<std::string_view, 2> kNames = {kExecutors[0], kExecutors[1]};
  record.variant.executor =
      static_cast<ExecutorKind>(choice(object.text("executor"), kNames, object.place("executor")));
  record.variant.choices = read_choices(object.member("choices"), object.place("choices"));
  record.accepted = object.boolean("accepted");
  record.ratio.ratio = object.number("ratio");
  record.ratio.low = object.number("low");
  record.ratio.high = object.number("high");
  record.ratio.samples = static_cast<std::uint64_t>(object.small("samples"));
  record.noise = object.number("noise");
  record.cost = object.text("cost");
  return record;
}

}  // namespace tuning
}  // namespace baton
