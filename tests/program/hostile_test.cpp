// Files that have the right digest and say something wrong. Whoever loads one may not know who wrote it.

#include <gtest/gtest.h>
#include <lucid.h>
#include <lucid/lucid.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "program_parts.h"

namespace lucid {
namespace {

using Json = ProgramParts::Json;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kHalf = int64_t{1} << 62;

class HostilePrograms : public ::testing::Test {
 protected:
  HostilePrograms() { std::filesystem::create_directories(folder_); }
  ~HostilePrograms() override { std::filesystem::remove_all(folder_); }
  HostilePrograms(const HostilePrograms&) = delete;
  HostilePrograms& operator=(const HostilePrograms&) = delete;

  std::string path() const { return folder_ / "program.lucid"; }

  void export_function(const ExportedFunction& function, const std::vector<Tensor>& inputs,
                       const ExportOptions& options = {}) const {
    export_program(function, inputs, path(), options);
  }

  /// Changes what the file says about the program.
  void change(const std::function<void(Json&)>& edit) const {
    std::string bytes;
    {
      std::ifstream file(path(), std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    std::optional<ProgramParts> parts = ProgramParts::of(bytes);
    ASSERT_TRUE(parts.has_value());
    Json program = parts->program();
    edit(program);
    parts->set_program(program);
    std::ofstream(path(), std::ios::binary) << parts->sealed();
  }

  /// Why a file is refused, when it is loaded or run, whether it is trusted or not.
  std::string refusal(const std::vector<Tensor>& inputs) const {
    std::string reasons[2];
    for (const bool is_trusted : {false, true}) {
      try {
        Program::load(path(), {.trusted = is_trusted}).run(inputs);
        return "runs";
      } catch (const ValueError& error) {
        reasons[is_trusted] = error.what();
      }
    }
    EXPECT_EQ(reasons[0], reasons[1]);
    return reasons[0];
  }

  /// Exports x + 1 for four numbers and gives its result a view; the signature says the same if `is_consistent`.
  void export_result(const std::vector<Json>& shape, const std::vector<Json>& strides, const Json& offset,
                     bool is_consistent) const {
    export_function([](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] + 1}; }, {ones({4})});
    change([&](Json& program) {
      program["calls"][0]["results"][0].update({{"shape", shape}, {"strides", strides}, {"offset", offset}});
      if (is_consistent) program["outputs"][0]["shape"] = shape;
    });
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("lucid_hostile_test_" + std::to_string(::getpid()));
};

TEST_F(HostilePrograms, ResultsWhoseBytesOverflow) {
  struct Case {
    std::vector<Json> shape, strides;
  };
  const std::vector<Json> many_sizes(64, 2), many_strides(64, 0);
  for (const auto& [shape, strides] : {Case{{kHalf + 1}, {0}}, Case{{kHalf}, {0}}, Case{{kMax}, {0}},
                                       Case{{(int64_t{1} << 31) + 1, int64_t{1} << 31}, {0, 0}},
                                       Case{{0, kHalf, kHalf}, {1, 1, 1}}, Case{many_sizes, many_strides}}) {
    export_result(shape, strides, 0, true);
    EXPECT_EQ(refusal({ones({4})}), "load_program: the file is damaged: a view does not fit into its memory")
        << Json(shape).dump();
  }
}

TEST_F(HostilePrograms, ResultsOutsideTheirMemory) {
  struct Case {
    std::vector<Json> shape, strides;
    Json offset;
  };
  for (const auto& [shape, strides, offset] :
       {Case{{5}, {1}, 0}, Case{{4}, {1}, 1}, Case{{2}, {-1}, 0}, Case{{2}, {4}, 0}, Case{{1}, {1}, -1},
        Case{{1}, {1}, kMax}, Case{{2, 2}, {kMax, kMax}, 0}, Case{{2, 2}, {kMax, -kMax}, 0},
        Case{{3}, {-kMax - 1}, 0}}) {
    export_result(shape, strides, offset, true);
    EXPECT_EQ(refusal({ones({4})}), "load_program: the file is damaged: a view does not fit into its memory")
        << Json(shape).dump() << Json(strides).dump() << offset;
  }
  // This one fits.
  export_result({2}, {-3}, 3, true);
  EXPECT_EQ(refusal({ones({4})}), "runs");
}

TEST_F(HostilePrograms, StridesThatNoElementUses) {
  for (const int64_t stride : {kMax, kHalf, -kMax - 1, int64_t{1} << 61}) {
    // With an offset, so that the result is copied.
    export_result({3, 1}, {1, stride}, 1, true);
    EXPECT_EQ(refusal({ones({4})}), "runs");
    EXPECT_TRUE(equal(Program::load(path())(ones({4}))[0], full({3, 1}, 2)));
    export_result({0, 2}, {stride, stride}, 1, true);
    EXPECT_EQ(refusal({ones({4})}), "runs");
  }
}

TEST_F(HostilePrograms, ResultsThatTheSignatureDenies) {
  for (const auto& rank : {0, 2, 17, 64}) {
    const std::vector<Json> sizes(static_cast<size_t>(rank), 1), strides(static_cast<size_t>(rank), 0);
    export_result(sizes, strides, 0, false);
    EXPECT_EQ(refusal({ones({4})}), "load_program: the file is damaged: a result has a wrong number of dimensions");
  }
  for (const int64_t size : {0, 3}) {
    export_result({size}, {1}, 0, false);
    EXPECT_EQ(refusal({ones({4})}),
              "load_program: the file is damaged: a call takes or returns other sizes than the program");
  }
}

TEST_F(HostilePrograms, SizesThatVaryAreThoseOfTheInputs) {
  const ExportedFunction twice = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * 2}; };
  const ExportOptions options = {.dynamic = {{{0, {"n", 1, 8}}}}};
  const char* const reason = "load_program: the file is damaged: a call takes or returns other sizes than the program";
  export_function(twice, {ones({4, 3})}, options);
  EXPECT_EQ(refusal({ones({5, 3})}), "runs");
  change([](Json& program) {
    for (Json& call : program["calls"]) call["results"][0]["shape"][0] = 1;
  });
  EXPECT_EQ(refusal({ones({5, 3})}), reason);
  // A call that takes another input than the program says it does.
  export_function(twice, {ones({4, 3})}, options);
  change([](Json& program) { program["inputs"][0]["shape"][1] = 2; });
  EXPECT_EQ(refusal({ones({5, 3})}), reason);
}

TEST_F(HostilePrograms, StateThatOverlaps) {
  Tensor count = zeros({4});
  export_function(
      [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
        count.add_(in[0]);
        return {count * 2};
      },
      {ones({4})});
  EXPECT_EQ(refusal({ones({4})}), "runs");
  const char* const reason = "load_program: the file is damaged: a call does not fit into its memory";
  // Kernels would write the state while they read it as something else.
  change([](Json& program) {
    Json& operands = program["calls"][0]["operands"];
    for (Json& operand : operands) {
      operand["is_state"] = true;
      operand["index"] = 0;
    }
  });
  EXPECT_EQ(refusal({ones({4})}), reason);
}

TEST_F(HostilePrograms, OperandsOutsideTheirMemory) {
  const Tensor weight = randn({4});
  const ExportedFunction add = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] + weight}; };
  for (const auto& [first_byte, shape, stride] :
       {std::tuple{int64_t{0}, 5, int64_t{1}}, std::tuple{int64_t{4}, 4, int64_t{1}},
        std::tuple{int64_t{17}, 1, int64_t{1}}, std::tuple{int64_t{2}, 3, int64_t{1}}, std::tuple{kMax, 1, int64_t{1}},
        std::tuple{int64_t{0}, 2, kMax}, std::tuple{int64_t{0}, 2, int64_t{-1}}}) {
    export_function(add, {ones({4})});
    change([&](Json& program) {
      for (Json& operand : program["calls"][0]["operands"])
        if (operand["is_state"])
          operand.update({{"first_byte", first_byte}, {"shape", {shape}}, {"strides", {stride}}});
    });
    EXPECT_TRUE(refusal({ones({4})}).starts_with("load_program: the file is damaged: a ")) << first_byte;
  }
}

