// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/elf_object.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "targets/cpu/elf_reader.hpp"

namespace accelopt::targets::cpu {
namespace {

base::Result<void> damaged() {
  return base::fail(base::ErrorCode::parse, "the compiler's output is not a whole ELF file");
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

struct Section {
  Elf64_Shdr header{};
  std::string name;
  bool addresses = false;  ///< every word of it is an address that a relocation stores
};

bool is_part_of(const std::string& name, std::string_view whole) {
  return name.starts_with(whole) && (name.size() == whole.size() || name[whole.size()] == '.');
}

/// Data that is written once, while relocations are applied: constant tables of addresses, and what the exception
/// machinery refers to.
bool relocated_constants(const Section& section) {
  if (is_part_of(section.name, ".data.rel.ro")) return true;
  if (section.name == ".data" && section.addresses) return true;  // so clang refers to the types that are caught
  return section.header.sh_size == sizeof(std::uint64_t) &&
         (section.name.starts_with(".data.rel.local.DW.ref.") || section.name.starts_with(".data.rel.DW.ref.") ||
          section.name.starts_with(".data.DW.ref."));
}

/// Whether a compiler makes such a section. Names of the linker's own (.dynamic, .rela.dyn, .got, .init, ...) are not
/// among them, nor names that a linker puts beside those.
bool made_by_compilers(const Section& section) {
  constexpr std::uint32_t kUnwind = 0x70000001;  // SHT_X86_64_UNWIND
  const Elf64_Shdr& header = section.header;
  // Not a mark on the file that asks for an executable stack.
  if ((header.sh_flags & SHF_ALLOC) == 0) return (header.sh_flags & SHF_EXECINSTR) == 0;
  if (header.sh_size == 0) return true;
  if (section.name == ".eh_frame") return header.sh_type == SHT_PROGBITS || header.sh_type == kUnwind;
  if (section.name == ".note.gnu.property") return header.sh_type == SHT_NOTE;
  if (header.sh_type != SHT_PROGBITS) return false;
  if ((header.sh_flags & SHF_EXECINSTR) != 0)
    return (header.sh_flags & SHF_WRITE) == 0 && is_part_of(section.name, ".text");
  if ((header.sh_flags & SHF_WRITE) != 0) return relocated_constants(section);
  return is_part_of(section.name, ".rodata") || is_part_of(section.name, ".gcc_except_table");
}

bool keeps_values(const Section& section) {
  const Elf64_Shdr& header = section.header;
  constexpr std::uint64_t kWritable = SHF_ALLOC | SHF_WRITE;
  return (header.sh_flags & kWritable) == kWritable && header.sh_size > 0 && !relocated_constants(section) &&
         (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_NOBITS);
}

bool runs_at_load(const Section& section) {
  if (section.header.sh_size == 0) return false;
  const auto type = section.header.sh_type;
  return type == SHT_INIT_ARRAY || type == SHT_FINI_ARRAY || type == SHT_PREINIT_ARRAY ||
         section.name.starts_with(".ctors") || section.name.starts_with(".dtors") || section.name == ".init" ||
         section.name == ".fini";
}

base::Result<std::vector<Section>> read_sections(const ElfReader& reader) {
  const auto file = reader.at<Elf64_Ehdr>(0);
  if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_ident[EI_CLASS] != ELFCLASS64) {
    return tl::make_unexpected(damaged().error());
  }
  std::vector<Section> sections(file->e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto header = reader.at<Elf64_Shdr>(file->e_shoff + i * sizeof(Elf64_Shdr));
    if (!header) return tl::make_unexpected(damaged().error());
    sections[i].header = *header;
  }
  if (file->e_shstrndx >= sections.size()) return tl::make_unexpected(damaged().error());
  const Elf64_Shdr names = sections[file->e_shstrndx].header;
  for (Section& section : sections) {
    section.name = reader.text(names.sh_offset, names.sh_size, section.header.sh_name);
    if (section.header.sh_type != SHT_RELA || section.header.sh_info >= sections.size()) continue;
    Section& target = sections[section.header.sh_info];
    target.addresses = section.header.sh_size / sizeof(Elf64_Rela) == target.header.sh_size / sizeof(std::uint64_t);
  }
  return sections;
}

void add_symbol(const Elf64_Sym& symbol, const std::string& name, const std::vector<Section>& sections,
                ObjectFacts& facts) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  if (type == STT_GNU_IFUNC) facts.indirect_functions = true;
  if (symbol.st_shndx == SHN_UNDEF) {
    if (!name.empty()) facts.undefined.push_back(name);
    return;
  }
  if (binding != STB_LOCAL) facts.defined.push_back(name);
  if (symbol.st_shndx == SHN_COMMON) facts.writable.push_back(demangled(name));
  if (symbol.st_shndx >= sections.size() || (type != STT_OBJECT && type != STT_TLS)) return;
  const Section& home = sections[symbol.st_shndx];
  if (!keeps_values(home) && !(home.name == ".data" && home.addresses)) return;
  (type == STT_TLS ? facts.thread_local_variables : facts.writable).push_back(demangled(name));
}

base::Result<void> read_symbols(const ElfReader& reader, const std::vector<Section>& sections, ObjectFacts& facts) {
  for (const Section& table : sections) {
    if (table.header.sh_type != SHT_SYMTAB || table.header.sh_link >= sections.size()) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.header.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = reader.at<Elf64_Sym>(table.header.sh_offset + at);
      if (!symbol) return damaged();
      const Elf64_Shdr& names = sections[table.header.sh_link].header;
      add_symbol(*symbol, reader.text(names.sh_offset, names.sh_size, symbol->st_name), sections, facts);
    }
  }
  return {};
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost) out += ", ...";
  return out;
}

}  // namespace

