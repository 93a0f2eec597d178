#pragma once

#include <string>
#include <string_view>

#include "driver/driver.h"

namespace baton {

// True for the errors that a kernel's failure leaves behind: every later call on the context gives
// them again, whatever it does.
bool is_sticky(CUresult result) noexcept;

// What is said with such an error where a kernel was to be launched.
std::string not_launched(std::string_view kernel);

// What a destructor does with the result of giving something back: nothing where the driver is
// shutting down, or where the context is lost to a fault that was told before (a debug message);
// anything else is logged as a warning.
void released(const driver::Driver& driver, CUresult result, const char* call) noexcept;

}  // namespace baton

// BATON_RELEASE(driver, cuMemFree, address)
#define BATON_RELEASE(driver_, function, ...) \
  ::baton::released((driver_), (driver_).function(__VA_ARGS__), #function)
