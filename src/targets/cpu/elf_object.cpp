// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/elf_object.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

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

/// Bounds-checked reading of the file's tables.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes_.data() + offset, sizeof out);
    return out;
  }

  std::string text(const Elf64_Shdr& strings, std::uint64_t offset) const {
    const std::uint64_t start = strings.sh_offset + offset;
    if (offset >= strings.sh_size || start >= bytes_.size()) return {};
    const std::string_view rest = bytes_.substr(start, strings.sh_size - offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

 private:
  std::string_view bytes_;
};

struct Section {
  Elf64_Shdr header{};
  std::string name;
};

/// Data that may be written once, while relocations are applied, and constants of the exception machinery.
bool harmless(const Section& section) {
  return section.name.starts_with(".data.rel.ro") || section.name.find("DW.ref.") != std::string::npos ||
         section.name == ".eh_frame" || section.name == ".got" || section.name == ".got.plt" ||
         section.name == ".dynamic" || section.name == ".tm_clone_table";
}

bool keeps_values(const Section& section) {
  const Elf64_Shdr& header = section.header;
  constexpr std::uint64_t kWritable = SHF_ALLOC | SHF_WRITE;
  return (header.sh_flags & kWritable) == kWritable && header.sh_size > 0 && !harmless(section) &&
         (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_NOBITS);
}

bool runs_at_load(const Section& section) {
  if (section.header.sh_size == 0) return false;
  const auto type = section.header.sh_type;
  return type == SHT_INIT_ARRAY || type == SHT_FINI_ARRAY || type == SHT_PREINIT_ARRAY ||
         section.name.starts_with(".ctors") || section.name.starts_with(".dtors") || section.name == ".init" ||
         section.name == ".fini";
}

base::Result<std::vector<Section>> read_sections(const Reader& reader) {
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
  for (Section& section : sections) section.name = reader.text(names, section.header.sh_name);
  return sections;
}

void add_symbol(const Elf64_Sym& symbol, const std::string& name, const std::vector<Section>& sections,
                ObjectFacts& facts) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  if (type == STT_GNU_IFUNC) facts.indirect_functions = true;
  if (symbol.st_shndx == SHN_UNDEF) return;
  if (binding != STB_LOCAL) facts.defined.push_back(name);
  if (symbol.st_shndx == SHN_COMMON) facts.writable.push_back(demangled(name));
  if (symbol.st_shndx >= sections.size() || (type != STT_OBJECT && type != STT_TLS)) return;
  if (!keeps_values(sections[symbol.st_shndx])) return;
  (type == STT_TLS ? facts.thread_local_variables : facts.writable).push_back(demangled(name));
}

base::Result<void> read_symbols(const Reader& reader, const std::vector<Section>& sections, ObjectFacts& facts) {
  for (const Section& table : sections) {
    if (table.header.sh_type != SHT_SYMTAB || table.header.sh_link >= sections.size()) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.header.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = reader.at<Elf64_Sym>(table.header.sh_offset + at);
      if (!symbol) return damaged();
      add_symbol(*symbol, reader.text(sections[table.header.sh_link].header, symbol->st_name), sections, facts);
    }
  }
  return {};
}

base::Result<void> read_libraries(const Reader& reader, const std::vector<Section>& sections, ObjectFacts& facts) {
  for (const Section& table : sections) {
    if (table.header.sh_type != SHT_DYNAMIC || table.header.sh_link >= sections.size()) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table.header.sh_size; at += sizeof(Elf64_Dyn)) {
      const auto entry = reader.at<Elf64_Dyn>(table.header.sh_offset + at);
      if (!entry) return damaged();
      if (entry->d_tag == DT_NEEDED) {
        facts.libraries.push_back(reader.text(sections[table.header.sh_link].header, entry->d_un.d_val));
      }
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
  const Reader reader(bytes);
  TRY_ASSIGN(const std::vector<Section> sections, read_sections(reader));
  ObjectFacts facts;
  TRY(read_symbols(reader, sections, facts));
  TRY(read_libraries(reader, sections, facts));
  for (const Section& section : sections) {
    if (runs_at_load(section)) facts.runs_at_load = true;
    if ((section.header.sh_flags & SHF_EXECINSTR) != 0)
      facts.code_bytes += static_cast<std::int64_t>(section.header.sh_size);
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
  if (std::find(facts.defined.begin(), facts.defined.end(), "kernel") == facts.defined.end()) {
    return "error: no function `kernel` with C linkage is defined; define it with the prototype in task.h";
  }
  return {};
}

}  // namespace accelopt::targets::cpu
