// SPDX-License-Identifier: Apache-2.0
// Linked kernels: what a dynamic linker could do while it loads one is found, and damaged files do no harm.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "base/files.hpp"
#include "small_task.hpp"
#include "targets/cpu/arena/protocol.hpp"
#include "targets/cpu/build.hpp"
#include "targets/cpu/elf_object.hpp"
#include "targets/cpu/linked_object.hpp"

namespace accelopt::targets::cpu {
namespace {

/// A kernel with constant tables of addresses, libraries, exceptions.
constexpr const char* kRich = R"(#include "task.h"
#include <math.h>
#include <stdexcept>
#include <vector>
static float once(float v) { return v; }
static float twice(float v) { return 2 * v; }
typedef float (*Function)(float);
static const Function functions[] = {once, twice, expf};
extern "C" void kernel(const float* x, const float* g, float s, float* y, int64_t M) {
  std::vector<float> kept(x, x + M);
  try {
    for (int64_t i = 0; i < M; ++i) y[i] = functions[M % 3](kept.at(i)) + g[0] + s;
  } catch (const std::out_of_range&) {
    y[0] = 0;
  }
}
)";

base::Result<BuiltKernelPtr> built(const std::string& text, const char* compiler_name = "") {
  TRY_ASSIGN(const Compiler compiler, find_compiler(compiler_name, kPath));
  TRY_ASSIGN(const auto builder, KernelBuilder::create(small_task(), {compiler, {}, nullptr}, {}));
  return builder->build(model::Kernel(solution_of(text)), {});
}

std::string refusal_of(const std::string& bytes) {
  const auto object = read_linked(bytes, kEntrySymbol);
  return object ? object->refusal : object.error().message;
}

template <class T>
T read(const std::string& bytes, std::uint64_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

template <class T>
std::string with(std::string bytes, std::uint64_t at, const T& value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

/// Places in the file of a built kernel.
struct Places {
  explicit Places(const std::string& bytes) {
    const auto file = read<Elf64_Ehdr>(bytes, 0);
    for (unsigned i = 0; i < file.e_phnum; ++i) {
      const std::uint64_t at = file.e_phoff + i * sizeof(Elf64_Phdr);
      const auto header = read<Elf64_Phdr>(bytes, at);
      segments[header.p_type] = at;
      if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0) data = header;
      if (header.p_type != PT_DYNAMIC) continue;
      for (std::uint64_t entry = header.p_offset; read<Elf64_Dyn>(bytes, entry).d_tag != DT_NULL;
           entry += sizeof(Elf64_Dyn)) {
        dynamic[read<Elf64_Dyn>(bytes, entry).d_tag] = entry;
      }
    }
  }
  std::map<std::uint32_t, std::uint64_t> segments;
  std::map<Elf64_Sxword, std::uint64_t> dynamic;
  Elf64_Phdr data{};
};

TEST(LinkedObjectTest, HonestKernelsPassAndTheirDataIsReadOnly) {
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!find_compiler(compiler, kPath)) continue;
    for (const char* text : {kSmallBaseline, kRich}) {
      const auto kernel = built(text, compiler.c_str());
      ASSERT_TRUE(kernel) << kernel.error().message;
      ASSERT_TRUE((*kernel)->report.built) << compiler << (*kernel)->report.diagnostics;
      const std::string& bytes = (*kernel)->shared_object;
      EXPECT_EQ(refusal_of(bytes), "") << compiler;
      const Places places(bytes);
      const auto sealed = read<Elf64_Phdr>(bytes, places.segments.at(PT_GNU_RELRO));
      EXPECT_EQ(sealed.p_vaddr, places.data.p_vaddr);
      EXPECT_GE(sealed.p_vaddr + sealed.p_memsz, places.data.p_vaddr + places.data.p_memsz);
      EXPECT_EQ((sealed.p_vaddr + sealed.p_memsz) % 4096, 0U);
    }
  }
}

TEST(LinkedObjectTest, EveryWayToActWhileLoadingIsRefused) {
  const auto kernel = built(kRich);
  ASSERT_TRUE(kernel && (*kernel)->report.built);
  const std::string& good = (*kernel)->shared_object;
  const Places places(good);
  for (const Elf64_Sxword tag :
       {DT_INIT, DT_FINI, DT_INIT_ARRAY, DT_FINI_ARRAY, DT_PREINIT_ARRAY, DT_AUXILIARY, DT_FILTER, DT_RPATH, DT_RUNPATH,
        DT_TEXTREL, DT_SYMBOLIC, DT_AUDIT, DT_DEPAUDIT, DT_DEBUG, DT_TLSDESC_PLT, DT_RELR}) {
    Elf64_Dyn entry = read<Elf64_Dyn>(good, places.dynamic.at(DT_SONAME));
    entry.d_tag = tag;
    EXPECT_NE(refusal_of(with(good, places.dynamic.at(DT_SONAME), entry)), "") << tag;
  }
  // Thread-local data, an interpreter, SHLIB, the headers themselves, something unknown.
  for (const std::uint32_t type : {7U, 3U, 5U, 6U, 0x60000000U}) {
    EXPECT_NE(refusal_of(with(good, places.segments.at(PT_GNU_EH_FRAME), type)), "") << type;
  }
  const std::uint64_t flags = offsetof(Elf64_Phdr, p_flags);
  EXPECT_NE(refusal_of(with(good, places.segments.at(PT_GNU_STACK) + flags, PF_R | PF_W | PF_X)), "");
  EXPECT_NE(refusal_of(with(good, places.segments.at(PT_LOAD) + flags, PF_R | PF_W | PF_X)), "");
  const std::uint64_t value = offsetof(Elf64_Dyn, d_un);
  EXPECT_NE(refusal_of(with(good, places.dynamic.at(DT_FLAGS) + value, std::uint64_t{DF_BIND_NOW | DF_TEXTREL})), "");
  EXPECT_NE(refusal_of(with(good, places.dynamic.at(DT_FLAGS_1) + value, std::uint64_t{DF_1_NOW | DF_1_INITFIRST})),
            "");
  for (const Elf64_Sxword tag : {DT_STRTAB, DT_SYMTAB, DT_RELA, DT_JMPREL, DT_GNU_HASH, DT_VERSYM, DT_VERNEED}) {
    EXPECT_NE(refusal_of(with(good, places.dynamic.at(tag) + value, places.data.p_vaddr)), "") << tag;
  }
  const auto library = read<Elf64_Dyn>(good, places.dynamic.at(DT_NEEDED));
  EXPECT_NE(refusal_of(with(good, places.dynamic.at(DT_NEEDED) + value, library.d_un.d_val + 3)), "");
}

