#include <lucid/serialize.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "data/json.h"
#include "data/output_file.h"
#include "data/safetensors.h"
#include "tensor/api.h"
#include "tensor/compute.h"
#include "tensor/host_view.h"
#include "tensor/item.h"
#include "tensor/observer.h"
#include "tensor/snapshot.h"

namespace lucid {
namespace {

// The metadata that holds the structure as JSON, in a file that is more than a dict of tensors. Lists, strings, bools,
// numbers and null are stored as they are; everything else is an object with one member, whose name is its type.
constexpr const char* kTreeKey = "lucid.tree";
// {"name": "other"}: tensors of a plain file that shared memory. Each has a copy of the data, for other readers.
constexpr const char* kTiesKey = "lucid.ties";
constexpr JsonLimits kTreeLimits = {"the structure in the file's metadata", 2000};
constexpr JsonLimits kTiesLimits = {"the list of shared tensors", 2};
// A level of a tree takes up to three of JSON: {"dict": [["key", value]]}.
constexpr int kTreeLevels = kTreeLimits.levels / 3;

/// Identifies a view of memory. Tensors with equal keys are saved as one.
using ViewKey = std::tuple<const void*, Dtype, std::vector<int64_t>, std::vector<int64_t>, int64_t>;
ViewKey view_key(const TensorImpl& tensor) {
  const PinnedMemory memory = tensor.memory();
  // Cells on imported memory may overlap.
  const bool is_imported = memory.storage->borrowed();
  return {is_imported ? memory.data : tensor.cell().get(),
          tensor.dtype(),
          {tensor.sizes().begin(), tensor.sizes().end()},
          {tensor.strides().begin(), tensor.strides().end()},
          is_imported ? 0 : tensor.offset().unguarded()};
}

/// A file to write: its header and, in the same order, its tensors.
struct Document {
  SafetensorsHeader header;
  std::vector<TensorRef> tensors;

  void add(const std::string& name, const TensorImpl& tensor) {
    // Writing a file takes long: other threads may give the tensor another shape meanwhile.
    const TensorRef& own = tensors.emplace_back(alias_of(tensor));
    header.entries.push_back({name, own->dtype(), own->sizes(), 0, 0});
  }

  /// Passes the bytes of the file to `put`, in order.
  void write(const std::function<void(const void*, size_t)>& put) {
    const std::string head = write_safetensors_header(header);
    put(head.data(), head.size());
    std::map<uint64_t, size_t> order;
    for (size_t i = 0; i < tensors.size(); ++i)
      if (header.entries[i].begin != header.entries[i].end) order[header.entries[i].begin] = i;
    for (const auto& [_, i] : order) {
      // Another thread may write to the tensor meanwhile: the snapshot keeps the memory alive and unchanged.
      Snapshot held(*tensors[i]);
      held.pin();
      const HostView view(*contiguous(held.tensor()));
      put(view.data(), header.entries[i].end - header.entries[i].begin);
    }
  }
};

bool is_state_dict(const Tree& tree) {
  const Tree::Dict* dict = tree.dict_or_null();
  if (!dict || dict->empty()) return false;
  for (const auto& [key, value] : *dict) {
    const auto* name = std::get_if<std::string>(&key);
    if (!name || *name == "__metadata__" || !value.get_if<Tensor>()) return false;
  }
  return true;
}

void write_state_dict(const Tree::Dict& dict, Document& document) {
  std::map<ViewKey, std::string> known;
  Json ties = Json::object();
  for (const auto& [key, value] : dict) {
    const auto& name = std::get<std::string>(key);
    const TensorImpl& tensor = unwrap(*value.get_if<Tensor>());
    document.add(name, tensor);
    if (const auto [first, fresh] = known.try_emplace(view_key(tensor), name); !fresh) ties[name] = first->second;
  }
  document.header.metadata.emplace_back("format", "pt");
  if (!ties.empty()) document.header.metadata.emplace_back(kTiesKey, json_text(ties));
}

/// Converts a tree to JSON. Adds its tensors to the document, named by their paths in the tree.
class TreeWriter {
 public:
  explicit TreeWriter(Document& document) : document_(document) {}

  Json write(const Tree& tree) {
    if (++level_ > kTreeLevels) throw ValueError("save: nested more than {} deep", kTreeLevels);
    Json json = value(tree);
    --level_;
    return json;
  }

