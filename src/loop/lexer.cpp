#include "loop/lexer.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace lucid::loop {
namespace {

// Not from <cctype>, which depends on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

void Lexer::fail_at(size_t position, std::string_view message) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  throw ValueError("kernel text: line {}, column {}: {}", line, position - line_start + 1, message);
}

void Lexer::skip_space() {
  while (next_ < text_.size()) {
    if (is_space(text_[next_])) {
      ++next_;
    } else if (text_[next_] == '#') {
      next_ = std::min(text_.find('\n', next_), text_.size());
    } else {
      return;
    }
  }
}

std::string_view Lexer::take(size_t length) {
  const std::string_view token = text_.substr(next_, length);
  next_ += length;
  skip_space();
  return token;
}

std::string_view Lexer::peek_word() const {
  size_t end = next_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  return text_.substr(next_, end - next_);
}

bool Lexer::at_number() const { return next_ < text_.size() && (is_digit(text_[next_]) || text_[next_] == '-'); }

bool Lexer::at_any_of(std::initializer_list<std::string_view> words) const {
  return std::ranges::find(words, peek_word()) != words.end();
}

bool Lexer::accept(std::string_view token) {
  const bool found = is_letter(token[0]) ? peek_word() == token : text_.substr(next_, token.size()) == token;
  if (found) take(token.size());
  return found;
}

void Lexer::expect(std::string_view token) {
  if (!accept(token)) fail_at(next_, fmt::format("expected '{}'", token));
}

std::string_view Lexer::word(std::string_view what) {
  const std::string_view found = peek_word();
  if (found.empty() || is_digit(found[0])) fail_at(next_, fmt::format("expected {}", what));
  return take(found.size());
}

std::string_view Lexer::name() {
  const std::string_view found = peek_word();
  if (found.empty()) fail_at(next_, "expected a value's number or name");
  return take(found.size());
}

std::string_view Lexer::number() {
  size_t end = next_;
  while (end < text_.size()) {
    const char c = text_[end];
    // A sign is part of a number at its start and after the e of its exponent.
    const bool sign = (c == '-' && end == next_) ||
                      ((c == '-' || c == '+') && end > next_ && (text_[end - 1] == 'e' || text_[end - 1] == 'E'));
    if (!is_letter(c) && !is_digit(c) && c != '.' && !sign) break;
    ++end;
  }
  return take(end - next_);
}

int64_t Lexer::integer(std::string_view what, int64_t min, int64_t max) {
  const size_t start = next_;
  const std::string_view digits = number();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (error != std::errc() || end != digits.end() || value < min || value > max) {
    fail_at(start, fmt::format("expected {}, between {} and {}", what, min, max));
  }
  return value;
}

uint64_t Lexer::hexadecimal() {
  const size_t start = next_;
  std::string_view digits = peek_word();
  if (!digits.starts_with("0x") || digits.size() == 2) fail_at(start, "expected a hexadecimal number, 0x...");
  take(digits.size());
  digits.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 16);
  if (error != std::errc() || end != digits.end()) fail_at(start, "expected up to 16 hexadecimal digits after 0x");
  return value;
}

std::string Lexer::quoted() {
  const size_t start = next_;
  std::string result;
  for (size_t i = start + 1; i < text_.size(); ++i) {
    char c = text_[i];
    if (c == '"') {
      take(i + 1 - start);
      return result;
    }
    if (c == '\n') break;
    if (c == '\\') {
      const std::string_view escape = text_.substr(i + 1, 3);
      if (escape.starts_with('"') || escape.starts_with('\\')) {
        c = escape[0];
        i += 1;
      } else {
        uint8_t byte = 0;
        const char* digits = escape.data() + 1;
        if (escape.size() < 3 || escape[0] != 'x' || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
          fail_at(i, "expected \\\", \\\\ or \\x and two hexadecimal digits");
        }
        c = static_cast<char>(byte);
        i += 3;
      }
    }
    result += c;
  }
  fail_at(start, "the name has no closing quote");
}

void Lexer::finish() const {
  if (next_ != text_.size()) fail_at(next_, "expected the end of the text");
}

}  // namespace lucid::loop
