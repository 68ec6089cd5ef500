#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lucid::signatures {

/// The string literals of an entry of the op table.
struct Entry {
  std::string signature;
  std::string doc;
};

/// A class with the constant kName and, right after it, kSignature; or an entry with the fields .name and .signature.
struct DeclaredClass {
  std::string name;
  std::string signature;  // empty if the class has none, or that of another class
  std::string like;       // the class whose signature it has
};

/// Finds the entries of a source file of src/ops, or the classes with options of another file. It reads string literals
/// but does not interpret them; parse_schema and parse_declaration do. Throws std::runtime_error if an entry does not
/// have both a signature and, right after it, the documentation as literals.
class EntryReader {
 public:
  EntryReader(std::string_view file, std::string_view text) : file_(file), text_(text) {}

  std::vector<Entry> read() {
    std::vector<Entry> entries;
    while (find(".signature")) {
      if (!take("=")) continue;
      Entry entry;
      entry.signature = literals();
      if (!take(",") || !take(".doc") || !take("=")) fail("write the documentation right after the signature");
      entry.doc = literals();
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  std::vector<DeclaredClass> read_classes() {
    std::vector<DeclaredClass> classes;
    while (find_name()) {
      DeclaredClass found{.name = literals()};
      if ((take(";") && take("static constexpr const char* kSignature =")) || (take(",") && take(".signature ="))) {
        const size_t end = text_.find("::kSignature;", at_);
        if (text_.find(';', at_) > end) {
          const size_t begin = std::min(text_.find_first_not_of(" \n", at_), end);
          found.like = text_.substr(begin, end - begin);
        } else {
          found.signature = literals();
        }
      }
      classes.push_back(std::move(found));
    }
    return classes;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size()));
    const auto line = 1 + std::count(text_.begin(), end, '\n');
    throw std::runtime_error(std::string(file_) + ":" + std::to_string(line) + ": " + message);
  }

  bool find(std::string_view token) {
    const size_t found = text_.find(token, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + token.size();
    return found != std::string_view::npos;
  }

  /// Finds the next name of a class.
  bool find_name() {
    constexpr std::string_view kNames[] = {"static constexpr const char* kName =", ".name = \""};
    size_t next = text_.size();
    for (const std::string_view name : kNames)
      if (const size_t found = text_.find(name, at_); found < next) next = found;
    at_ = next;
    return find("=");
  }

  bool take(std::string_view token) {
    const size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (!text_.substr(next).starts_with(token)) return false;
    at_ = next + token.size();
    return true;
  }

  /// One or more adjacent literals, concatenated as the compiler does.
  std::string literals() {
    std::string result;
    bool found = false;
    for (;; found = true) {
      if (take("R\"(")) {
        const size_t begin = at_;
        if (!find(")\"")) fail("unterminated string literal");
        result += text_.substr(begin, at_ - begin - 2);
      } else if (take("\"")) {
        result += plain_literal();
      } else if (found) {
        return result;
      } else {
        fail("write signatures and documentation as literals; code is generated from them");
      }
    }
  }

  /// The text up to the closing quote.
  std::string plain_literal() {
    std::string result;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '"') {
        ++at_;
        return result;
      }
      if (c == '\n') break;
      if (c == '\\') {
        c = ++at_ < text_.size() ? text_[at_] : '\0';
        if (c == 'n')
          c = '\n';
        else if (c != '"' && c != '\\' && c != '\'')
          fail("supported escapes are \\n, \\\", \\' and \\\\");
      }
      result += c;
    }
    fail("unterminated string literal");
  }

  std::string_view file_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace lucid::signatures
