#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/checked_int.h"
#include "base/cpu_level.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/shape.h"
#include "base/size_formula.h"
#include "runtime/plan_form.h"
#include "runtime/storage.h"

namespace lucid::program {

/// Throws ValueError for a file that no writer wrote.
[[noreturn]] void fail_damaged(const std::string& reason);

/// A size that differs from call to call, and the sizes that the program was made for.
struct Symbol {
  std::string name;
  int64_t low = 0;
  int64_t high = 0;
};

/// A tensor that is passed to the program or returned by it.
struct Signature {
  /// A number, or the index of a symbol. The number is -1 if it depends on symbols in another way.
  struct Size {
    int64_t number = 0;
    int32_t symbol = -1;
  };
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<Size> shape;
};

/// Memory that belongs to the program: a weight, a constant, a cache.
struct State {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Dims shape;
  /// Whether calls write it.
  bool is_written = false;
  Ref<Storage> contents;

  /// The memory is larger if the state has no elements.
  CheckedInt bytes() const { return checked_bytes(shape, size_of(dtype)); }
};

/// Elements in memory, by numbers that may depend on sizes.
struct View {
  std::vector<SizeFormula> shape;
  std::vector<SizeFormula> strides;
  SizeFormula offset;
};

/// What one recorded call of the program does, for all sizes that meet the conditions.
struct Call {
  /// A size of an input that formulas call s0, s1, ...
  struct Size {
    uint32_t input = 0;
    uint32_t dim = 0;
  };
  /// An input of the plan: an input of the program or a part of its state.
  struct Operand {
    bool is_state = false;
    uint32_t index = 0;
    Dtype dtype = Dtype::kF32;
    /// 0 for inputs of the program.
    int64_t first_byte = 0;
    /// As the kernels see it. Offset 0.
    View view;
  };
  /// A value that the call reads from a tensor. Another value may lead to another call.
  struct Read {
    uint32_t output = 0;
    std::string expected;
    std::string source;
  };
  struct Result {
    uint32_t output = 0;
    Dtype dtype = Dtype::kF32;
    View view;
  };
  struct Write {
    uint32_t output = 0;
    uint32_t state = 0;
  };
  /// The state of a random generator, which each call advances.
  struct Generator {
    uint32_t state = 0;
    int64_t count = 0;
  };

  /// An op that may reject values, and its messages by error code.
  struct Errors {
    std::string op;
    ErrorClass error_class = ErrorClass::kValue;
    std::vector<std::string> messages;
  };

  size_t symbols() const { return sizes.size(); }

  std::vector<Size> sizes;
  /// The shapes of the program's inputs.
  std::vector<std::vector<SizeFormula>> shapes;
  std::vector<SizeCondition> conditions;
  std::vector<Operand> operands;
  /// The size in bytes of each output of the plan.
  std::vector<SizeFormula> output_bytes;
  std::vector<Read> reads;
  std::vector<Result> results;
  std::vector<Write> writes;
  std::vector<Generator> generators;
  /// Pairs of an operand and the output that replaces it.
  std::vector<std::pair<uint32_t, uint32_t>> updates;
  std::vector<Errors> errors;
  /// The text of the graph, whose inputs and outputs are those of the plan.
  std::string graph;
};

/// The object code of a kernel.
struct KernelCode {
  std::string symbol;
  std::string_view object;
  size_t scratch_bytes = 0;
  /// Earlier kernels that it calls.
  std::vector<uint32_t> parts;
};

/// Plans and machine code for one kind of CPU, in a file.
struct TargetCode {
  /// A plan for a range of sizes, as text.
  struct StoredForm {
    std::vector<SizeCondition> conditions;
    std::string_view text;
  };
  std::vector<KernelCode> kernels;
  /// For each call.
  std::vector<std::vector<StoredForm>> forms;
};

/// A program in a file: what lucid.export() writes.
///
/// It is a safetensors file. The weights are tensors by their names. The rest are tensors of bytes, most of them JSON:
/// `lucid.program`, the signature and the calls; `lucid.graph.<number>`, the text of a graph; `lucid.index.<level>`, a
/// list of plans and kernels; `lucid.plans.<level>`, the plans; `lucid.code.<level>`, object code; and last
/// `lucid.digest`, the XXH3 digest (128 bits) of everything before it.
class ProgramFile {
 public:
  std::string name;
  std::vector<Symbol> symbols;
  std::vector<Signature> inputs;
  std::vector<Signature> outputs;
  /// How Python nests the outputs, as text that nothing here reads. Empty for a tensor or a tuple of tensors.
  std::string structure;
  std::vector<State> state;
  std::vector<Call> calls;

  /// Reads everything but the plans. Throws ValueError if the digest is wrong or anything is malformed.
  static ProgramFile read(std::string bytes);
  /// The levels that there is machine code for.
  const std::vector<CpuLevel>& levels() const { return levels_; }
  /// The result refers to this object. Plans and code may only be run if the file is trusted.
  TargetCode code_for(CpuLevel level) const;
  /// A plan of a call. Throws ValueError if it is malformed.
  PlanForm form_of(size_t call, const TargetCode& code, const TargetCode::StoredForm& stored) const;

 private:
  friend class FileReader;
  struct Section {
    std::string name;
    size_t first = 0;
    size_t bytes = 0;
  };
  std::string_view section(const std::string& name) const;
  bool has(const std::string& name) const;

  std::string bytes_;
  std::vector<Section> sections_;
  std::vector<CpuLevel> levels_;
};

/// Plans and machine code to be written.
struct WrittenCode {
  CpuLevel level = CpuLevel::kScalar;
  std::vector<KernelCode> kernels;
  /// For each call, the plans for ranges of sizes. The kernel of a step is one of `kernels`.
  std::vector<std::vector<PlanForm>> forms;
};

/// The bytes of a file.
std::string to_bytes(const ProgramFile& file, std::span<const WrittenCode> codes);

/// For fuzzers: gives the bytes of a file the digest that it should have.
void set_digest(std::string& bytes);

}  // namespace lucid::program