TEST_F(HostilePrograms, SizesOfOutputsThatOverflow) {
  for (const Json& bytes : {Json(-1), Json(kMax), Json(3), Json(kHalf)}) {
    export_function([](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] + 1}; }, {ones({4})});
    change([&](Json& program) { program["calls"][0]["outputs"][0] = bytes; });
    const Program program = Program::load(path());
    EXPECT_THROW(program.run({ones({4})}), ValueError) << bytes;
  }
}

TEST_F(HostilePrograms, StateWhoseBytesOverflow) {
  Tensor weight = ones({4});
  export_function([&](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] + weight}; }, {ones({4})});
  std::ifstream file(path(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  for (const Json& shape : {Json{kHalf + 1}, Json{kHalf, 4}, Json{0, kHalf, kHalf}, Json{uint64_t{1} << 63, 2}}) {
    std::optional<ProgramParts> parts = ProgramParts::of(bytes);
    parts->find("state")->shape = shape;
    std::ofstream(path(), std::ios::binary) << parts->sealed();
    EXPECT_NE(refusal({ones({4})}).find("the sizes of 'state' are too large"), std::string::npos) << shape;
  }
}

/// What C callers see: a result is written to an array of LUCID_MAX_RANK sizes.
TEST_F(HostilePrograms, RanksInC) {
  for (const int rank : {2, 16, 17, 64}) {
    for (const bool is_consistent : {false, true}) {
      std::vector<Json> sizes(static_cast<size_t>(rank), 1), strides(static_cast<size_t>(rank), 0);
      export_result(sizes, strides, 0, is_consistent);
      lucid_program* const program = lucid_program_load(path().c_str(), 0);
      const bool is_valid = is_consistent && rank <= LUCID_MAX_RANK;
      ASSERT_EQ(program != nullptr, is_valid) << rank << lucid_error();
      if (!program) continue;
      float numbers[4] = {1, 2, 3, 4};
      const lucid_tensor input = {.dtype = LUCID_F32, .rank = 1, .shape = {4}, .data = numbers, .owner = nullptr};
      lucid_tensor outputs[2] = {};
      ASSERT_EQ(lucid_program_run(program, &input, 1, outputs, 1), 0) << lucid_error();
      EXPECT_EQ(outputs[0].rank, rank);
      EXPECT_EQ(static_cast<const float*>(outputs[0].data)[0], 2);
      EXPECT_EQ(outputs[1].rank, 0);
      lucid_tensor_release(outputs, 1);
      lucid_program_free(program);
    }
  }
}

}  // namespace
}  // namespace lucid
