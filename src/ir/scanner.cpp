#include "ir/scanner.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/scalar.h"
#include "base/shape.h"

namespace lucid {
namespace {

// Not from <cctype>, which depends on the locale and is undefined for bytes above 127.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

constexpr size_t kMaxShown = 24;
/// How deep quotients may be nested, and how many symbols there may be.
constexpr int kMaxDepth = 16;
constexpr size_t kMaxSymbols = 256;

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

void Scanner::fail(const std::string& message) {
  const size_t at = std::min(at_, text_.size());
  const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const size_t newline = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  const size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
  std::string_view shown = text_.substr(at, kMaxShown);
  shown = shown.substr(0, shown.find('\n'));
  throw ValueError("{}, line {}, column {}: {}, found {}", what_, line, column, message,
                   at == text_.size() ? "the end"
                   : shown.empty()    ? "the end of the line"
                                      : quoted(shown));
}

size_t Scanner::next_token() const {
  size_t at = at_;
  while (at < text_.size() && (is_blank(text_[at]) || text_[at] == '\n')) ++at;
  return at;
}

void Scanner::skip_space() { at_ = next_token(); }

bool Scanner::at_end() {
  skip_space();
  return at_ == text_.size();
}

bool Scanner::peek(std::string_view token) const {
  const size_t at = next_token();
  if (!text_.substr(at).starts_with(token)) return false;
  // A word must match as a whole, not as a prefix of a longer word.
  const size_t after = at + token.size();
  return !is_word(token.back()) || after == text_.size() || !is_word(text_[after]);
}

bool Scanner::take(std::string_view token) {
  if (!peek(token)) return false;
  at_ = next_token() + token.size();
  return true;
}

void Scanner::expect(std::string_view token) {
  if (take(token)) return;
  skip_space();
  fail(fmt::format("expected `{}`", token));
}

bool Scanner::peek_identifier() {
  skip_space();
  return at_ < text_.size() && is_letter(text_[at_]);
}

std::string_view Scanner::identifier(std::string_view expected) {
  if (!peek_identifier()) fail(fmt::format("expected {}", expected));
  const size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

int64_t Scanner::integer(std::string_view expected) {
  skip_space();
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) fail(fmt::format("{} does not fit in 64 bits", expected));
  if (error != std::errc()) fail(fmt::format("expected {}", expected));
  at_ += static_cast<size_t>(end - begin);
  return value;
}

void Scanner::symbol(SizeTrace& sizes) {
  sizes_ = &sizes;
  expect(fmt::format("s{}", symbols_.size()));
  expect("=");
  const int64_t size = integer("a size");
  if (!SizeTrace::is_traceable(size)) fail("the size cannot vary");
  if (symbols_.size() == kMaxSymbols) fail("there are too many symbols");
  symbols_.push_back(sizes.add_symbol(size));
}

bool Scanner::peek_traced() {
  if (symbols_.empty()) return false;
  std::string_view rest = text_.substr(next_token());
  if (rest.starts_with('-')) rest.remove_prefix(1);
  return rest.starts_with('(') || (rest.size() > 1 && rest[0] == 's' && is_digit(rest[1]));
}

SymInt Scanner::dim() {
  if (symbols_.empty()) return integer("an integer");
  const SizeTrace::Scope scope(sizes_);
  return sum(0);
}

SymInt Scanner::sum(int depth) {
  // The sign of a number belongs to it: the lowest integer has no positive counterpart.
  const size_t next = next_token() + 1;
  const bool is_number = peek("-") && next < text_.size() && is_digit(text_[next]);
  SymInt result = !is_number && take("-") ? -product(depth) : product(depth);
  for (;;) {
    if (take("+"))
      result += product(depth);
    else if (take("-"))
      result -= product(depth);
    else
      return result;
  }
}

SymInt Scanner::product(int depth) {
  SymInt result = factor(depth);
  while (take("*")) result *= factor(depth);
  return result;
}

SymInt Scanner::factor(int depth) {
  if (take("(")) {
    if (depth == kMaxDepth) fail("the size is nested too deeply");
    SymInt result = sum(depth + 1);
    const bool is_quotient = take("/");
    if (is_quotient || take("%")) {
      const SymInt divisor = sum(depth + 1);
      if (divisor.unguarded() == 0 || result.unguarded() == std::numeric_limits<int64_t>::min())
        fail("expected numbers that can be divided");
      result = is_quotient ? result / divisor : result % divisor;
    }
    expect(")");
    return result;
  }
  if (!peek_identifier()) return integer("a size");
  const size_t begin = at_;
  const std::string_view name = identifier("a size");
  for (size_t i = 0; i < symbols_.size(); ++i)
    if (name == fmt::format("s{}", i)) return symbols_[i];
  at_ = begin;
  fail("expected a symbol");
}

Dims Scanner::dims() {
  Dims dims;
  expect("[");
  if (take("]")) return dims;
  do dims.push_back(dim());
  while (take(","));
  expect("]");
  return dims;
}

std::string Scanner::string() {
  skip_space();
  if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) fail("expected a quoted string");
  const char quote = text_[at_++];
  std::string result;
  for (;; ++at_) {
    if (at_ == text_.size() || text_[at_] == '\n') fail(fmt::format("expected a closing {}", quote));
    char c = text_[at_];
    if (c == quote) break;
    if (c == '\\') {
      const std::string_view escape = text_.substr(++at_, 3);
      const char kind = escape.empty() ? '\0' : escape[0];
      if (kind == 'n') {
        c = '\n';
      } else if (kind == 'x' && escape.size() == 3 && hex_digit(escape[1]) >= 0 && hex_digit(escape[2]) >= 0) {
        c = static_cast<char>(hex_digit(escape[1]) * 16 + hex_digit(escape[2]));
        at_ += 2;
      } else if (kind == '\\' || kind == '"' || kind == '\'') {
        c = kind;
      } else {
        fail("expected an escape: \\n, \\\\, \\\", \\' or \\x and two hexadecimal digits");
      }
    }
    result += c;
  }
  ++at_;
  return result;
}

std::string_view Scanner::number_token() {
  size_t end = at_;
  while (end < text_.size() && (is_word(text_[end]) || text_[end] == '+' || text_[end] == '-')) ++end;
  return text_.substr(at_, end - at_);
}

Attribute Scanner::attribute() {
  skip_space();
  if (peek("[")) return dims();
  if (peek("\"") || peek("'")) return string();
  if (take("true") || take("True")) return true;
  if (take("false") || take("False")) return false;
  if (take("none") || take("None")) return std::monostate();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (take("inf")) return kInfinity;
  if (take("-inf")) return -kInfinity;
  if (take("nan")) return std::numeric_limits<double>::quiet_NaN();
  if (peek_traced()) return dim();
  if (peek_identifier()) {
    const size_t begin = at_;
    if (const auto dtype = parse_dtype(identifier("a value"))) return *dtype;
    at_ = begin;
    fail("expected a value");
  }
  const std::string_view token = number_token();
  if (token.find_first_of(".e") == std::string_view::npos) return integer("a value");
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) fail("expected a number");
  at_ += token.size();
  return value;
}