TEST(LinkedObjectTest, RelocationsStoreOwnAddressesInOwnConstants) {
  const auto kernel = built(kRich);
  ASSERT_TRUE(kernel && (*kernel)->report.built);
  const std::string& good = (*kernel)->shared_object;
  if (read<Elf64_Ehdr>(good, 0).e_machine != EM_X86_64) GTEST_SKIP() << "relocations of another machine";
  const Places places(good);
  const std::uint64_t table = read<Elf64_Dyn>(good, places.dynamic.at(DT_RELA)).d_un.d_val;  // in the first segment
  const auto first = read<Elf64_Rela>(good, table);
  ASSERT_EQ(ELF64_R_TYPE(first.r_info), static_cast<unsigned>(R_X86_64_RELATIVE)) << "of " << table;
  const auto changed = [&](auto change) {
    Elf64_Rela entry = first;
    change(entry);
    return refusal_of(with(good, table, entry));
  };
  EXPECT_EQ(changed([](Elf64_Rela&) {}), "");
  const std::uint64_t dynamic = read<Elf64_Phdr>(good, places.segments.at(PT_DYNAMIC)).p_vaddr;
  for (const std::uint64_t target : {kControlAddress, std::uint64_t{0}, table, dynamic, dynamic - 4, dynamic + 8,
                                     places.data.p_vaddr - 8, places.data.p_vaddr + places.data.p_filesz - 4}) {
    EXPECT_NE(changed([&](Elf64_Rela& entry) { entry.r_offset = target; }), "") << target;
  }
  for (const Elf64_Sxword addend :
       {std::int64_t{-1}, static_cast<std::int64_t>(kControlAddress), std::int64_t{1} << 40}) {
    EXPECT_NE(changed([&](Elf64_Rela& entry) { entry.r_addend = addend; }), "") << addend;
  }
  const auto last = table + read<Elf64_Dyn>(good, places.dynamic.at(DT_RELASZ)).d_un.d_val - sizeof(Elf64_Rela);
  for (const int number : {R_X86_64_IRELATIVE, R_X86_64_COPY, R_X86_64_DTPMOD64, R_X86_64_TPOFF64, R_X86_64_TLSDESC,
                           R_X86_64_PC32, R_X86_64_SIZE64}) {
    const auto type = static_cast<std::uint64_t>(number);
    EXPECT_NE(changed([&](Elf64_Rela& entry) { entry.r_info = ELF64_R_INFO(0, type); }), "") << type;
    Elf64_Rela entry = read<Elf64_Rela>(good, last);
    entry.r_info = ELF64_R_INFO(ELF64_R_SYM(entry.r_info), type);
    EXPECT_NE(refusal_of(with(good, last, entry)), "") << type;
  }
}

TEST(LinkedObjectTest, DamagedFilesDoNoHarm) {
  const auto kernel = built(kRich);
  ASSERT_TRUE(kernel && (*kernel)->report.built);
  const std::string& good = (*kernel)->shared_object;
  const Places places(good);
  const std::uint64_t last = places.data.p_offset;  // all that is judged ends behind it
  for (std::size_t bytes = 0; bytes < good.size(); bytes += bytes < 4096 ? 1 : 97) {
    const std::string cut = good.substr(0, bytes);
    static_cast<void>(without_writable_data(cut));
    static_cast<void>(read_object(cut));
    EXPECT_TRUE(bytes > last || !refusal_of(cut).empty()) << bytes;
  }
  std::mt19937_64 random(7);
  const std::uint64_t headers = sizeof(Elf64_Ehdr) + 16 * sizeof(Elf64_Phdr);
  for (int attempt = 0; attempt < 20000; ++attempt) {
    std::string flipped = good;
    for (int flips = 0; flips < 3; ++flips) {
      const std::uint64_t dynamic = places.dynamic.begin()->second;
      const std::uint64_t at = attempt % 3 == 0   ? random() % headers
                               : attempt % 3 == 1 ? dynamic + random() % 512
                                                  : random() % good.size();
      if (at < flipped.size()) flipped[at] = static_cast<char>(random());
    }
    static_cast<void>(refusal_of(flipped));
    static_cast<void>(without_writable_data(flipped));
    static_cast<void>(read_object(flipped));
  }
}

}  // namespace
}  // namespace accelopt::targets::cpu