 private:
  Json value(const Tree& tree) {
    if (tree.is_none()) return nullptr;
    if (const auto* flag = tree.get_if<bool>()) return *flag;
    if (const auto* number = tree.get_if<int64_t>()) return *number;
    if (const auto* number = tree.get_if<double>()) return real(*number);
    if (const auto* text = tree.get_if<std::string>()) return *text;
    if (const auto* tensor = tree.get_if<Tensor>()) return {{"tensor", name_of_tensor(unwrap(*tensor))}};
    if (const auto* items = tree.get_if<Tree::List>()) return list(*items);
    if (const auto* tuple = tree.get_if<Tree::Tuple>()) return {{"tuple", list(tuple->items)}};
    if (const auto* dict = tree.dict_or_null()) {
      Json items = Json::array();
      for (const auto& [key, item] : *dict) {
        const auto* name = std::get_if<std::string>(&key);
        Json key_json = name ? Json(*name) : Json(std::get<int64_t>(key));
        items.push_back(Json::array({std::move(key_json), below(name ? *name : to_string(key), item)}));
      }
      return {{"dict", std::move(items)}};
    }
    throw TypeError("save: {} cannot be saved: {}", path_.empty() ? "the object" : path_, tree.kind());
  }

  static Json real(double number) {
    if (std::isfinite(number)) return number;
    return {{"float", std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf"}};
  }

  Json list(const Tree::List& items) {
    Json json = Json::array();
    for (size_t i = 0; i < items.size(); ++i) json.push_back(below(std::to_string(i), items[i]));
    return json;
  }

  Json below(const std::string& step, const Tree& tree) {
    const size_t length = path_.size();
    if (!path_.empty()) path_ += '.';
    path_ += step;
    Json json = write(tree);
    path_.resize(length);
    return json;
  }

  std::string name_of_tensor(const TensorImpl& tensor) {
    const auto [known, fresh] = names_by_view_.try_emplace(view_key(tensor));
    if (!fresh) return known->second;
    const std::string base = path_.empty() || path_ == "__metadata__" ? "tensor" : path_;
    // Different paths can have the same text: {"a.b": x} and {"a": {"b": x}}.
    std::string name = base;
    int& next = names_[base];
    while (next != 0 && !names_.try_emplace(name = fmt::format("{}#{}", base, next), 1).second) ++next;
    ++next;
    document_.add(name, tensor);
    return known->second = name;
  }

  Document& document_;
  std::string path_;
  std::map<ViewKey, std::string> names_by_view_;
  std::map<std::string, int> names_;  // and the suffix of the next tensor with the same path
  int level_ = 0;
};

Document document_of(const Tree& tree) {
  Document document;
  if (is_state_dict(tree)) {
    write_state_dict(*tree.dict_or_null(), document);
  } else {
    document.header.metadata.emplace_back(kTreeKey, json_text(TreeWriter(document).write(tree)));
  }
  return document;
}

[[noreturn]] void fail_tree(const char* what) {
  throw ValueError("load: the structure in the file's metadata {}", what);
}

/// The tensors of a file by name.
using TensorsByName = std::map<std::string, Tensor>;

class TreeReader {
 public:
  explicit TreeReader(const TensorsByName& tensors) : tensors_(tensors) {}

  Tree read(const Json& json) const {
    switch (json.type()) {
      case Json::value_t::null:
        return {};
      case Json::value_t::boolean:
        return json.get<bool>();
      case Json::value_t::string:
        return json.get<std::string>();
      case Json::value_t::number_integer:
        return json.get<int64_t>();
      case Json::value_t::number_unsigned:
        if (json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
          fail_tree("contains an integer of more than 64 bits");
        return json.get<int64_t>();
      case Json::value_t::number_float:
        return json.get<double>();
      case Json::value_t::array:
        return list(json);
      case Json::value_t::object:
        return tagged(json);
      default:
        fail_tree("contains a value of unknown type");
    }
  }

 private:
  Tree::List list(const Json& json) const {
    if (!json.is_array()) fail_tree("lacks a list where one is required");
    Tree::List items;
    items.reserve(json.size());
    for (const Json& item : json) items.push_back(read(item));
    return items;
  }

  Tree tagged(const Json& json) const {
    if (json.size() != 1) fail_tree("contains an object that does not have exactly one member");
    const std::string& tag = json.begin().key();
    const Json& value = json.begin().value();
    if (tag == "tuple") return Tree::Tuple{list(value)};
    if (tag == "dict") return dict(value);
    if (tag == "float" && value == "nan") return std::nan("");
    if (tag == "float" && value == "inf") return HUGE_VAL;
    if (tag == "float" && value == "-inf") return -HUGE_VAL;
    if (tag == "tensor" && value.is_string()) {
      const auto found = tensors_.find(value.get_ref<const std::string&>());
      if (found != tensors_.end()) return found->second;
      fail_tree("names a tensor that the file does not contain");
    }
    fail_tree("contains an object of unknown type");
  }

  Tree dict(const Json& json) const {
    if (!json.is_array()) fail_tree("has a dict whose items are not a list");
    std::set<Tree::Key> seen;
    std::vector<Tree::Item> items;
    for (const Json& item : json) {
      if (!item.is_array() || item.size() != 2) fail_tree("has a dict item that is not a pair");
      Tree::Key key;
      if (item[0].is_string())
        key = item[0].get<std::string>();
      else if (item[0].is_number_integer())
        key = std::get<int64_t>(key_number(item[0]));
      else
        fail_tree("has a key that is neither a string nor an integer");
      if (!seen.insert(key).second) fail_tree("has a dict with a repeated key");
      items.push_back({std::move(key), read(item[1])});
    }
    return Tree::Dict(std::move(items));
  }

  Tree::Key key_number(const Json& json) const { return read(json).as_integer("load: a key"); }

  const TensorsByName& tensors_;
};

/// Pairs of a name in a plain file and the name of the tensor that it shares.
std::vector<std::pair<std::string, std::string>> ties_of(const SafetensorsHeader& header,
                                                         const TensorsByName& tensors) {
  std::vector<std::pair<std::string, std::string>> ties;
  for (const auto& [key, value] : header.metadata) {
    if (key == kTiesKey) {
      const Json json = parse_json(value, kTiesLimits);
      if (!json.is_object()) throw ValueError("load: the list of shared tensors is not an object");
      for (const auto& [name, other] : json.items()) {
        if (!other.is_string())
          throw ValueError("load: the list of shared tensors contains an entry that is not a name");
        ties.emplace_back(name, other.get<std::string>());
      }
    } else if (!tensors.contains(key) && tensors.contains(value)) {
      // Other libraries record a tensor that they left out because it shares memory with another this way.
      ties.emplace_back(key, value);
    }
  }
  return ties;
}

Tree read_document(const ByteSource& source) {
  const SafetensorsHeader header = read_safetensors_header(source);
  const std::string* structure = nullptr;
  for (const auto& [key, value] : header.metadata)
    if (key == kTreeKey) structure = &value;
  Json json;
  if (structure) json = parse_json(*structure, kTreeLimits);

  TensorsByName tensors;
  for (const SafetensorsEntry& entry : header.entries) {
    const TensorRef tensor = make_tensor(entry.dtype, entry.shape);
    source.read(header.data_start + entry.begin, tensor->data(), entry.end - entry.begin);
    if (entry.dtype == Dtype::kBool) {
      auto* flags = static_cast<uint8_t*>(tensor->data());
      for (uint64_t i = 0; i < entry.end - entry.begin; ++i) flags[i] = flags[i] != 0;
    }
    tensors.emplace(entry.name, wrap(tensor));
  }
  if (structure) return TreeReader(tensors).read(json);

  std::vector<std::string> names;
  for (const SafetensorsEntry& entry : header.entries) names.push_back(entry.name);
  for (const auto& [name, other] : ties_of(header, tensors)) {
    const auto found = tensors.find(other);
    if (found == tensors.end()) throw ValueError("load: the file names a shared tensor that it does not contain");
    const Tensor shared = found->second;
    const auto [own, fresh] = tensors.try_emplace(name, shared);
    if (fresh) names.push_back(name);
    if (own->second.shape() != shared.shape() || own->second.dtype() != shared.dtype())
      throw ValueError("load: two tensors of different shapes or dtypes are declared as shared");
    own->second = shared;
  }
  std::vector<Tree::Item> items;
  for (const std::string& name : names) items.push_back({name, tensors.at(name)});
  return Tree::Dict(std::move(items));
}

}  // namespace

void save(const Tree& tree, const std::string& path) {
  on_external_effect("writes a file");
  Document document = document_of(tree);
  OutputFile file("save", path);
  document.write([&](const void* bytes, size_t count) { file.write(bytes, count); });
  file.commit();
}

std::string serialize(const Tree& tree) {
  on_external_effect("serializes tensors");
  Document document = document_of(tree);
  std::string result;
  document.write([&](const void* bytes, size_t count) { result.append(static_cast<const char*>(bytes), count); });
  return result;
}

Tree load(const std::string& path) {
  on_external_effect("reads a file");
  return read_document(FileSource("load", path));
}
Tree deserialize(std::span<const char> bytes) { return read_document(MemorySource(bytes)); }

}  // namespace lucid