std::string_view Scanner::literal() {
  skip_space();
  const size_t begin = at_;
  if (take("(")) {
    do attribute();
    while (take(","));
    expect(")");
  } else {
    attribute();
  }
  return text_.substr(begin, at_ - begin);
}

std::string_view Scanner::rest_of_line() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  const size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view line = text_.substr(at_, end - at_);
  at_ = end;
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

bool Scanner::at_line_end() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  return at_ == text_.size() || text_[at_] == '\n';
}

void parse_parameters(Scanner& scanner, const std::function<std::string(bool keyword_only)>& parse_one) {
  std::vector<std::string> names;
  bool keyword_only = false;
  scanner.expect("(");
  while (!scanner.peek(")")) {
    if (scanner.take("*")) {
      keyword_only = true;
    } else {
      std::string name = parse_one(keyword_only);
      if (std::ranges::find(names, name) != names.end()) scanner.fail("two parameters have the same name");
      names.push_back(std::move(name));
    }
    if (!scanner.take(",")) break;
  }
  scanner.expect(")");
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\\n";
    } else if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

bool is_plain_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), is_word);
}

std::string attribute_text(const Attribute& attribute) {
  struct Printer {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(SymInt value) const { return fmt::format("{}", value); }
    std::string operator()(double value) const { return to_string(Scalar(value)); }
    std::string operator()(Dtype value) const { return std::string(name_of(value)); }
    std::string operator()(const Dims& value) const { return to_string(DimsView(value)); }
    std::string operator()(const std::string& value) const { return quoted(value); }
  };
  return std::visit(Printer(), attribute);
}

}  // namespace lucid
