#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/schema.h"

namespace lucid {

/// Reads the small textual languages of this layer: signatures and graphs. Every mistake in the text becomes a
/// ValueError that gives line and column; no text, however long or malformed, does more harm than that.
class Scanner {
 public:
  Scanner(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  /// Skips spaces and newlines, then says whether nothing is left.
  bool at_end();
  /// Whether `token` comes next, after spaces and newlines; if so, `take` also consumes it. If not, nothing is skipped.
  bool peek(std::string_view token) const;
  bool take(std::string_view token);
  void expect(std::string_view token);
  bool peek_identifier();
  /// Letters, digits, `_` and `.`, not starting with a digit.
  std::string_view identifier(std::string_view wanted);
  int64_t integer(std::string_view wanted);
  /// `[1,2]`.
  Dims dims();
  /// A word in single or double quotes, with the escapes that quoted() writes.
  std::string string();
  /// Any value that an attribute can have.
  Attribute attribute();
  /// From here to the end of the line, without the newline and the spaces around.
  std::string_view rest_of_line();
  /// True when only spaces stand between here and the end of the line.
  bool at_line_end();

  [[noreturn]] void fail(const std::string& message);

 private:
  size_t next_token() const;
  void skip_space();
  std::string_view number_token();

  std::string_view what_;
  std::string_view text_;
  size_t at_ = 0;
};

/// `text` in double quotes, with control characters, quotes and backslashes escaped.
std::string quoted(std::string_view text);
bool is_plain_identifier(std::string_view text);

}  // namespace lucid
