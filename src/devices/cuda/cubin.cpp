// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "base/hash.hpp"

namespace accelopt::devices::cuda {
namespace {

using base::ErrorCode;

constexpr unsigned char kEntryFunction = 0x10;  ///< in a symbol's st_other: a __global__ function

// Attributes of the sections .nv.info and .nv.info.<kernel>, as cuobjdump names them: EIFMT_SVAL, EIATTR_...
constexpr std::uint8_t kSizedFormat = 0x04;
constexpr std::uint8_t kMaxThreads = 0x05;
constexpr std::uint8_t kParameterBank = 0x0a;
constexpr std::uint8_t kExternals = 0x0f;
constexpr std::uint8_t kRequiredThreads = 0x10;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kMinimalStackSize = 0x12;
constexpr std::uint8_t kParameterInfo = 0x17;
constexpr std::uint8_t kRegisterCount = 0x2f;
constexpr std::uint8_t kClusterSize = 0x3d;

struct CubinSection {
  Elf64_Shdr header{};
  std::string name;
  std::string_view bytes;  ///< empty where the section takes no room in the file
};

struct CubinSymbol {
  Elf64_Sym entry{};
  std::string name;
};

struct CubinRelocation {
  std::size_t section = 0;  ///< that is patched
  std::uint64_t offset = 0;
  std::uint64_t type = 0;
  std::int64_t addend = 0;
  std::size_t symbol = 0;
};

struct Attribute {
  std::uint8_t format = 0;
  std::uint8_t name = 0;
  std::string_view value;
};

template <class T>
std::optional<T> value_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T out;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

std::string text_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  strings.remove_prefix(offset);
  return std::string(strings.substr(0, strings.find('\0')));
}

/// The attributes of a .nv.info section; what is cut off is left out.
std::vector<Attribute> attributes_of(std::string_view bytes) {
  std::vector<Attribute> out;
  while (bytes.size() >= 4) {
    Attribute attribute{static_cast<std::uint8_t>(bytes[0]), static_cast<std::uint8_t>(bytes[1]), bytes.substr(2, 2)};
    bytes.remove_prefix(4);
    if (attribute.format == kSizedFormat) {
      const std::size_t size = value_at<std::uint16_t>(attribute.value, 0).value_or(0);
      attribute.value = bytes.substr(0, size);
      bytes.remove_prefix(std::min(size, bytes.size()));
    }
    out.push_back(attribute);
  }
  return out;
}

/// Sections, symbols and relocations, with all bounds checked.
class CubinFile {
 public:
  static std::optional<CubinFile> read(std::string_view bytes) {
    CubinFile out;
    return out.read_sections(bytes) && out.read_symbols() && out.read_relocations() ? std::optional(std::move(out))
                                                                                    : std::nullopt;
  }

  [[nodiscard]] const std::vector<CubinSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<CubinSymbol>& symbols() const { return symbols_; }
  [[nodiscard]] const std::vector<CubinRelocation>& relocations() const { return relocations_; }
  [[nodiscard]] std::uint32_t machine_flags() const { return machine_flags_; }

  [[nodiscard]] const CubinSection* section(std::string_view name) const {
    const auto found = std::find_if(sections_.begin(), sections_.end(),
                                    [&](const CubinSection& candidate) { return candidate.name == name; });
    return found == sections_.end() ? nullptr : &*found;
  }

  /// Where the code of all functions begins.
  [[nodiscard]] std::uint64_t first_code() const {
    std::uint64_t out = std::numeric_limits<std::uint64_t>::max();
    for (const CubinSection& one : sections_) {
      if (one.name.starts_with(".text.")) out = std::min(out, one.header.sh_offset);
    }
    return out;
  }

  [[nodiscard]] const CubinSection* section_of(const CubinSymbol& symbol) const {
    const std::size_t index = symbol.entry.st_shndx;
    return index > 0 && index < sections_.size() ? &sections_[index] : nullptr;
  }

