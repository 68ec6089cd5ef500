#include <charconv>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "loop/codes.h"
#include "loop/fold.h"
#include "loop/kernel.h"
#include "loop/lexer.h"
#include "loop/verify.h"

namespace lucid::loop {
namespace {

/// Builds the kernel while parsing. Instructions are numbered in the order of the text.
class Parser {
 public:
  explicit Parser(Lexer& lexer) : lexer_(lexer) {}

  Kernel run() {
    lexer_.expect("kernel");
    kernel_.name = lexer_.at('"') ? lexer_.quoted() : std::string(lexer_.word("the kernel's name"));
    parse_arguments();
    if (lexer_.accept("params")) kernel_.param_count = lexer_.integer("a number of params", 0);
    if (lexer_.accept("group")) kernel_.group = lexer_.integer("a number of members", 2, kMaxGroup);
    lexer_.expect("{");
    while (lexer_.at('@')) parse_buffer();
    while (lexer_.at_any_of({"kernel"})) parse_part();
    kernel_.blocks.emplace_back();
    parse_statements(0, 0);
    check();
    return std::move(kernel_);
  }

 private:
  void check() const {
    try {
      verify(kernel_);
    } catch (const BrokenRule& broken) {
      lexer_.fail_at(broken.instruction() == BrokenRule::kNone ? 0 : positions_[broken.instruction()], broken.what());
    }
  }

  void expect_buffer_number() {
    lexer_.expect("@");
    const size_t position = lexer_.position();
    const int64_t number = lexer_.integer("a buffer's number", 0);
    if (number != static_cast<int64_t>(kernel_.buffers.size())) {
      lexer_.fail_at(position, fmt::format("buffers are numbered in order: expected @{}", kernel_.buffers.size()));
    }
  }

  Dtype parse_element() {
    const size_t position = lexer_.position();
    const std::string_view name = lexer_.word("a type");
    const auto dtype = parse_dtype(name);
    if (!dtype || name_of(*dtype) != name) lexer_.fail_at(position, fmt::format("'{}' is not an element type", name));
    return *dtype;
  }

  Type parse_type() {
    const size_t position = lexer_.position();
    std::string_view name = lexer_.word("a type");
    const std::string_view whole = name;
    const bool vector = name.ends_with("x16");
    if (vector) name.remove_suffix(3);
    const auto dtype = parse_dtype(name);
    if (!dtype || name_of(*dtype) != name) lexer_.fail_at(position, fmt::format("'{}' is not a type", whole));
    return {*dtype, vector};
  }

  void parse_arguments() {
    lexer_.expect("(");
    if (lexer_.accept(")")) return;
    do {
      expect_buffer_number();
      lexer_.expect(":");
      kernel_.buffers.push_back({Buffer::Kind::kArgument, parse_element(), 0, {}});
    } while (lexer_.accept(","));
    lexer_.expect(")");
  }

  void parse_buffer() {
    expect_buffer_number();
    lexer_.expect("=");
    const size_t position = lexer_.position();
    const std::string_view kind = lexer_.word("scratch, shared or table");
    if (kind != "scratch" && kind != "shared" && kind != "table")
      lexer_.fail_at(position, "expected scratch, shared or table");
    Buffer buffer;
    buffer.kind = kind == "table"    ? Buffer::Kind::kTable
                  : kind == "shared" ? Buffer::Kind::kShared
                                     : Buffer::Kind::kScratch;
    buffer.dtype = parse_element();
    lexer_.expect("[");
    buffer.count = lexer_.integer("a number of elements", 1);
    lexer_.expect("]");
    if (buffer.kind == Buffer::Kind::kTable) {
      lexer_.expect("{");
      do {
        buffer.table.push_back(lexer_.hexadecimal());
      } while (lexer_.accept(","));
      lexer_.expect("}");
    }
    kernel_.buffers.push_back(std::move(buffer));
  }

  void parse_part() {
    if (is_part_) lexer_.fail_at(lexer_.position(), "a part cannot have parts");
    Parser part(lexer_);
    part.is_part_ = true;
    kernel_.parts.push_back(part.run());
  }

  /// Adds the next instruction, whose text starts at `position`, and returns its id.
  Id add_instruction(size_t position) {
    positions_.push_back(position);
    kernel_.instructions.push_back({.code = Code::kConst, .type = {}});
    return static_cast<Id>(kernel_.instructions.size() - 1);
  }

