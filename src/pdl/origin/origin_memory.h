#pragma once

// What loads, stores and atomic operations do to the origins of values. Local memory is followed,
// as elements of a few sizes; what other memory holds is not.

#include <cstdint>
#include <functional>

#include "pdl/origin/origin_values.h"

namespace baton::overlap {

// Refers to the code and the values.
class OriginMemory {
 public:
  // Gives a value more origins.
  using Define = std::function<void(std::uint32_t value, const OriginSet& origins)>;

  // `places_are_told`: numbers, and what is loaded, may lead to local memory or parameters.
  OriginMemory(const Code& code, OriginValues& values, bool places_are_told, Define define);

  void load(const Operation& operation);
  void store(const Operation& operation);
  void update(const Operation& operation);

 private:
  void define_all(const Operation& operation, const OriginSet& value);
  bool has(OriginId id, SourceKind kind) const;
  bool is_certainly(OriginId id, SourceKind kind) const;
  bool has_known_place(OriginId id) const;
  void tell_place(const Operation& operation, OriginId address, bool is_known);
  void tell(const Operation& operation, OriginId decides);
  void load_local(const Operation& operation);
  void load_param(const Operation& operation, OriginId address);
  OriginSet param_element(const Operation& operation, std::uint32_t id, std::size_t k,
                          bool is_direct);

  const Code& code_;
  OriginValues& values_;
  OriginPool& pool_;
  const Define define_;
  const bool places_are_told_;
  // Some value is the address of a parameter, which may be stored, and loaded again.
  const bool gives_params_;
};

}  // namespace baton::overlap
