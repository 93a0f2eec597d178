#pragma once

#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace baton::bench {

// "--name value" pairs; what is not given has the default.
class Options {
 public:
  Options(int argc, char** argv) : words_(argv, static_cast<std::size_t>(argc)) {}

  std::string text(std::string_view name, std::string otherwise) const {
    for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
      if (words_[i] == name) return words_[i + 1];
    }
    return otherwise;
  }
  int number(std::string_view name, int otherwise) const {
    return std::atoi(text(name, std::to_string(otherwise)).c_str());
  }

 private:
  std::span<char*> words_;
};

}  // namespace baton::bench
