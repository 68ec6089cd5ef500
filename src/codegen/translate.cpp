#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>

#include <algorithm>

#include "base/error.h"
#include "base/scalar.h"
#include "code/loader.h"
#include "codegen/order.h"
#include "codegen/target.h"
#include "codegen/translator.h"

namespace lucid::codegen {

using loop::Code;
using loop::kLanes;

namespace {

constexpr int kFrameAlignment = 64;
constexpr int kPageBytes = 4096;
constexpr int kScratchArgument = 4;

llvm::Constant* constant_from_bits(llvm::Type* type, Dtype dtype, uint64_t bits) {
  llvm::LLVMContext& context = type->getContext();
  switch (dtype) {
    case Dtype::kF32:
      return llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, bits)));
    case Dtype::kF64:
      return llvm::ConstantFP::get(context, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, bits)));
    case Dtype::kBool:
      return llvm::ConstantInt::get(type, bits != 0);
    default:
      return llvm::ConstantInt::get(
          type, llvm::APInt(type->getIntegerBitWidth(), bits, /*isSigned=*/false, /*implicitTrunc=*/true));
  }
}

// Uses APFloat, because the compiling thread may flush denormals.
float to_float(double real) {
  llvm::APFloat value(real);
  bool inexact = false;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToFloat();
}

llvm::Constant* constant_from_real(llvm::Type* type, Dtype dtype, double real) {
  switch (dtype) {
    case Dtype::kF16:
      return llvm::ConstantInt::get(type, f32_to_f16(to_float(real)));
    case Dtype::kBF16:
      return llvm::ConstantInt::get(type, f32_to_bf16(to_float(real)));
    default:
      return llvm::ConstantFP::get(type, real);
  }
}

}  // namespace

Translator::Translator(const loop::Kernel& kernel, CpuLevel target, llvm::Module* module)
    : kernel_(kernel),
      scratch_(scratch_layout(kernel)),
      target_(target),
      module_(module),
      builder_(module->getContext()),
      values_(kernel.instructions.size()),
      loop_results_(kernel.instructions.size()) {}

void Translator::run() {
  LUCID_CHECK(kernel_.group == 1, "codegen: kernel {}: groups run on gpus only", kernel_.name);
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* integer = builder_.getInt64Ty();
  auto* type =
      llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, integer, integer, pointer}, /*isVarArg=*/false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_of(kernel_), module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  const std::string bits = std::to_string(vector_bits(target_));
  function_->addFnAttr("prefer-vector-width", bits);
  function_->addFnAttr("min-legal-vector-width", bits);
  // Whether denormal results are flushed is known only when the kernel runs.
  function_->addFnAttr("denormal-fp-math", "dynamic,ieee");
  for (int index : {0, 1}) {
    function_->addParamAttr(index, llvm::Attribute::ReadOnly);
    function_->addParamAttr(index, llvm::Attribute::NoAlias);
  }
  function_->addParamAttr(kScratchArgument, llvm::Attribute::NoAlias);

  builder_.SetInsertPoint(new_block("entry"));
  make_buffers(function_->getArg(0));
  for (int64_t index = 0; index < kernel_.param_count; ++index) {
    Value* slot = builder_.CreateConstInBoundsGEP1_64(integer, function_->getArg(1), index);
    params_.push_back(builder_.CreateLoad(integer, slot));
  }
  block(0);
  builder_.CreateRetVoid();
}