  std::string_view parse_name() {
    lexer_.expect("%");
    return lexer_.name();
  }

  void bind(std::string_view name, Id id, size_t position) {
    if (!names_.emplace(name, id).second) lexer_.fail_at(position, fmt::format("%{} is defined twice", name));
  }

  Id parse_use() {
    const size_t position = lexer_.position();
    const std::string_view name = parse_name();
    const auto found = names_.find(name);
    if (found == names_.end()) lexer_.fail_at(position, fmt::format("%{} is not defined", name));
    return found->second;
  }

  void parse_statements(uint32_t block, int depth) {
    if (depth > kMaxDepth) lexer_.fail_at(lexer_.position(), fmt::format("blocks nest deeper than {}", kMaxDepth));
    while (!lexer_.accept("}")) {
      const size_t position = lexer_.position();
      if (lexer_.at('%')) {
        parse_definition(block, depth, position);
        continue;
      }
      const std::string_view word = lexer_.word("a statement or }");
      if (word == "yield") {
        do {
          kernel_.blocks[block].yields.push_back(parse_use());
        } while (lexer_.accept(","));
        lexer_.expect("}");
        return;
      }
      const Id id = add_instruction(position);
      kernel_.blocks[block].instructions.push_back(id);
      if (word == "for") {
        parse_for(id, depth);
        if (kernel_.instructions[id].operands.size() > 2) lexer_.fail_at(position, "a loop that carries needs a name");
      } else if (word == "if") {
        parse_if(id, depth);
      } else {
        const auto code = parse_code(word);
        if (!code || has_result(*code)) lexer_.fail_at(position, fmt::format("'{}' is not a statement", word));
        kernel_.instructions[id].code = *code;
        if (*code == Code::kCall)
          parse_call(kernel_.instructions[id]);
        else if (*code != Code::kBarrier)
          parse_access(kernel_.instructions[id]);
      }
    }
  }

  void parse_definition(uint32_t block, int depth, size_t position) {
    const std::string_view name = parse_name();
    const Id id = add_instruction(position);
    kernel_.blocks[block].instructions.push_back(id);
    if (lexer_.accept("=")) {
      lexer_.expect("for");
      parse_for(id, depth);
      if (kernel_.instructions[id].operands.size() == 2)
        lexer_.fail_at(position, "a loop that carries nothing has no name");
    } else {
      lexer_.expect(":");
      Instruction& x = kernel_.instructions[id];
      x.type = parse_type();
      lexer_.expect("=");
      parse_right_side(x);
    }
    bind(name, id, position);
  }

  void parse_right_side(Instruction& x) {
    if (lexer_.at_number() || lexer_.at_any_of({"true", "false", "inf", "nan"})) return parse_constant(x);
    const size_t position = lexer_.position();
    const std::string_view word = lexer_.word("an instruction or a number");
    const auto code = parse_code(word);
    if (!code || !has_result(*code) || *code == Code::kConst || *code == Code::kArgument) {
      lexer_.fail_at(position, fmt::format("'{}' is not an instruction with a result", word));
    }
    x.code = *code;
    switch (*code) {
      case Code::kParam:
        x.integer = lexer_.integer("a param's number", 0);
        return;
      case Code::kLoad:
      case Code::kLoadAlternate:
      case Code::kLoadTwice:
      case Code::kGather:
        return parse_access(x);
      case Code::kExtract:
      case Code::kRotate:
      case Code::kResult:
        x.operands.push_back(parse_use());
        lexer_.expect(",");
        x.integer = lexer_.integer("a number", 0);
        return;
      default:
        break;
    }
    if (info_of(*code).family == Family::kLeaf) return;
    do {
      x.operands.push_back(parse_use());
    } while (lexer_.accept(","));
  }

