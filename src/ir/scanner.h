#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/size_trace.h"
#include "ir/schema.h"

namespace lucid {

/// Tokenizes the text formats of this folder: signatures and graphs. Every error in the text raises a ValueError with
/// line and column. No text, however long or malformed, has any other effect.
class Scanner {
 public:
  Scanner(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  /// Skips spaces and newlines, then returns whether the end is reached.
  bool at_end();
  /// Whether `token` comes next, after spaces and newlines. If so, `take` also consumes it; otherwise nothing is
  /// skipped.
  bool peek(std::string_view token) const;
  bool take(std::string_view token);
  void expect(std::string_view token);
  bool peek_identifier();
  /// Letters, digits, `_` and `.`, not starting with a digit.
  std::string_view identifier(std::string_view expected);
  int64_t integer(std::string_view expected);
  /// The next `sN=12`: from here on, sizes may be computed from that symbol of the trace.
  void symbol(SizeTrace& sizes);
  /// An integer or, if there are symbols, what SizeTrace::text() writes: `s0*64+1`.
  SymInt dim();
  /// `[1,2]`.
  Dims dims();
  /// A string in single or double quotes, with the escapes that quoted() writes.
  std::string string();
  /// Any value that an attribute can have.
  Attribute attribute();
  /// The text of such a value, or of several in parentheses.
  std::string_view literal();
  /// The rest of the line, without the newline and surrounding spaces.
  std::string_view rest_of_line();
  /// Whether only spaces are left on the line.
  bool at_line_end();

  [[noreturn]] void fail(const std::string& message);

 private:
  size_t next_token() const;
  void skip_space();
  std::string_view number_token();
  /// Whether a dim that depends on a symbol comes next.
  bool peek_traced();
  SymInt sum(int depth);
  SymInt product(int depth);
  SymInt factor(int depth);

  std::string_view what_;
  std::string_view text_;
  size_t at_ = 0;
  SizeTrace* sizes_ = nullptr;
  std::vector<SymInt> symbols_;
};

/// The parameters of a signature: `(x, dim: int, *, keepdim: bool = False)`. Calls `parse_one` for each, with whether
/// it comes after `*`. It parses the parameter and returns its name.
void parse_parameters(Scanner& scanner, const std::function<std::string(bool keyword_only)>& parse_one);

/// `text` in double quotes, with control characters, quotes and backslashes escaped.
std::string quoted(std::string_view text);
bool is_plain_identifier(std::string_view text);

}  // namespace lucid
