#pragma once

#include <vector>

// values * factor - 1
std::vector<float> minus(const std::vector<float>& values, float factor);
