#pragma once

#include <string_view>

namespace baton::recorder {

// A function of the driver that is recorded, by its symbol; null where that driver has none.
// Opens nothing: the driver is open when a hook runs.
void* real_function(const char* symbol);

template <typename Function>
Function* real(const char* symbol) {
  return reinterpret_cast<Function*>(real_function(symbol));
}

// Whether this thread is in a call of the driver: what the driver calls itself is not noted.
class InsideCall {
 public:
  InsideCall() : was_(inside_) { inside_ = true; }
  ~InsideCall() { inside_ = was_; }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;

  static bool is_on() { return inside_; }

 private:
  static inline thread_local bool inside_ = false;
  const bool was_;
};

// What stands in place of a symbol's function; null: that function itself. `number` and the real
// function are the hook's from then on.
void* call_hook(std::string_view symbol, void* real);
void* launch_hook(std::string_view symbol, void* real);
void* load_hook(std::string_view symbol, void* real);
void* tensor_map_hook(std::string_view symbol, void* real);
void* proc_address_hook(std::string_view symbol, void* real);

// The number of a symbol in events.
unsigned name_number(std::string_view symbol);

}  // namespace baton::recorder