void Translator::make_buffers(Value* arguments) {
  uint64_t frame_bytes = 0;
  for (size_t index = 0; index < kernel_.buffers.size(); ++index) {
    const loop::Buffer& buffer = kernel_.buffers[index];
    llvm::Type* element = memory_type(buffer.dtype);
    switch (buffer.kind) {
      case loop::Buffer::Kind::kArgument: {
        Value* slot = builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), arguments, index);
        buffers_.push_back(builder_.CreateLoad(builder_.getPtrTy(), slot));
        break;
      }
      case loop::Buffer::Kind::kScratch:
        buffers_.push_back(make_scratch(index));
        if (scratch_.on_stack) frame_bytes += buffer.count * size_of(buffer.dtype);
        break;
      case loop::Buffer::Kind::kShared:
        throw InternalError("codegen: kernel {}: shared buffers are for gpus only", kernel_.name);
      case loop::Buffer::Kind::kTable: {
        std::vector<llvm::Constant*> elements;
        elements.reserve(buffer.table.size());
        for (uint64_t bits : buffer.table) elements.push_back(constant_from_bits(element, buffer.dtype, bits));
        auto* type = llvm::ArrayType::get(element, elements.size());
        auto* table = new llvm::GlobalVariable(*module_, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                               llvm::ConstantArray::get(type, elements), "table");
        table->setAlignment(llvm::Align(kFrameAlignment));
        buffers_.push_back(table);
        break;
      }
    }
  }
  // A large frame must probe its pages in order, otherwise it could skip the guard page at the end of the stack.
  if (frame_bytes >= kPageBytes) function_->addFnAttr("probe-stack", "inline-asm");
}

llvm::Value* Translator::make_scratch(size_t index) {
  const loop::Buffer& buffer = kernel_.buffers[index];
  if (!scratch_.on_stack) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), function_->getArg(kScratchArgument),
                                               scratch_.offsets[index]);
  }
  auto* scratch = builder_.CreateAlloca(llvm::ArrayType::get(memory_type(buffer.dtype), buffer.count));
  scratch->setAlignment(llvm::Align(kFrameAlignment));
  return scratch;
}

bool Translator::carries_vectors(const loop::Block& block) const {
  return std::any_of(block.arguments.begin(), block.arguments.end(),
                     [&](loop::Id id) { return kernel_.instructions[id].type.vector; });
}

void Translator::block(uint32_t index) {
  const loop::Block& block = kernel_.blocks[index];
  // Reorder only on AVX-512, where one register holds a vector. Elsewhere a vector takes two or four registers, which
  // already form independent chains. Loops that carry vectors are reductions or tiles of a product, which are written
  // in the intended order.
  const bool orders = target_ == CpuLevel::kAvx512 && index != 0 && !carries_vectors(block);
  for (loop::Id id : orders ? latency_order(kernel_, block) : block.instructions) {
    const Instruction& current = kernel_.instructions[id];
    if (current.code == Code::kFor) {
      for_loop(current, id);
    } else {
      values_[id] = instruction(current);
    }
  }
}

llvm::Value* Translator::instruction(const Instruction& current) {
  switch (current.code) {
    case Code::kConst:
      return constant(current);
    case Code::kParam:
      return params_[current.integer];
    case Code::kBegin:
      return function_->getArg(2);
    case Code::kEnd:
      return function_->getArg(3);
    case Code::kIota:
      return iota(current.type);
    case Code::kSelect:
      return select(current);
    case Code::kConvert:
      return convert(operand(current, 0), operand_type(current, 0), current.type);
    case Code::kBitcast:
      return bitcast(operand(current, 0), operand_type(current, 0), current.type);
    case Code::kSplat:
      return builder_.CreateVectorSplat(kLanes, operand(current, 0));
    case Code::kExtract:
      return builder_.CreateExtractElement(operand(current, 0), builder_.getInt64(current.integer));
    case Code::kRotate: {
      int lanes[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = static_cast<int>(((lane + current.integer) % kLanes + kLanes) % kLanes);
      }
      return builder_.CreateShuffleVector(operand(current, 0), lanes);
    }
    case Code::kAny: {
      Value* bits = builder_.CreateBitCast(operand(current, 0), builder_.getInt16Ty());
      return builder_.CreateICmpNE(bits, builder_.getInt16(0));
    }
    case Code::kLoad:
      return load(current);
    case Code::kLoadAlternate:
    case Code::kLoadTwice:
      return load_shuffled(current);
    case Code::kGather:
      return gather(current);
    case Code::kStore:
      store(current);
      return nullptr;
    case Code::kScatter:
      scatter(current);
      return nullptr;
    case Code::kPrefetch:
      prefetch(current);
      return nullptr;
    case Code::kResult:
      return loop_results_[current.operands[0]][current.integer];
    case Code::kIf:
      if_then(current);
      return nullptr;
    case Code::kCall:
      call(current);
      return nullptr;
    case Code::kFor:
    case Code::kArgument:
      throw InternalError("codegen: kernel {}: a loop or a block's argument cannot be translated as a value",
                          kernel_.name);
    default:
      return arithmetic(current);
  }
}