 private:
  bool read_sections(std::string_view bytes) {
    const auto file = value_at<Elf64_Ehdr>(bytes, 0);
    if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_ident[EI_CLASS] != ELFCLASS64)
      return false;
    machine_flags_ = file->e_flags;
    sections_.resize(file->e_shnum);
    if (file->e_shoff > bytes.size()) return false;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const auto header = value_at<Elf64_Shdr>(bytes, file->e_shoff + i * sizeof(Elf64_Shdr));
      if (!header) return false;
      sections_[i].header = *header;
      if (header->sh_type == SHT_NOBITS || header->sh_type == SHT_NULL) continue;
      if (header->sh_offset > bytes.size() || header->sh_size > bytes.size() - header->sh_offset) return false;
      sections_[i].bytes = bytes.substr(header->sh_offset, header->sh_size);
    }
    if (file->e_shstrndx >= sections_.size()) return false;
    const std::string_view names = sections_[file->e_shstrndx].bytes;
    for (CubinSection& section : sections_) section.name = text_at(names, section.header.sh_name);
    return true;
  }

  bool read_symbols() {
    for (const CubinSection& table : sections_) {
      if (table.header.sh_type != SHT_SYMTAB) continue;
      if (table.header.sh_link >= sections_.size() || !symbols_.empty()) return false;
      const std::string_view names = sections_[table.header.sh_link].bytes;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes.size(); at += sizeof(Elf64_Sym)) {
        const auto entry = value_at<Elf64_Sym>(table.bytes, at);
        symbols_.push_back({*entry, text_at(names, entry->st_name)});
      }
    }
    return true;
  }

  bool read_relocations() {
    for (const CubinSection& table : sections_) {
      const bool with_addend = table.header.sh_type == SHT_RELA;
      if (!with_addend && table.header.sh_type != SHT_REL) continue;
      const std::size_t size = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
      if (table.header.sh_info >= sections_.size()) return false;
      for (std::uint64_t at = 0; at + size <= table.bytes.size(); at += size) {
        Elf64_Rela entry{};
        std::memcpy(&entry, table.bytes.data() + at, size);
        const std::size_t symbol = ELF64_R_SYM(entry.r_info);
        if (symbol >= symbols_.size()) return false;
        relocations_.push_back(
            {table.header.sh_info, entry.r_offset, ELF64_R_TYPE(entry.r_info), entry.r_addend, symbol});
      }
    }
    return true;
  }

  std::vector<CubinSection> sections_;
  std::vector<CubinSymbol> symbols_;
  std::vector<CubinRelocation> relocations_;
  std::uint32_t machine_flags_ = 0;
};

bool is_kernel(const CubinSymbol& symbol) {
  return ELF64_ST_TYPE(symbol.entry.st_info) == STT_FUNC && (symbol.entry.st_other & kEntryFunction) != 0 &&
         symbol.entry.st_shndx != SHN_UNDEF;
}

std::array<std::uint32_t, 3> three_of(std::string_view value) {
  std::array<std::uint32_t, 3> out{};
  for (std::size_t i = 0; i < 3; ++i) out[i] = value_at<std::uint32_t>(value, i * 4).value_or(0);
  return out;
}

/// The parameter that an attribute tells of: index, ordinal and offset, and the size in the upper 14 bits of the last
/// word.
void add_parameter(std::string_view value, std::map<std::uint16_t, CubinParameter>& out) {
  const auto ordinal = value_at<std::uint16_t>(value, 4);
  const auto offset = value_at<std::uint16_t>(value, 6);
  const auto rest = value_at<std::uint32_t>(value, 8);
  if (ordinal && offset && rest) out[*ordinal] = {*offset, *rest >> 18};
}

