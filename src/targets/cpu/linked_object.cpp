// SPDX-License-Identifier: Apache-2.0
#include "targets/cpu/linked_object.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "targets/cpu/elf_reader.hpp"

namespace accelopt::targets::cpu {
namespace {

constexpr std::array<std::uint32_t, 7> kSegments{PT_LOAD,      PT_DYNAMIC, PT_GNU_EH_FRAME, PT_GNU_STACK,
                                                 PT_GNU_RELRO, PT_NOTE,    PT_GNU_PROPERTY};

/// What the dynamic linker may find in the dynamic segment. Not among them: initializers and finalizers, filters,
/// auditors, search paths, relocations of code, thread-local data.
constexpr std::array<Elf64_Sxword, 20> kDynamicTags{DT_NEEDED,   DT_PLTRELSZ, DT_PLTGOT,  DT_STRTAB,     DT_SYMTAB,
                                                    DT_RELA,     DT_RELASZ,   DT_RELAENT, DT_STRSZ,      DT_SYMENT,
                                                    DT_SONAME,   DT_PLTREL,   DT_JMPREL,  DT_FLAGS,      DT_FLAGS_1,
                                                    DT_GNU_HASH, DT_VERSYM,   DT_VERNEED, DT_VERNEEDNUM, DT_RELACOUNT};

/// Tags of initializers and finalizers, which get a clearer message.
constexpr std::array<Elf64_Sxword, 5> kCallingTags{DT_INIT, DT_FINI, DT_INIT_ARRAY, DT_FINI_ARRAY, DT_PREINIT_ARRAY};

/// Relocations of one architecture that store an address and do nothing else.
struct PlainRelocations {
  unsigned relative;
  std::array<unsigned, 3> of_symbols;
};

std::optional<PlainRelocations> plain_relocations(unsigned machine) {
  if (machine == EM_X86_64)
    return PlainRelocations{R_X86_64_RELATIVE, {R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT}};
  if (machine == EM_AARCH64) {
    return PlainRelocations{R_AARCH64_RELATIVE, {R_AARCH64_ABS64, R_AARCH64_GLOB_DAT, R_AARCH64_JUMP_SLOT}};
  }
  return std::nullopt;
}

bool known_library(const std::string& name) {
  if (name.find('/') != std::string::npos) return false;
  for (const std::string_view known : {"libc.so.", "libm.so.", "libstdc++.so.", "libgcc_s.so.", "libgomp.so.",
                                       "libomp.so", "libmvec.so.", "ld-linux-", "libpthread.so."}) {
    if (name.starts_with(known)) return true;
  }
  return false;
}

template <class Values, class Value>
bool holds(const Values& values, Value value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Ends before it begins to count again from zero.
bool lies_in(std::uint64_t from, std::uint64_t bytes, std::uint64_t begin, std::uint64_t end) {
  return from >= begin && from <= end && bytes <= end - from;
}

/// One file under judgement. Every `check_` returns what is wrong, or "".
class Judge {
 public:
  Judge(std::string_view bytes, std::string_view entry) : reader_(bytes), bytes_(bytes.size()), entry_(entry) {}

  /// False: not a shared object, or damaged.
  bool read() {
    const auto file = reader_.at<Elf64_Ehdr>(0);
    if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_ident[EI_CLASS] != ELFCLASS64 ||
        file->e_ident[EI_DATA] != ELFDATA2LSB || file->e_type != ET_DYN || file->e_phentsize != sizeof(Elf64_Phdr)) {
      return false;
    }
    if (file->e_phnum > kMostSegments) return false;
    machine_ = file->e_machine;
    for (unsigned i = 0; i < file->e_phnum; ++i) {
      const auto header = reader_.at<Elf64_Phdr>(file->e_phoff + i * sizeof(Elf64_Phdr));
      if (!header) return false;
      segments_.push_back(*header);
    }
    loads_ = of_type(PT_LOAD);
    return read_dynamic();
  }

  [[nodiscard]] std::vector<std::string> libraries() const {
    std::vector<std::string> out;
    for (const std::uint64_t name : needed_) out.push_back(text(name));
    return out;
  }

  [[nodiscard]] std::string refusal() const {
    for (const auto check : {&Judge::check_segments, &Judge::check_loads, &Judge::check_tags, &Judge::check_libraries,
                             &Judge::check_tables, &Judge::check_relocations, &Judge::check_definitions}) {
      if (std::string problem = (this->*check)(); !problem.empty()) return problem;
    }
    return {};
  }

 private:
  [[nodiscard]] std::vector<Elf64_Phdr> of_type(std::uint32_t type) const {
    std::vector<Elf64_Phdr> out;
    std::copy_if(segments_.begin(), segments_.end(), std::back_inserter(out),
                 [type](const Elf64_Phdr& segment) { return segment.p_type == type; });
    return out;
  }

  /// Where in the file lies what is mapped at `address`, with `bytes` bytes; in a segment that can be written or not.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t bytes,
                                                       std::uint32_t writable) const {
    for (const Elf64_Phdr& load : loads_) {
      const std::uint64_t begin = load.p_vaddr;
      if ((load.p_flags & PF_W) != writable || load.p_filesz > bytes_ || begin + load.p_filesz < begin) continue;
      if (lies_in(address, bytes, begin, begin + load.p_filesz)) return load.p_offset + (address - begin);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint64_t value(Elf64_Sxword tag) const {
    const auto found = dynamic_.find(tag);
    return found == dynamic_.end() ? 0 : found->second;
  }
  [[nodiscard]] bool has(Elf64_Sxword tag) const { return dynamic_.contains(tag); }

  [[nodiscard]] std::string text(std::uint64_t name) const {
    const std::uint64_t bytes = value(DT_STRSZ);
    const auto table = offset_of(value(DT_STRTAB), bytes, 0);
    return table ? reader_.text(*table, bytes, name) : std::string();
  }

  bool read_dynamic() {
    const auto segments = of_type(PT_DYNAMIC);
    if (segments.size() != 1) return false;
    dynamic_begin_ = segments.front().p_vaddr;
    dynamic_bytes_ = segments.front().p_memsz;
    auto at = offset_of(dynamic_begin_, dynamic_bytes_, PF_W);
    if (!at) at = offset_of(dynamic_begin_, dynamic_bytes_, 0);
    if (!at) return false;
    for (std::uint64_t i = 0; i + sizeof(Elf64_Dyn) <= dynamic_bytes_; i += sizeof(Elf64_Dyn)) {
      const auto entry = reader_.at<Elf64_Dyn>(*at + i);
      if (!entry) return false;
      if (entry->d_tag == DT_NULL) return true;
      if (entry->d_tag == DT_NEEDED) {
        needed_.push_back(entry->d_un.d_val);
      } else if (!dynamic_.emplace(entry->d_tag, entry->d_un.d_val).second) {
        repeated_ = entry->d_tag;
      }
    }
    return false;
  }

  [[nodiscard]] std::string check_segments() const {
    for (const Elf64_Phdr& segment : segments_) {
      if (!holds(kSegments, segment.p_type)) return fmt::format("a program segment of type {:#x}", segment.p_type);
    }
    const auto stacks = of_type(PT_GNU_STACK);
    if (stacks.size() != 1 || (stacks.front().p_flags & PF_X) != 0) return "an executable stack";
    if (of_type(PT_GNU_RELRO).size() != 1) return "data that cannot be protected";
    return {};
  }

  /// Whole pages of one kind, in order, so that what the file says about an address is what will be there.
  [[nodiscard]] std::string check_loads() const {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::uint64_t end = 0;
    bool written = false;
    for (const Elf64_Phdr& load : loads_) {
      const std::uint64_t begin = load.p_vaddr / page * page;
      if (load.p_filesz > load.p_memsz || load.p_memsz > kMostBytes || load.p_vaddr > kMostBytes ||
          !lies_in(load.p_offset, load.p_filesz, 0, bytes_) || load.p_offset % page != load.p_vaddr % page) {
        return "a program segment that lies outside of the file";
      }
      if (begin < end) return "program segments that overlap";
      if ((load.p_flags & PF_W) != 0 && (load.p_flags & PF_X) != 0) return "memory to write and execute";
      // All of the data lies between the first and the last page that can be written.
      if (written && (load.p_flags & PF_W) == 0) return "data in two places";
      written = written || (load.p_flags & PF_W) != 0;
      end = (load.p_vaddr + load.p_memsz + page - 1) / page * page;
    }
    return written ? std::string() : "no data segment";
  }

  [[nodiscard]] std::string check_tags() const {
    if (repeated_ != 0) return fmt::format("two dynamic entries of type {:#x}", repeated_);
    for (const auto& [tag, ignored] : dynamic_) {
      if (holds(kCallingTags, tag)) return "code that runs before the first call or after the last";
      if (!holds(kDynamicTags, tag)) return fmt::format("a dynamic entry of type {:#x}", tag);
    }
    if ((value(DT_FLAGS) & ~std::uint64_t{DF_BIND_NOW}) != 0 || (value(DT_FLAGS_1) & ~std::uint64_t{DF_1_NOW}) != 0) {
      return "flags for the dynamic linker";
    }
    if (value(DT_FLAGS) == 0 && value(DT_FLAGS_1) == 0) return "functions that are looked up while it runs";
    return {};
  }

  [[nodiscard]] std::string check_libraries() const {
    for (const std::string& library : libraries()) {
      if (!known_library(library)) return "the library \"" + library + "\"";
    }
    return {};
  }

  /// Tables that the dynamic linker follows lie where no relocation writes.
  [[nodiscard]] std::string check_tables() const {
    constexpr std::uint64_t kRela = sizeof(Elf64_Rela);
    const bool whole =
        offset_of(value(DT_STRTAB), value(DT_STRSZ), 0) && offset_of(value(DT_SYMTAB), sizeof(Elf64_Sym), 0) &&
        offset_of(value(DT_GNU_HASH), 16, 0) && offset_of(value(DT_RELA), value(DT_RELASZ), 0) &&
        offset_of(value(DT_JMPREL), value(DT_PLTRELSZ), 0) && (!has(DT_VERSYM) || offset_of(value(DT_VERSYM), 2, 0)) &&
        (!has(DT_VERNEED) || offset_of(value(DT_VERNEED), sizeof(Elf64_Verneed), 0));
    const bool sizes = value(DT_SYMENT) == sizeof(Elf64_Sym) && value(DT_RELASZ) % kRela == 0 &&
                       value(DT_PLTRELSZ) % kRela == 0 && (!has(DT_RELA) || value(DT_RELAENT) == kRela) &&
                       (!has(DT_JMPREL) || value(DT_PLTREL) == DT_RELA) &&
                       value(DT_RELACOUNT) <= value(DT_RELASZ) / kRela;
    return whole && sizes ? std::string() : "tables that lie elsewhere than a linker puts them";
  }

  [[nodiscard]] std::string check_relocations() const {
    const auto plain = plain_relocations(machine_);
    if (!plain) return fmt::format("code for another machine ({})", machine_);
    for (const auto& [table, size] : {std::pair{DT_RELA, DT_RELASZ}, std::pair{DT_JMPREL, DT_PLTRELSZ}}) {
      const auto at = offset_of(value(table), value(size), 0);
      if (!at) continue;
      for (std::uint64_t i = 0; i * sizeof(Elf64_Rela) < value(size); ++i) {
        const auto entry = reader_.at<Elf64_Rela>(*at + i * sizeof(Elf64_Rela));
        if (!entry) return "relocations that end with the file";
        const bool counted = table == DT_RELA && i < value(DT_RELACOUNT);
        if (counted && ELF64_R_TYPE(entry->r_info) != plain->relative) return "relocations that are counted wrongly";
        if (std::string problem = check(*entry, *plain); !problem.empty()) return problem;
      }
    }
    return {};
  }

  [[nodiscard]] std::string check(const Elf64_Rela& entry, const PlainRelocations& plain) const {
    const auto type = static_cast<unsigned>(ELF64_R_TYPE(entry.r_info));
    if (!offset_of(entry.r_offset, sizeof(std::uint64_t), PF_W) ||
        (entry.r_offset + sizeof(std::uint64_t) > dynamic_begin_ && entry.r_offset < dynamic_begin_ + dynamic_bytes_)) {
      return "a relocation of something else than its own constants";
    }
    if (type == plain.relative) {
      const Elf64_Phdr& last = loads_.back();
      const bool inside = lies_in(static_cast<std::uint64_t>(entry.r_addend), 0, 0, last.p_vaddr + last.p_memsz);
      return inside ? std::string() : "a relocation to an address outside of it";
    }
    if (!holds(plain.of_symbols, type)) return fmt::format("a relocation of type {}", type);
    const auto symbol = symbol_at(ELF64_R_SYM(entry.r_info));
    if (!symbol) return "a relocation without a symbol";
    const unsigned kind = ELF64_ST_TYPE(symbol->st_info);
    if (kind != STT_NOTYPE && kind != STT_OBJECT && kind != STT_FUNC) return fmt::format("a symbol of type {}", kind);
    return {};
  }

  [[nodiscard]] std::optional<Elf64_Sym> symbol_at(std::uint64_t index) const {
    if (index > bytes_) return std::nullopt;
    const auto at = offset_of(value(DT_SYMTAB) + index * sizeof(Elf64_Sym), sizeof(Elf64_Sym), 0);
    return at ? reader_.at<Elf64_Sym>(*at) : std::nullopt;
  }

  /// Of the symbols that others can look up: the entry, a function in its code, alone.
  [[nodiscard]] std::string check_definitions() const {
    struct Header {
      std::uint32_t buckets;
      std::uint32_t first;
      std::uint32_t words;
      std::uint32_t shift;
    };
    const std::string wrong = "a hash table that is not whole";
    const std::uint64_t table = value(DT_GNU_HASH);
    const auto at = offset_of(table, sizeof(Header), 0);
    const auto header = at ? reader_.at<Header>(*at) : std::nullopt;
    if (!header || header->buckets > bytes_ || header->words > bytes_) return wrong;
    const std::uint64_t buckets = table + sizeof(Header) + std::uint64_t{header->words} * sizeof(std::uint64_t);
    const std::uint64_t chains = buckets + std::uint64_t{header->buckets} * sizeof(std::uint32_t);
    const auto number_at = [this](std::uint64_t address) {
      const auto place = offset_of(address, sizeof(std::uint32_t), 0);
      return place ? reader_.at<std::uint32_t>(*place) : std::nullopt;
    };
    std::set<std::uint64_t> found;
    for (std::uint32_t bucket = 0; bucket < header->buckets; ++bucket) {
      const auto first = number_at(buckets + bucket * sizeof(std::uint32_t));
      if (!first || (*first != 0 && *first < header->first)) return wrong;
      for (std::uint64_t index = *first; index != 0; ++index) {
        const auto hash = number_at(chains + (index - header->first) * sizeof(std::uint32_t));
        if (!hash) return wrong;
        if (!found.insert(index).second) return wrong;
        if ((*hash & 1) != 0) break;
      }
    }
    const auto symbol = found.size() == 1 ? symbol_at(*found.begin()) : std::nullopt;
    if (!symbol || text(symbol->st_name) != entry_ || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) {
      return "other symbols for the dynamic linker than its entry";
    }
    return {};
  }

  static constexpr std::uint64_t kMostBytes = 1ULL << 32;
  static constexpr unsigned kMostSegments = 64;

  ElfReader reader_;
  std::uint64_t bytes_;
  std::string_view entry_;
  unsigned machine_ = 0;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Phdr> loads_;
  std::uint64_t dynamic_begin_ = 0;
  std::uint64_t dynamic_bytes_ = 0;
  std::map<Elf64_Sxword, std::uint64_t> dynamic_;  ///< but for the libraries
  std::vector<std::uint64_t> needed_;
  Elf64_Sxword repeated_ = 0;
};

}  // namespace

base::Result<LinkedObject> read_linked(std::string_view bytes, std::string_view entry) {
  Judge judge(bytes, entry);
  if (!judge.read()) return base::fail(base::ErrorCode::parse, "the linker's output is not a whole shared object");
  LinkedObject out;
  out.libraries = judge.libraries();
  if (const std::string problem = judge.refusal(); !problem.empty()) {
    out.refusal = "error: the linked kernel has " + problem +
                  ", and is refused; leave sections, relocations and symbols to the compiler";
  }
  return out;
}

std::string without_writable_data(std::string bytes) {
  const ElfReader reader(bytes);
  const auto file = reader.at<Elf64_Ehdr>(0);
  if (!file) return bytes;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  std::optional<std::uint64_t> protected_at;
  for (unsigned i = 0; i < file->e_phnum; ++i) {
    const std::uint64_t at = file->e_phoff + i * sizeof(Elf64_Phdr);
    const auto header = reader.at<Elf64_Phdr>(at);
    if (!header) return bytes;
    if (header->p_type == PT_GNU_RELRO) protected_at = at;
    if (header->p_type != PT_LOAD || (header->p_flags & PF_W) == 0) continue;
    begin = std::min(begin, header->p_vaddr);
    end = std::max(end, (header->p_vaddr + header->p_memsz + page - 1) / page * page);
  }
  if (!protected_at || begin >= end) return bytes;
  auto header = *reader.at<Elf64_Phdr>(*protected_at);
  header.p_vaddr = begin;
  header.p_memsz = end - begin;
  std::memcpy(bytes.data() + *protected_at, &header, sizeof header);
  return bytes;
}

}  // namespace accelopt::targets::cpu
