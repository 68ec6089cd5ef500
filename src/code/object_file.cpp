#include "code/object_file.h"

#include <elf.h>

#include <bit>
#include <cstring>

#include "base/error.h"

namespace lucid {

namespace {

constexpr uint64_t kMaxAlignment = 4096;

[[noreturn]] void fail(const std::string& reason) { throw InternalError("object code: {}", reason); }

/// The bytes that a reference fills.
constexpr uint64_t kReferenceBytes = 4;

}  // namespace

/// The section headers, and for each the index in sections() or -1.
struct ObjectFile::Headers {
  std::vector<Elf64_Shdr> all;
  std::vector<int64_t> loaded;

  const Elf64_Shdr* symbols() const {
    for (const Elf64_Shdr& header : all)
      if (header.sh_type == SHT_SYMTAB) return &header;
    return nullptr;
  }
};

std::string_view ObjectFile::part(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_.size() || bytes > bytes_.size() - offset) fail("it ends early");
  return bytes_.substr(offset, bytes);
}

template <typename T>
std::vector<T> ObjectFile::array_at(uint64_t offset, uint64_t count) const {
  if (count > bytes_.size() / sizeof(T)) fail("it ends early");
  const std::string_view found = part(offset, count * sizeof(T));
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), found.data(), found.size());
  return values;
}

ObjectFile::ObjectFile(std::string_view bytes) : bytes_(bytes) {
  const Elf64_Ehdr header = array_at<Elf64_Ehdr>(0, 1).front();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL || header.e_machine != EM_X86_64)
    fail("it is not relocatable ELF for x86-64");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) fail("its section headers have another size");
  Headers headers{.all = array_at<Elf64_Shdr>(header.e_shoff, header.e_shnum), .loaded = {}};
  headers.loaded.assign(headers.all.size(), -1);
  for (size_t i = 0; i < headers.all.size(); ++i) {
    if ((headers.all[i].sh_flags & SHF_ALLOC) == 0) continue;
    headers.loaded[i] = static_cast<int64_t>(sections_.size());
    sections_.emplace_back();
  }
  read_sections(headers);
  read_symbols(headers);
  read_references(headers);
}

void ObjectFile::read_sections(const Headers& headers) {
  for (size_t i = 0; i < headers.all.size(); ++i) {
    const Elf64_Shdr& header = headers.all[i];
    if (headers.loaded[i] < 0) continue;
    if (header.sh_type != SHT_PROGBITS || (header.sh_flags & (SHF_WRITE | SHF_TLS)) != 0) fail("it has variables");
    const uint64_t alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment) fail("a section has a wrong alignment");
    sections_[static_cast<size_t>(headers.loaded[i])] = {part(header.sh_offset, header.sh_size), alignment,
                                                         (header.sh_flags & SHF_EXECINSTR) != 0};
  }
}

void ObjectFile::read_symbols(const Headers& headers) {
  const Elf64_Shdr* const table = headers.symbols();
  if (!table) return;
  if (table->sh_link >= headers.all.size()) fail("its symbols have no names");
  const Elf64_Shdr& strings = headers.all[table->sh_link];
  const std::string_view names = part(strings.sh_offset, strings.sh_size);
  for (const Elf64_Sym& found : array_at<Elf64_Sym>(table->sh_offset, table->sh_size / sizeof(Elf64_Sym))) {
    const size_t end = names.find('\0', found.st_name);
    if (end == std::string_view::npos) fail("the name of a symbol has no end");
    Symbol symbol{.name = names.substr(found.st_name, end - found.st_name)};
    if (found.st_shndx != SHN_UNDEF && found.st_shndx < headers.all.size()) {
      symbol.section = headers.loaded[found.st_shndx];
      symbol.offset = found.st_value;
      symbol.bytes = found.st_size;
    }
    if (symbol.section >= 0) {
      const size_t size = sections_[static_cast<size_t>(symbol.section)].contents.size();
      if (symbol.offset > size || symbol.bytes > size - symbol.offset) fail("a symbol is outside its section");
    }
    symbols_.push_back(symbol);
  }
}

void ObjectFile::read_references(const Headers& headers) {
  for (const Elf64_Shdr& header : headers.all) {
    if (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) continue;
    if (header.sh_info >= headers.all.size()) fail("references belong to no section");
    const int64_t section = headers.loaded[header.sh_info];
    if (section < 0) continue;
    if (header.sh_type == SHT_REL) fail("it has references without addends");
    const uint64_t size = sections_[static_cast<size_t>(section)].contents.size();
    for (const Elf64_Rela& found : array_at<Elf64_Rela>(header.sh_offset, header.sh_size / sizeof(Elf64_Rela))) {
      const uint64_t type = ELF64_R_TYPE(found.r_info);
      const Reference reference{static_cast<size_t>(section), found.r_offset, ELF64_R_SYM(found.r_info),
                                found.r_addend};
      if (type != R_X86_64_PC32 && type != R_X86_64_PLT32) fail(fmt::format("it has references of type {}", type));
      if (reference.symbol >= symbols_.size()) fail("a reference has no symbol");
      // Only calls reach functions elsewhere: they go by way of a jump.
      if (symbols_[reference.symbol].section < 0 && type != R_X86_64_PLT32)
        fail("it refers to a variable that it does not define");
      if (reference.offset > size || kReferenceBytes > size - reference.offset)
        fail("a reference is outside its section");
      references_.push_back(reference);
    }
  }
}

}  // namespace lucid