llvm::Value* Translator::constant(const Instruction& current) {
  const Dtype dtype = current.type.element;
  llvm::Type* type = element_type(dtype);
  llvm::Constant* scalar = is_float(dtype) ? constant_from_real(type, dtype, current.real)
                                           : constant_from_bits(type, dtype, static_cast<uint64_t>(current.integer));
  if (!current.type.vector) return scalar;
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(kLanes), scalar);
}

llvm::Value* Translator::iota(loop::Type type) {
  llvm::Constant* lanes[kLanes];
  llvm::Type* element = element_type(type.element);
  for (int lane = 0; lane < kLanes; ++lane) {
    lanes[lane] = is_float(type.element) ? constant_from_real(element, type.element, lane)
                                         : constant_from_bits(element, type.element, lane);
  }
  return llvm::ConstantVector::get(lanes);
}

// Emits the loop in LLVM's loop-simplify form, rotated: entered through a guard and tested at the end, with a preheader
// and a dedicated exit block. This gives LLVM a place for code that it hoists out of the loop.
void Translator::for_loop(const Instruction& current, loop::Id id) {
  const loop::Block& body = kernel_.blocks[current.blocks[0]];
  Value* low = operand(current, 0);
  Value* high = operand(current, 1);
  llvm::BasicBlock* guard = builder_.GetInsertBlock();
  llvm::BasicBlock* before = new_block("before");
  llvm::BasicBlock* head = new_block("loop");

  Value* entered = builder_.CreateICmpSLT(low, high);
  builder_.SetInsertPoint(before);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  std::vector<llvm::PHINode*> arguments;
  for (size_t index = 0; index < body.arguments.size(); ++index) {
    Value* initial = index == 0 ? low : operand(current, index + 1);
    llvm::PHINode* argument = builder_.CreatePHI(initial->getType(), 2);
    argument->addIncoming(initial, before);
    arguments.push_back(argument);
  }
  if (carries_vectors(body)) {
    InductionLoop loop{body.arguments[0], low, current.integer, before, head, std::vector<bool>(values_.size())};
    for (size_t known = 0; known < values_.size(); ++known) loop.outside[known] = values_[known];
    induction_loops_.push_back(std::move(loop));
  }
  for (size_t index = 0; index < arguments.size(); ++index) values_[body.arguments[index]] = arguments[index];
  block(current.blocks[0]);

  llvm::BasicBlock* last = builder_.GetInsertBlock();
  if (carries_vectors(body)) {
    advance_addresses(induction_loops_.back(), last);
    induction_loops_.pop_back();
  }
  llvm::BasicBlock* after = new_block("after");
  llvm::BasicBlock* join = new_block("join");
  Value* next = builder_.CreateAdd(arguments[0], builder_.getInt64(current.integer));
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, high), head, after);
  arguments[0]->addIncoming(next, last);
  for (size_t index = 0; index < body.yields.size(); ++index) {
    arguments[index + 1]->addIncoming(values_[body.yields[index]], last);
  }
  builder_.SetInsertPoint(after);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(guard);
  builder_.CreateCondBr(entered, before, join);

  builder_.SetInsertPoint(join);
  for (size_t index = 0; index < body.yields.size(); ++index) {
    Value* initial = operand(current, index + 2);
    llvm::PHINode* result = builder_.CreatePHI(initial->getType(), 2);
    result->addIncoming(initial, guard);
    result->addIncoming(values_[body.yields[index]], after);
    loop_results_[id].push_back(result);
  }
}

