#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lucid {

/// Relocatable object code for x86-64 in the ELF format, as far as the code generator writes it: sections that are
/// executed or only read, and references relative to the instruction.
class ObjectFile {
 public:
  /// Throws InternalError if the bytes are malformed or contain anything else. The object refers to the bytes.
  explicit ObjectFile(std::string_view bytes);

  /// A section that is needed at run time.
  struct Section {
    std::string_view contents;
    uint64_t alignment = 1;
    bool is_code = false;
  };
  struct Symbol {
    std::string_view name;
    /// Index of the section that defines it; -1 for a function that is defined elsewhere.
    int64_t section = -1;
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  /// Four bytes of a section that refer to `symbol` + `addend`, relative to their own address.
  struct Reference {
    size_t section = 0;
    uint64_t offset = 0;
    size_t symbol = 0;
    int64_t addend = 0;
  };

  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const std::vector<Reference>& references() const { return references_; }

 private:
  struct Headers;

  void read_sections(const Headers& headers);
  void read_symbols(const Headers& headers);
  void read_references(const Headers& headers);
  template <typename T>
  std::vector<T> array_at(uint64_t offset, uint64_t count) const;
  std::string_view part(uint64_t offset, uint64_t bytes) const;

  std::string_view bytes_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<Reference> references_;
};

}  // namespace lucid
