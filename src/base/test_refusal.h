#pragma once

#include <gtest/gtest.h>

#include <string>

#include "baton/error.h"

namespace baton {

// For tests: the message with which a call refuses its input.
template <typename Function>
std::string refusal_of(Function&& function) {
  try {
    function();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    return failure.message();
  }
  return "nothing was refused";
}

}  // namespace baton