CubinKernel kernel_of(const CubinFile& file, const CubinSymbol& symbol) {
  CubinKernel out;
  out.name = symbol.name;
  if (const CubinSection* code = file.section_of(symbol)) {
    out.code_bytes = static_cast<std::int64_t>(code->bytes.size());
    out.code_offset = static_cast<std::int64_t>(code->header.sh_offset - file.first_code());
  }
  const CubinSection* info = file.section(".nv.info." + symbol.name);
  if (info == nullptr) return out;
  std::map<std::uint16_t, CubinParameter> parameters;
  for (const Attribute& attribute : attributes_of(info->bytes)) {
    if (attribute.format != kSizedFormat) continue;
    if (attribute.name == kParameterInfo) add_parameter(attribute.value, parameters);
    if (attribute.name == kMaxThreads) out.max_threads = three_of(attribute.value);
    if (attribute.name == kRequiredThreads) out.required_threads = three_of(attribute.value);
    if (attribute.name == kClusterSize) out.cluster = three_of(attribute.value);
  }
  for (const auto& [ordinal, parameter] : parameters) out.parameters.push_back(parameter);
  return out;
}

std::vector<CubinVariable> variables_of(const CubinFile& file) {
  std::vector<CubinVariable> out;
  for (const CubinSymbol& symbol : file.symbols()) {
    const CubinSection* section = file.section_of(symbol);
    const bool lasts =
        section != nullptr && (section->name.starts_with(".nv.global") || section->name.starts_with(".nv.constant3"));
    if (!lasts || symbol.entry.st_size == 0 || ELF64_ST_TYPE(symbol.entry.st_info) == STT_SECTION) continue;
    out.push_back({symbol.name, symbol.entry.st_size});
  }
  return out;
}

tl::unexpected<base::Error> damaged_cubin() {
  return base::fail(ErrorCode::corrupt, "the compiler's output is no whole cubin");
}

/// What the launched kernels do, as text without names.
class CodeText {
 public:
  CodeText(const CubinFile& file, const std::vector<std::string>& launched) : file_(file) {
    for (const std::string& name : launched) places_.emplace(name, places_.size());
  }

  std::string text(const std::string& before = {}) {
    if (!before.empty()) put(before);
    std::map<std::string, std::size_t> wanted;  // by the name that counts
    for (std::size_t i = 0; i < file_.sections().size(); ++i) {
      if (const auto name = counting_name(file_.sections()[i]); !name.empty()) wanted.emplace(name, i);
    }
    for (const auto& [name, index] : wanted) put_section(name, index);
    if (const CubinSection* info = file_.section(".nv.info")) put_info(*info);
    return std::move(out_);
  }

 private:
  void put(std::string_view text) {
    out_ += std::to_string(text.size());
    out_ += ':';
    out_ += text;
  }

  /// The section's name with a launched kernel's replaced by its place; empty: the section does not count.
  [[nodiscard]] std::string counting_name(const CubinSection& section) const {
    for (const std::string_view kind :
         {".text.", ".nv.info.", ".nv.shared.", ".nv.local.", ".nv.constant0.", ".nv.constant1.", ".nv.constant2."}) {
      if (!section.name.starts_with(kind)) continue;
      const std::string owner = section.name.substr(kind.size());
      if (const auto found = places_.find(owner); found != places_.end())
        return std::string(kind) + std::to_string(found->second);
      const bool kernel = std::any_of(file_.symbols().begin(), file_.symbols().end(), [&](const CubinSymbol& symbol) {
        return symbol.name == owner && is_kernel(symbol);
      });
      return kernel ? std::string() : section.name;
    }
    return section.name.starts_with(".nv.constant") ? section.name : std::string();
  }

  void put_section(const std::string& name, std::size_t index) {
    const CubinSection& section = file_.sections()[index];
    put(name);
    put(std::to_string(section.header.sh_size));
    if (name.starts_with(".nv.info.")) {
      put_attributes(section);
    } else {
      put(section.bytes);
    }
    for (const CubinRelocation& relocation : file_.relocations()) {
      if (relocation.section != index) continue;
      put(std::to_string(relocation.offset) + " " + std::to_string(relocation.type) + " " +
          std::to_string(relocation.addend));
      put(target(file_.symbols()[relocation.symbol]));
    }
  }