base::Result<ObjectFacts> read_object(std::string_view bytes) {
  const ElfReader reader(bytes);
  TRY_ASSIGN(const std::vector<Section> sections, read_sections(reader));
  ObjectFacts facts;
  TRY(read_symbols(reader, sections, facts));
  for (const Section& section : sections) {
    if (runs_at_load(section)) facts.runs_at_load = true;
    if ((section.header.sh_flags & SHF_EXECINSTR) != 0)
      facts.code_bytes += static_cast<std::int64_t>(section.header.sh_size);
    if (!made_by_compilers(section)) facts.sections.push_back(section.name.empty() ? "(no name)" : section.name);
    // Data without a symbol (inline assembler, string buffers) counts as well.
    if (!keeps_values(section)) continue;
    const bool thread_local_data = (section.header.sh_flags & SHF_TLS) != 0;
    auto& names = thread_local_data ? facts.thread_local_variables : facts.writable;
    if (names.empty()) names.push_back("section " + section.name);
  }
  return facts;
}

std::string refusal(const ObjectFacts& facts, std::string_view entry) {
  if (std::find(facts.defined.begin(), facts.defined.end(), entry) != facts.defined.end()) {
    return "error: the name " + std::string(entry) + " is reserved; rename the function";
  }
  if (!facts.thread_local_variables.empty()) {
    return "error: thread-local variables keep values between calls and are refused: " +
           listed(facts.thread_local_variables) + "; use local variables or memory that the call allocates and frees";
  }
  if (!facts.writable.empty()) {
    return "error: static or global variables that can be written keep values between calls and are refused: " +
           listed(facts.writable) + "; make them const, local, or memory that the call allocates and frees";
  }
  if (facts.runs_at_load) {
    return "error: code that runs before the first call (constructors of global objects, __attribute__((constructor)), "
           "<iostream>) is refused; do the work inside kernel";
  }
  if (facts.indirect_functions) {
    return "error: functions that are chosen while loading (target_clones, ifunc) are refused; the kernel is compiled "
           "for "
           "this machine already";
  }
  if (!facts.sections.empty()) {
    return "error: sections that compilers do not make are refused: " + listed(facts.sections) +
           "; leave code and constants where the compiler puts them";
  }
  if (std::find(facts.defined.begin(), facts.defined.end(), "kernel") == facts.defined.end()) {
    return "error: no function `kernel` with C linkage is defined; define it with the prototype in task.h";
  }
  return {};
}

}  // namespace accelopt::targets::cpu