  void parse_constant(Instruction& x) {
    const size_t position = lexer_.position();
    const std::string_view digits = lexer_.number();
    const Dtype dtype = x.type.element;
    bool good = false;
    if (dtype == Dtype::kBool) {
      x.integer = digits == "true";
      good = x.integer || digits == "false";
    } else if (is_integer(dtype)) {
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), x.integer);
      good = error == std::errc() && end == digits.end();
    } else if (digits == "nan") {
      x.real = std::numeric_limits<double>::quiet_NaN();
      good = true;
    } else if (dtype == Dtype::kF64) {
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), x.real);
      good = error == std::errc() && end == digits.end();
    } else {
      float real = 0;
      const auto [end, error] = std::from_chars(digits.begin(), digits.end(), real);
      good = error == std::errc() && end == digits.end();
      x.real = real;
    }
    if (!good) lexer_.fail_at(position, fmt::format("'{}' is not a valid {}", digits, name_of(dtype)));
  }

  uint32_t parse_number(std::string_view what) {
    return static_cast<uint32_t>(lexer_.integer(what, 0, std::numeric_limits<uint32_t>::max()));
  }

  void parse_call(Instruction& x) {
    Call call;
    call.part = parse_number("a part's number");
    std::vector<Id> origins;
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      if (!call.buffers.empty()) lexer_.expect(",");
      lexer_.expect("@");
      call.buffers.push_back(parse_number("a buffer's number"));
      if (lexer_.accept("from")) origins.push_back(parse_use());
    }
    lexer_.expect("params");
    call.first_param = lexer_.integer("a param's number", 0);
    lexer_.expect("items");
    x.operands.push_back(parse_use());
    lexer_.expect("to");
    x.operands.push_back(parse_use());
    for (Id id : origins) x.operands.push_back(id);
    x.integer = static_cast<int64_t>(kernel_.calls.size());
    kernel_.calls.push_back(std::move(call));
  }

  void parse_access(Instruction& x) {
    lexer_.expect("@");
    x.buffer = parse_number("a buffer's number");
    lexer_.expect("[");
    x.operands.push_back(parse_use());
    lexer_.expect("]");
    if (lexer_.accept(",")) x.operands.push_back(parse_use());
    if (lexer_.accept("mask")) {
      x.operands.push_back(parse_use());
      x.masked = true;
    }
  }

  uint32_t new_block(Id owner) {
    const auto block = static_cast<uint32_t>(kernel_.blocks.size());
    kernel_.blocks.emplace_back();
    kernel_.instructions[owner].blocks.push_back(block);
    return block;
  }

  void parse_for(Id id, int depth) {
    // Not a reference: adding the body's instructions reallocates Kernel::instructions.
    auto add_operand = [&](Id operand) { kernel_.instructions[id].operands.push_back(operand); };
    kernel_.instructions[id].code = Code::kFor;
    const uint32_t block = new_block(id);
    std::vector<std::pair<std::string_view, Id>> arguments;
    auto parse_argument = [&] {
      const size_t position = lexer_.position();
      const std::string_view name = parse_name();
      const Id argument = add_instruction(position);
      kernel_.instructions[argument] = {.code = Code::kArgument, .type = {Dtype::kI64}};
      kernel_.blocks[block].arguments.push_back(argument);
      arguments.emplace_back(name, argument);
      return argument;
    };
    parse_argument();
    lexer_.expect("=");
    add_operand(parse_use());
    lexer_.expect("to");
    add_operand(parse_use());
    lexer_.expect("step");
    kernel_.instructions[id].integer = lexer_.integer("a step", 1);
    if (lexer_.accept("carry")) {
      lexer_.expect("(");
      do {
        const Id argument = parse_argument();
        lexer_.expect(":");
        kernel_.instructions[argument].type = parse_type();
        lexer_.expect("=");
        add_operand(parse_use());
      } while (lexer_.accept(","));
      lexer_.expect(")");
    }
    // Bound only here, because a loop's bounds and initial values cannot use its arguments.
    for (const auto& [name, argument] : arguments) bind(name, argument, positions_[argument]);
    lexer_.expect("{");
    parse_statements(block, depth + 1);
  }

  void parse_if(Id id, int depth) {
    kernel_.instructions[id].code = Code::kIf;
    kernel_.instructions[id].operands.push_back(parse_use());
    do {
      lexer_.expect("{");
      parse_statements(new_block(id), depth + 1);
    } while (kernel_.instructions[id].blocks.size() < 2 && lexer_.accept("else"));
  }

  Lexer& lexer_;
  Kernel kernel_;
  bool is_part_ = false;
  // Offset of each instruction's text, for messages.
  std::vector<size_t> positions_;
  std::unordered_map<std::string_view, Id> names_;
};

}  // namespace

Kernel parse_kernel(const std::string& text) {
  Lexer lexer(text);
  Kernel kernel = Parser(lexer).run();
  lexer.finish();
  return kernel;
}

}  // namespace lucid::loop
