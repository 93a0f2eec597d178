#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::cli {

// Rows of text in aligned columns, for people. A column that is empty in every row is left out.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column; missing ones are empty.
  void add(std::vector<std::string> row);

  // Each line indented by two blanks and ended; the titles bold where `colour` says so.
  std::string format(bool colour) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace baton::cli
