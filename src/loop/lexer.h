#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

namespace lucid::loop {

/// Tokenizes the text of a kernel. Spaces, line breaks and comments (# to the end of the line) separate tokens.
/// Unexpected text throws ValueError with line and column.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { skip_space(); }

  /// Offset of the next token.
  size_t position() const { return next_; }
  [[noreturn]] void fail_at(size_t position, std::string_view message) const;

  bool at(char c) const { return next_ < text_.size() && text_[next_] == c; }
  bool at_number() const;
  bool at_any_of(std::initializer_list<std::string_view> words) const;
  /// Consumes `token`, a whole word or a sign, if it comes next.
  bool accept(std::string_view token);
  void expect(std::string_view token);
  /// Reads a word: letters, digits and underscores, starting with a letter. `what` describes it in the error message.
  std::string_view word(std::string_view what);
  /// Reads the name after the % of a value: like a word, but it may start with a digit.
  std::string_view name();
  /// Reads a number of any kind, or one of the words that denote one.
  std::string_view number();
  int64_t integer(std::string_view what, int64_t min, int64_t max = std::numeric_limits<int64_t>::max());
  uint64_t hexadecimal();
  std::string quoted();
  /// Throws if any text is left.
  void finish() const;

 private:
  void skip_space();
  std::string_view peek_word() const;
  std::string_view take(size_t length);

  std::string_view text_;
  size_t next_ = 0;
};

}  // namespace lucid::loop
