#pragma once

#include <string>
#include <string_view>

namespace baton::cli {

// Text inside of HTML or SVG: what they give a meaning is replaced, and so are bytes that are not
// UTF-8 and control characters.
std::string escaped(std::string_view text);

// A picture as SVG, drawn with the classes of `picture_style`. Coordinates are pixels.
class Svg {
 public:
  explicit Svg(double width, double height) : width_(width), height_(height) {}

  // `title` is what a pointer over the shape shows; it may be empty.
  void rectangle(double x, double y, double width, double height, std::string_view css_class,
                 std::string_view title = {});
  void line(double x1, double y1, double x2, double y2, std::string_view css_class);
  void circle(double x, double y, double radius, std::string_view css_class,
              std::string_view title = {});
  // An SVG path's commands.
  void path(std::string_view commands, std::string_view css_class, std::string_view title = {});
  enum class Anchor { kStart, kMiddle, kEnd };
  // Cut at the end where it is longer than `most` characters.
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::kStart,
            std::string_view css_class = "t", std::size_t most = 60);

  void make_higher(double height) { height_ = height; }
  double height() const { return height_; }

  // The element, for a page that has the styles.
  std::string element(std::string_view label) const;
  // A file of its own, with the styles.
  std::string file(std::string_view label) const;

 private:
  std::string tag(std::string_view extra, std::string_view label, std::string_view style) const;

  double width_, height_;
  std::string body_;
};

// The styles of pictures: colours on light and on dark ground.
std::string_view picture_style();

// A whole page, which loads nothing and runs no script. `body` is HTML, `title` text.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace baton::cli
