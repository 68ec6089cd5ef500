#include "program/object_writer.h"

#include <elf.h>

#include <cstring>
#include <map>

#include "base/error.h"
#include "code/loader.h"
#include "code/object_file.h"

namespace lucid::program {
namespace {

/// A section of the object that is written, and its references to others.
struct Section {
  std::string name;
  uint32_t type = SHT_PROGBITS;
  uint64_t flags = 0;
  uint64_t alignment = 1;
  std::string contents;
  std::vector<Elf64_Rela> references;

  /// Appends bytes and returns where they are.
  uint64_t append(std::string_view bytes, uint64_t boundary) {
    contents.resize((contents.size() + boundary - 1) / boundary * boundary);
    alignment = std::max(alignment, boundary);
    const uint64_t offset = contents.size();
    contents += bytes;
    return offset;
  }
};

template <typename T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

class ObjectWriter {
 public:
  ObjectWriter() {
    sections_[kText] = {.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR};
    sections_[kConstants] = {.name = ".rodata", .flags = SHF_ALLOC};
    sections_[kProgram] = {.name = ".rodata.lucid", .flags = SHF_ALLOC};
    sections_[kTable] = {.name = ".data.rel.ro", .flags = SHF_ALLOC | SHF_WRITE};
    symbols_.emplace_back();
    for (uint16_t i = 0; i < kCount; ++i) {
      Elf64_Sym symbol{};
      symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
      symbol.st_shndx = static_cast<uint16_t>(i + 1);
      symbols_.push_back(symbol);
    }
  }

  void add_kernel(const KernelCode& kernel) {
    const ObjectFile object(kernel.object);
    std::vector<std::pair<int, uint64_t>> places;  // of the sections of the kernel
    for (const ObjectFile::Section& section : object.sections()) {
      const int target = section.is_code ? kText : kConstants;
      places.emplace_back(target, sections_[target].append(section.contents, section.alignment));
    }
    for (const ObjectFile::Symbol& symbol : object.symbols())
      if (symbol.section >= 0 && symbol.name == kernel.symbol)
        functions_.push_back(places[static_cast<size_t>(symbol.section)].second + symbol.offset);
    for (const ObjectFile::Reference& reference : object.references()) {
      const auto& [section, start] = places[reference.section];
      sections_[section].references.push_back(reference_of(object, kernel, places, reference, start));
    }
  }

  std::string write(const std::string& symbol, const std::string& program) {
    sections_[kProgram].append(program, 64);
    Section& table = sections_[kTable];
    const auto add_address = [&](int section, uint64_t offset) {
      const uint64_t at = table.append(bytes_of(uint64_t{0}), sizeof(uint64_t));
      table.references.push_back(
          {at, ELF64_R_INFO(static_cast<uint64_t>(section + 1), R_X86_64_64), static_cast<int64_t>(offset)});
    };
    for (const uint64_t function : functions_) add_address(kText, function);
    // The members of lucid_linked_program.
    const uint64_t start = table.contents.size();
    add_address(kProgram, 0);
    table.append(bytes_of(uint64_t{program.size()}), sizeof(uint64_t));
    add_address(kTable, 0);
    table.append(bytes_of(uint64_t{functions_.size()}), sizeof(uint64_t));
    Elf64_Sym defined{};
    defined.st_name = name_of(symbol);
    defined.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    defined.st_shndx = kTable + 1;
    defined.st_value = start;
    defined.st_size = table.contents.size() - start;
    symbols_.push_back(defined);
    return assemble();
  }

 private:
  enum : int { kText, kConstants, kProgram, kTable, kCount };

  uint32_t name_of(std::string_view name) {
    const auto offset = static_cast<uint32_t>(names_.size());
    names_ += name;
    names_ += '\0';
    return offset;
  }

  /// The index of a function that is defined elsewhere.
  uint64_t external(std::string_view name) {
    const auto [found, is_new] = externals_.try_emplace(std::string(name), symbols_.size());
    if (is_new) {
      Elf64_Sym symbol{};
      symbol.st_name = name_of(name);
      symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
      symbols_.push_back(symbol);
    }
    return found->second;
  }

