// SPDX-License-Identifier: Apache-2.0
// What cuModuleGetGlobal finds in a module of the fake driver.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace accelopt_fakes {

/// Address and bytes, by the symbol's name.
using Variables = std::map<std::string, std::pair<std::uint64_t, std::size_t>>;

/// What lies in the sections of variables, wherever the image was loaded, by its symbols, local ones as well.
inline Variables variables_of(const char* image, void* library) {
  Variables out;
  link_map* loaded = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0) return out;
  const auto* const header = reinterpret_cast<const Elf64_Ehdr*>(image);
  const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(image + header->e_shoff);
  const char* const section_names = image + sections[header->e_shstrndx].sh_offset;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* const names = image + sections[sections[i].sh_link].sh_offset;
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(image + sections[i].sh_offset);
    for (std::size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s) {
      const Elf64_Sym& symbol = symbols[s];
      if (symbol.st_shndx >= header->e_shnum || ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT) continue;
      const std::string section = section_names + sections[symbol.st_shndx].sh_name;
      if (section == ".nv.global" || section == ".nv.constant3")
        out[names + symbol.st_name] = {loaded->l_addr + symbol.st_value, symbol.st_size};
    }
  }
  return out;
}

}  // namespace accelopt_fakes