  /// Attributes name symbols by their numbers, which other functions in the file change.
  void put_attributes(const CubinSection& section) {
    for (const Attribute& attribute : attributes_of(section.bytes)) {
      put(std::to_string(attribute.format) + " " + std::to_string(attribute.name));
      std::string_view rest = attribute.value;
      const std::size_t most = attribute.name == kParameterBank ? 1
                               : attribute.name == kExternals   ? rest.size() / 4
                                                                : 0;
      for (std::size_t i = 0; i < most && attribute.format == kSizedFormat; ++i) {
        const auto symbol = value_at<std::uint32_t>(rest, 0);
        if (!symbol || *symbol >= file_.symbols().size()) break;
        put(target(file_.symbols()[*symbol]));
        rest.remove_prefix(sizeof(std::uint32_t));
      }
      put(rest);
    }
  }

  /// Of a variable its bytes: where it lies among others, which headers may have brought, does not count.
  [[nodiscard]] std::string target(const CubinSymbol& symbol) const {
    const CubinSection* section = file_.section_of(symbol);
    if (section == nullptr) return symbol.name;
    const bool variable = section->name.starts_with(".nv.global") && ELF64_ST_TYPE(symbol.entry.st_info) != STT_SECTION;
    if (!variable) return counting_name(*section) + " " + std::to_string(symbol.entry.st_value) + contents(*section);
    const std::size_t begin = std::min<std::size_t>(symbol.entry.st_value, section->bytes.size());
    return "variable " + std::to_string(symbol.entry.st_size) + " " +
           std::string(section->bytes.substr(begin, symbol.entry.st_size));
  }

  /// Of a section of variables that is meant as a whole: its bytes.
  static std::string contents(const CubinSection& section) {
    return section.name.starts_with(".nv.global") ? " " + std::string(section.bytes) : std::string();
  }

  /// Registers and stack of the launched kernels, which stand under their symbols' numbers.
  void put_info(const CubinSection& info) {
    std::map<std::string, std::uint32_t> facts;
    for (const Attribute& attribute : attributes_of(info.bytes)) {
      const bool counts =
          attribute.name == kRegisterCount || attribute.name == kFrameSize || attribute.name == kMinimalStackSize;
      const auto symbol = value_at<std::uint32_t>(attribute.value, 0);
      const auto value = value_at<std::uint32_t>(attribute.value, 4);
      if (!counts || !symbol || !value || *symbol >= file_.symbols().size()) continue;
      if (const auto found = places_.find(file_.symbols()[*symbol].name); found != places_.end())
        facts[std::to_string(found->second) + " " + std::to_string(attribute.name)] = *value;
    }
    for (const auto& [name, value] : facts) put(name + "=" + std::to_string(value));
  }

  const CubinFile& file_;
  std::map<std::string, std::size_t> places_;
  std::string out_;
};

}  // namespace

base::Result<Cubin> read_cubin(std::string_view bytes) {
  const auto file = CubinFile::read(bytes);
  if (!file) return damaged_cubin();
  Cubin out;
  for (const CubinSymbol& symbol : file->symbols()) {
    if (is_kernel(symbol)) out.kernels.push_back(kernel_of(*file, symbol));
    const bool undefined = symbol.entry.st_shndx == SHN_UNDEF && ELF64_ST_TYPE(symbol.entry.st_info) == STT_FUNC;
    if (undefined && !symbol.name.empty()) out.missing.push_back(symbol.name);
  }
  std::sort(out.kernels.begin(), out.kernels.end(),
            [](const CubinKernel& a, const CubinKernel& b) { return a.name < b.name; });
  out.variables = variables_of(*file);
  return out;
}

base::Result<std::string> cubin_code_id(std::string_view bytes, const std::vector<std::string>& launched) {
  const auto file = CubinFile::read(bytes);
  if (!file) return damaged_cubin();
  return base::sha256_hex(CodeText(*file, launched).text(std::to_string(file->machine_flags())));
}

bool is_same_code(std::string_view one, std::string_view other, const std::vector<std::string>& launched) {
  const auto first = CubinFile::read(one);
  const auto second = CubinFile::read(other);
  return first && second && CodeText(*first, launched).text() == CodeText(*second, launched).text();
}

}  // namespace accelopt::devices::cuda