  Elf64_Rela reference_of(const ObjectFile& object, const KernelCode& kernel,
                          const std::vector<std::pair<int, uint64_t>>& places, const ObjectFile::Reference& reference,
                          uint64_t start) {
    const ObjectFile::Symbol& symbol = object.symbols()[reference.symbol];
    Elf64_Rela written{start + reference.offset, 0, reference.addend};
    if (symbol.section >= 0) {
      const auto& [section, offset] = places[static_cast<size_t>(symbol.section)];
      written.r_info = ELF64_R_INFO(static_cast<uint64_t>(section + 1), R_X86_64_PC32);
      written.r_addend += static_cast<int64_t>(offset + symbol.offset);
      return written;
    }
    for (size_t i = 0; i < kernel.parts.size(); ++i) {
      if (symbol.name != part_symbol(i)) continue;
      written.r_info = ELF64_R_INFO(uint64_t{kText + 1}, R_X86_64_PC32);
      written.r_addend += static_cast<int64_t>(functions_[kernel.parts[i]]);
      return written;
    }
    written.r_info = ELF64_R_INFO(external(symbol.name), R_X86_64_PLT32);
    return written;
  }

  std::string assemble() {
    std::vector<Section> all(std::begin(sections_), std::end(sections_));
    const auto symbols_index = static_cast<uint32_t>(all.size() + kCount + 2);  // after the references and the note
    std::vector<Elf64_Shdr> headers(1);
    std::string file(sizeof(Elf64_Ehdr), '\0'), section_names(1, '\0');
    const auto add = [&](const std::string& name, Elf64_Shdr header, std::string_view contents) {
      header.sh_name = static_cast<uint32_t>(section_names.size());
      section_names += name + '\0';
      file.resize((file.size() + header.sh_addralign - 1) / header.sh_addralign * header.sh_addralign);
      header.sh_offset = file.size();
      header.sh_size = contents.size();
      file += contents;
      headers.push_back(header);
    };
    for (const Section& section : all)
      add(section.name, {.sh_type = section.type, .sh_flags = section.flags, .sh_addralign = section.alignment},
          section.contents);
    for (uint32_t i = 0; i < all.size(); ++i) {
      const auto* bytes = reinterpret_cast<const char*>(all[i].references.data());
      add(".rela" + all[i].name,
          {.sh_type = SHT_RELA,
           .sh_flags = SHF_INFO_LINK,
           .sh_link = symbols_index,
           .sh_info = i + 1,
           .sh_addralign = 8,
           .sh_entsize = sizeof(Elf64_Rela)},
          {bytes, all[i].references.size() * sizeof(Elf64_Rela)});
    }
    // Says that the stack need not be executable.
    add(".note.GNU-stack", {.sh_type = SHT_PROGBITS, .sh_addralign = 1}, {});
    const auto* symbols = reinterpret_cast<const char*>(symbols_.data());
    LUCID_CHECK(headers.size() == symbols_index, "the symbols are section {}", headers.size());
    add(".symtab",
        {.sh_type = SHT_SYMTAB,
         .sh_link = symbols_index + 1,
         .sh_info = kCount + 1,  // the first that is not local
         .sh_addralign = 8,
         .sh_entsize = sizeof(Elf64_Sym)},
        {symbols, symbols_.size() * sizeof(Elf64_Sym)});
    add(".strtab", {.sh_type = SHT_STRTAB, .sh_addralign = 1}, names_);
    const std::string last = ".shstrtab";
    section_names.reserve(section_names.size() + last.size() + 1);
    const std::string with_last = section_names + last + '\0';
    add(last, {.sh_type = SHT_STRTAB, .sh_addralign = 1}, with_last);
    file.resize((file.size() + 7) / 8 * 8);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_shoff = file.size();
    header.e_ehsize = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers.size());
    header.e_shstrndx = static_cast<uint16_t>(headers.size() - 1);
    std::memcpy(file.data(), &header, sizeof(header));
    for (const Elf64_Shdr& each : headers) file += bytes_of(each);
    return file;
  }

  Section sections_[kCount];
  std::vector<Elf64_Sym> symbols_;
  std::string names_ = std::string(1, '\0');
  std::map<std::string, uint64_t> externals_;
  std::vector<uint64_t> functions_;  // of the kernels, in .text
};

}  // namespace

std::string write_object(const std::string& symbol, const std::string& program,
                         const std::vector<KernelCode>& kernels) {
  ObjectWriter writer;
  for (const KernelCode& kernel : kernels) writer.add_kernel(kernel);
  return writer.write(symbol, program);
}

}  // namespace lucid::program
