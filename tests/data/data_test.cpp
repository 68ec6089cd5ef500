#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "data/byte_source.h"

namespace lucid {
namespace {

std::string temporary(const std::string& name) { return (std::filesystem::path(::testing::TempDir()) / name).string(); }

/// An object of another language.
struct Opaque : Foreign {
  std::string kind() const override { return "an opaque object"; }
  Tree convert() const override { return Tree(std::make_shared<const Opaque>()); }
  Tree call(const std::vector<Tree>&) const override { throw TypeError("not a function"); }
};

TEST(Serialize, TreesRoundTrip) {
  const Tensor x = from_vector<float>({1, 2, 3, 4}, {2, 2});
  const Tree tree = Tree::Dict{{"x", x},
                               {int64_t{7}, Tree::Tuple{{1, 2.5, "text", Tree()}}},
                               {"list", Tree::List{true, x, Tree::Dict{{"deep", scalar(3.0)}}}}};
  const std::string bytes = serialize(tree);
  const Tree found = deserialize(bytes);
  EXPECT_EQ(serialize(found), bytes);
  const Tree::Dict& dict = found.as_dict("");
  EXPECT_EQ(dict.at("x").as_tensor("").to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(dict.at(int64_t{7}).as_items("")[1].as_real(""), 2.5);
  // A shared tensor is still shared.
  EXPECT_TRUE(dict.at("list").as_items("")[1].as_tensor("").is_same(dict.at("x").as_tensor("")));
}

TEST(Serialize, StatesOfModulesRoundTrip) {
  const auto model = nn::make<nn::Linear>(3, 2), other = nn::make<nn::Linear>(3, 2);
  const Tree found = deserialize(serialize(model->state_dict()));
  other->load_state_dict(found.as_named_tensors("state"));
  EXPECT_EQ(other->parameter("weight").to_vector<float>(), model->parameter("weight").to_vector<float>());
  EXPECT_EQ(other->parameter("bias").to_vector<float>(), model->parameter("bias").to_vector<float>());
  EXPECT_THROW(Tree(3).as_named_tensors("state"), TypeError);
  EXPECT_THROW(Tree(Tree::Dict{{"x", 1}}).as_named_tensors("state"), TypeError);
  EXPECT_THROW(Tree(Tree::Dict{{int64_t{1}, scalar(1.0)}}).as_named_tensors("state"), TypeError);
}

TEST(Serialize, FilesAreWrittenWhole) {
  const std::string path = temporary("lucid_tree");
  save(Tree::Dict{{"x", scalar(1.0)}}, path);
  EXPECT_THROW(save(Tree(std::make_shared<const Opaque>()), path), TypeError);
  EXPECT_EQ(load(path).as_dict("").at("x").as_tensor("").item<double>(), 1.0);
  std::remove(path.c_str());
  EXPECT_THROW(load(path), FileError);
  EXPECT_THROW(save(Tree(1), path + "/no/folder"), FileError);
}

TEST(Serialize, RejectsTruncatedFiles) {
  const std::string bytes = serialize(Tree::List{scalar(1.0), "text"});
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(deserialize(std::span(bytes.data(), length)), ValueError) << length;
}

std::string idx(uint8_t code, const std::vector<uint8_t>& sizes, const std::string& data) {
  std::string bytes = {'\0', '\0', static_cast<char>(code), static_cast<char>(sizes.size())};
  for (const uint8_t size : sizes) bytes += std::string("\0\0\0", 3) + static_cast<char>(size);
  return bytes + data;
}

TEST(Idx, ReadsArrays) {
  const Tensor bytes = parse_idx(idx(0x08, {2, 2}, "\x01\x02\x03\x04"));
  EXPECT_EQ(bytes.dtype(), kUint8);
  EXPECT_EQ(bytes.shape(), (Shape{2, 2}));
  EXPECT_EQ(bytes.to_vector<uint8_t>(), (std::vector<uint8_t>{1, 2, 3, 4}));
  const Tensor shorts = parse_idx(idx(0x0B, {2}, "\x01\x02\xff\xfe"));
  EXPECT_EQ(shorts.to_vector<int16_t>(), (std::vector<int16_t>{0x0102, -2}));
}

TEST(Idx, RejectsDamagedFiles) {
  EXPECT_THROW(parse_idx(std::string()), ValueError);
  EXPECT_THROW(parse_idx(idx(0x08, {5}, "123")), ValueError);
  EXPECT_THROW(parse_idx(idx(0x08, {1}, "123")), ValueError);
  EXPECT_THROW(parse_idx(idx(0x42, {1}, "1")), ValueError);
  EXPECT_THROW(parse_idx(std::string("\x1f\x8b\x08", 3)), ValueError);
  EXPECT_THROW(read_idx(temporary("nothing")), FileError);
}

}  // namespace
}  // namespace lucid
