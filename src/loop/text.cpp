#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "loop/codes.h"
#include "loop/kernel.h"

namespace lucid::loop {
namespace {

bool is_plain_name(const std::string& name) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name[0])) return false;
  for (char c : name) {
    if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

class Printer {
 public:
  Printer(const Kernel& kernel, int depth, std::string& out)
      : kernel_(kernel), depth_(depth), out_(out), numbers_(kernel.instructions.size()) {}

  void run() {
    number_block(kernel_.blocks[0]);
    out_.reserve(out_.size() + 256 + 40 * kernel_.instructions.size());
    print_header();
    for (const Kernel& part : kernel_.parts) Printer(part, depth_ + 1, out_).run();
    print_block(kernel_.blocks[0], depth_ + 1);
    indent(depth_);
    out_ += "}\n";
  }

 private:
  // Values are numbered in the order of the text, independently of their ids.
  void number_block(const Block& block) {
    for (Id id : block.arguments) numbers_[id] = next_number_++;
    for (Id id : block.instructions) {
      numbers_[id] = next_number_++;
      for (uint32_t inner : kernel_.instructions[id].blocks) number_block(kernel_.blocks[inner]);
    }
  }

  template <typename... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void print_integer(int64_t value) {
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
  }

  void print_value(Id id) {
    out_ += '%';
    print_integer(numbers_[id]);
  }

  void print_type(Type type) {
    out_ += name_of(type.element);
    if (type.vector) out_ += "x16";
  }

  void print_name() {
    if (is_plain_name(kernel_.name)) {
      out_ += kernel_.name;
      return;
    }
    out_ += '"';
    for (char c : kernel_.name) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < ' ' || byte == 0x7f) {
        print("\\x{:02x}", byte);
      } else {
        if (c == '"' || c == '\\') out_ += '\\';
        out_ += c;
      }
    }
    out_ += '"';
  }

  void print_header() {
    indent(depth_);
    out_ += "kernel ";
    print_name();
    out_ += '(';
    size_t i = 0;
    for (; i < kernel_.buffers.size() && kernel_.buffers[i].kind == Buffer::Kind::kArgument; ++i) {
      print("{}@{}: {}", i ? ", " : "", i, name_of(kernel_.buffers[i].dtype));
    }
    out_ += ')';
    if (kernel_.param_count) print(" params {}", kernel_.param_count);
    if (kernel_.group != 1) print(" group {}", kernel_.group);
    out_ += " {\n";
    for (; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      const bool is_table = buffer.kind == Buffer::Kind::kTable;
      indent(depth_ + 1);
      const bool is_shared = buffer.kind == Buffer::Kind::kShared;
      print("@{} = {} {}[{}]", i,
            is_table    ? "table"
            : is_shared ? "shared"
                        : "scratch",
            name_of(buffer.dtype), buffer.count);
      if (is_table) print_table(buffer);
      out_ += '\n';
    }
  }

  void print_table(const Buffer& buffer) {
    constexpr size_t kPerLine = 8;
    const bool wraps = buffer.table.size() > kPerLine;
    out_ += " {";
    for (size_t k = 0; k < buffer.table.size(); ++k) {
      if (k) out_ += ',';
      if (wraps && k % kPerLine == 0) {
        out_ += '\n';
        indent(depth_ + 2);
      } else if (k) {
        out_ += ' ';
      }
      print("{:#x}", buffer.table[k]);
    }
    if (wraps) {
      out_ += '\n';
      indent(depth_ + 1);
    }
    out_ += '}';
  }

  void print_constant(const Instruction& x) {
    if (x.type.element == Dtype::kBool) {
      out_ += x.integer ? "true" : "false";
    } else if (!is_float(x.type.element)) {
      print_integer(x.integer);
    } else if (std::isnan(x.real)) {
      out_ += "nan";
    } else if (x.type.element == Dtype::kF64) {
      print("{}", x.real);
    } else {
      // The fewest digits that identify this f32, and therefore any 16-bit float.
      print("{}", static_cast<float>(x.real));
    }
  }

  void print_operands(const Instruction& x) {
    for (size_t k = 0; k < x.operands.size(); ++k) {
      out_ += k ? ", " : " ";
      print_value(x.operands[k]);
    }
  }

  void print_access(const Instruction& x) {
    print(" @{}[", x.buffer);
    print_value(x.operands[0]);
    out_ += ']';
    if (x.code == Code::kStore || x.code == Code::kScatter) {
      out_ += ", ";
      print_value(x.operands[1]);
    }
    if (x.masked) {
      out_ += " mask ";
      print_value(x.operands.back());
    }
  }

  void print_for(const Instruction& x, int depth) {
    const Block& body = kernel_.blocks[x.blocks[0]];
    out_ += "for ";
    print_value(body.arguments[0]);
    out_ += " = ";
    print_value(x.operands[0]);
    out_ += " to ";
    print_value(x.operands[1]);
    out_ += " step ";
    print_integer(x.integer);
    for (size_t k = 2; k < x.operands.size(); ++k) {
      out_ += k == 2 ? " carry (" : ", ";
      const Id argument = body.arguments[k - 1];
      print_value(argument);
      out_ += ": ";
      print_type(kernel_.instructions[argument].type);
      out_ += " = ";
      print_value(x.operands[k]);
    }
    if (x.operands.size() > 2) out_ += ')';
    out_ += " {\n";
    print_block(body, depth + 1);
    indent(depth);
    out_ += '}';
  }

  void print_if(const Instruction& x, int depth) {
    out_ += "if ";
    print_value(x.operands[0]);
    for (size_t k = 0; k < x.blocks.size(); ++k) {
      out_ += k ? " else {\n" : " {\n";
      print_block(kernel_.blocks[x.blocks[k]], depth + 1);
      indent(depth);
      out_ += '}';
    }
  }

  void print_call(const Instruction& x) {
    const Call& call = kernel_.calls[static_cast<size_t>(x.integer)];
    print(" {}(", call.part);
    size_t next = 2;
    for (size_t k = 0; k < call.buffers.size(); ++k) {
      print("{}@{}", k ? ", " : "", call.buffers[k]);
      if (kernel_.buffers[call.buffers[k]].kind != Buffer::Kind::kScratch) continue;
      out_ += " from ";
      print_value(x.operands[next++]);
    }
    print(") params {} items ", call.first_param);
    print_value(x.operands[0]);
    out_ += " to ";
    print_value(x.operands[1]);
  }

  void indent(int depth) { out_.append(2 * static_cast<size_t>(depth), ' '); }

  void print_block(const Block& block, int depth) {
    for (Id id : block.instructions) {
      indent(depth);
      print_instruction(id, depth);
      out_ += '\n';
    }
    for (size_t k = 0; k < block.yields.size(); ++k) {
      if (k) {
        out_ += ", ";
      } else {
        indent(depth);
        out_ += "yield ";
      }
      print_value(block.yields[k]);
    }
    if (!block.yields.empty()) out_ += '\n';
  }

  void print_instruction(Id id, int depth) {
    const Instruction& x = kernel_.instructions[id];
    if (has_result(x.code)) {
      print_value(id);
      out_ += ": ";
      print_type(x.type);
      out_ += " = ";
    }
    switch (x.code) {
      case Code::kConst:
        return print_constant(x);
      case Code::kFor:
        if (x.operands.size() > 2) {
          print_value(id);
          out_ += " = ";
        }
        return print_for(x, depth);
      case Code::kIf:
        return print_if(x, depth);
      default:
        break;
    }
    out_ += name_of(x.code);
    switch (x.code) {
      case Code::kParam:
        out_ += ' ';
        return print_integer(x.integer);
      case Code::kLoad:
      case Code::kLoadAlternate:
      case Code::kLoadTwice:
      case Code::kGather:
      case Code::kStore:
      case Code::kScatter:
      case Code::kPrefetch:
        return print_access(x);
      case Code::kCall:
        return print_call(x);
      case Code::kExtract:
      case Code::kRotate:
      case Code::kResult:
        print_operands(x);
        out_ += ", ";
        return print_integer(x.integer);
      default:
        return print_operands(x);
    }
  }

  const Kernel& kernel_;
  int depth_;  // number of enclosing kernels
  std::string& out_;
  std::vector<uint32_t> numbers_;
  uint32_t next_number_ = 0;
};

}  // namespace

std::string to_text(const Kernel& kernel) {
  std::string text;
  Printer(kernel, 0, text).run();
  return text;
}

}  // namespace lucid::loop
