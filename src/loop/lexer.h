#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

namespace lucid::loop {

/// Reads the pieces of a kernel's text. Spaces, line breaks and comments (# to the end of the line) only separate.
/// Whatever does not fit throws ValueError with line and column.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { skip_space(); }

  /// The offset of what comes next.
  size_t place() const { return next_; }
  [[noreturn]] void fail_at(size_t place, std::string_view message) const;

  bool at(char c) const { return next_ < text_.size() && text_[next_] == c; }
  bool at_number() const;
  bool at_any_of(std::initializer_list<std::string_view> words) const;
  /// Takes `piece`, a whole word or a sign, if it comes next.
  bool accept(std::string_view piece);
  void expect(std::string_view piece);
  /// Letters, digits and underscores, beginning with a letter; `what` is for the message.
  std::string_view word(std::string_view what);
  /// What follows the % of a value: like a word, but digits may begin it.
  std::string_view name();
  /// A number of any kind, or one of the words that stand for one.
  std::string_view number();
  int64_t integer(std::string_view what, int64_t least, int64_t most = std::numeric_limits<int64_t>::max());
  uint64_t hexadecimal();
  std::string quoted();
  /// Nothing may follow.
  void finish() const;

 private:
  void skip_space();
  std::string_view peek_word() const;
  std::string_view take(size_t length);

  std::string_view text_;
  size_t next_ = 0;
};

}  // namespace lucid::loop