void Translator::if_then(const Instruction& current) {
  llvm::BasicBlock* origin = builder_.GetInsertBlock();
  llvm::BasicBlock* branches[2] = {nullptr, nullptr};
  llvm::BasicBlock* ends[2] = {nullptr, nullptr};
  for (size_t index = 0; index < current.blocks.size(); ++index) {
    branches[index] = new_block(index == 0 ? "then" : "else");
    builder_.SetInsertPoint(branches[index]);
    block(current.blocks[index]);
    ends[index] = builder_.GetInsertBlock();
  }
  llvm::BasicBlock* join = new_block("join");
  for (llvm::BasicBlock* end : ends) {
    if (!end) continue;
    builder_.SetInsertPoint(end);
    builder_.CreateBr(join);
  }
  builder_.SetInsertPoint(origin);
  builder_.CreateCondBr(operand(current, 0), branches[0], branches[1] ? branches[1] : join);
  builder_.SetInsertPoint(join);
}

void Translator::call(const Instruction& current) {
  const loop::Call& call = kernel_.calls[static_cast<size_t>(current.integer)];
  llvm::Type* pointer = builder_.getPtrTy();
  size_t max_buffers = 1;
  for (const loop::Call& other : kernel_.calls) max_buffers = std::max(max_buffers, other.buffers.size());
  Value* passed = frame_slot("passed", static_cast<int>(max_buffers * sizeof(void*)), /*zeroed=*/false);
  size_t origin = 2;
  for (size_t index = 0; index < call.buffers.size(); ++index) {
    const loop::Buffer& buffer = kernel_.buffers[call.buffers[index]];
    Value* address = buffers_[call.buffers[index]];
    if (buffer.kind == loop::Buffer::Kind::kScratch)
      address = builder_.CreateGEP(memory_type(buffer.dtype), address, builder_.CreateNeg(operand(current, origin++)));
    builder_.CreateStore(address, builder_.CreateConstInBoundsGEP1_64(pointer, passed, index));
  }
  Value* params = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), function_->getArg(1), call.first_param);
  llvm::FunctionCallee part = module_->getOrInsertFunction(part_symbol(call.part), function_->getFunctionType());
  Value* scratch = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), function_->getArg(kScratchArgument),
                                                       scratch_.parts_offset);
  builder_.CreateCall(part, {passed, params, operand(current, 0), operand(current, 1), scratch});
}

llvm::Type* Translator::element_type(Dtype dtype) const {
  return is_bool(dtype) ? llvm::Type::getInt1Ty(module_->getContext()) : memory_type(dtype);
}

llvm::Type* Translator::memory_type(Dtype dtype) const {
  llvm::LLVMContext& context = module_->getContext();
  switch (dtype) {
    case Dtype::kF32:
      return llvm::Type::getFloatTy(context);
    case Dtype::kF64:
      return llvm::Type::getDoubleTy(context);
    default:
      return llvm::Type::getIntNTy(context, 8 * static_cast<unsigned>(size_of(dtype)));
  }
}

llvm::Type* Translator::vector_of(llvm::Type* element) const { return llvm::FixedVectorType::get(element, kLanes); }

llvm::Type* Translator::type_of(loop::Type type) const {
  llvm::Type* element = element_type(type.element);
  return type.vector ? vector_of(element) : element;
}

llvm::Type* Translator::with_element(llvm::Type* like, llvm::Type* element) const {
  return like->isVectorTy() ? vector_of(element) : element;
}

llvm::BasicBlock* Translator::new_block(const char* name) {
  return llvm::BasicBlock::Create(module_->getContext(), name, function_);
}

}  // namespace lucid::codegen
