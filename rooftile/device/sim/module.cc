// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/sim/module.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <unordered_map>

#include "rooftile/base/mapped_file.h"

// The linker's way to this thread's copy of a module's variables; allocates it when it is new.
extern "C" void* __tls_get_addr(std::size_t*);

namespace rooftile::sim {
namespace {

struct LoadedModule {
  std::string path;
  std::uint64_t base = 0;
  std::uint64_t data_begin = 0;  // of all segments
  std::uint64_t data_end = 0;
  std::uint64_t begin = 0;  // of the code
  std::uint64_t end = 0;
  std::size_t tls_module = 0;
  std::uint32_t tls_bytes = 0;
};

std::string own_path() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

std::vector<LoadedModule> loaded_modules() {
  std::vector<LoadedModule> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        LoadedModule module{.path = info->dlpi_name[0] != 0 ? info->dlpi_name : own_path(),
                            .base = info->dlpi_addr,
                            .data_begin = ~std::uint64_t{0},
                            .begin = ~std::uint64_t{0}};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD) {
            module.data_begin = std::min(module.data_begin, begin);
            module.data_end = std::max(module.data_end, begin + segment.p_memsz);
          }
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
            module.begin = std::min(module.begin, begin);
            module.end = std::max(module.end, begin + segment.p_memsz);
          } else if (segment.p_type == PT_TLS) {
            module.tls_module = info->dlpi_tls_modid;
            module.tls_bytes = static_cast<std::uint32_t>(segment.p_memsz);
          }
        }
        static_cast<std::vector<LoadedModule>*>(out)->push_back(module);
        return 0;
      },
      &modules);
  return modules;
}

std::string demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = text != nullptr ? text : name;
  std::free(text);
  return out;
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

/// "transpose<0>(float const*, float*, int)::tile" without the parameters of the function.
std::string variable_name(const char* symbol) {
  std::string text = demangled(symbol);
  erase_all(text, "(anonymous namespace)::");
  const std::size_t name = text.rfind("::");
  const std::size_t parameters = text.find('(');
  if (name != std::string::npos && parameters != std::string::npos && parameters < name)
    text.erase(parameters, name - parameters);
  if (text.starts_with("void ")) text.erase(0, 5);
  return text;
}

constexpr std::array kNotTheKernel{"/rooftile/tile/", "/include/c++/", "/rooftile/formats/"};

/// Lines of addr2line -i are innermost first.
std::string first_of_kernel(std::FILE* lines) {
  std::array<char, 2048> line{};
  std::string place = "?";
  while (std::fgets(line.data(), line.size(), lines) != nullptr) {
    place = line.data();
    if (std::none_of(kNotTheKernel.begin(), kNotTheKernel.end(),
                     [&](const char* part) { return place.find(part) != std::string::npos; }))
      break;
  }
  place.erase(0, place.rfind('/') + 1);
  if (const std::size_t extra = place.find(" ("); extra != std::string::npos) place.resize(extra);
  while (!place.empty() && place.back() == '\n') place.pop_back();
  return place;
}

std::string look_up(std::uint32_t pc) {
  for (const LoadedModule& module : loaded_modules()) {
    const std::uint64_t candidate = (module.begin & ~std::uint64_t{0xffffffff}) | pc;
    for (const std::uint64_t address : {candidate, candidate + (std::uint64_t{1} << 32)}) {
      if (address < module.begin || address >= module.end) continue;
      std::array<char, 64> offset{};
      // Why minus one: a return address is behind the call, whose line is meant.
      std::snprintf(offset.data(), offset.size(), "0x%llx",
                    static_cast<unsigned long long>(address - module.base - 1));
      const std::string command =
          "addr2line -i -e '" + module.path + "' " + offset.data() + " 2>/dev/null";
      std::FILE* lines = popen(command.c_str(), "r");
      if (lines == nullptr) return "?";
      const std::string place = first_of_kernel(lines);
      pclose(lines);
      return place;
    }
  }
  return "?";
}

}  // namespace

std::string source_line(std::uint32_t pc) {
  static std::mutex mutex;
  static std::unordered_map<std::uint32_t, std::string> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(pc);
  if (found != known.end()) return found->second;
  return known[pc] = look_up(pc);
}

const Module& Module::of(const void* code) {
  static std::mutex mutex;
  static std::map<std::uint64_t, std::unique_ptr<const Module>> modules;
  const std::scoped_lock lock(mutex);
  for (const LoadedModule& loaded : loaded_modules()) {
    const auto address = reinterpret_cast<std::uint64_t>(code);
    if (address < loaded.begin || address >= loaded.end) continue;
    std::unique_ptr<const Module>& module = modules[loaded.base];
    if (module == nullptr) module.reset(new Module(code));
    return *module;
  }
  static const Module none(nullptr);
  return none;
}

Module::Module(const void* code) {
  for (const LoadedModule& loaded : loaded_modules()) {
    const auto address = reinterpret_cast<std::uint64_t>(code);
    if (address < loaded.begin || address >= loaded.end) continue;
    path_ = loaded.path;
    begin_ = loaded.data_begin;
    end_ = loaded.data_end;
    tls_module_ = loaded.tls_module;
    tls_bytes_ = loaded.tls_bytes;
    read_symbols();
  }
}

void Module::read_symbols() {
  const MappedFile file(path_);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.bytes().data());
  const std::uint64_t size = file.bytes().size();
  if (size < sizeof(Elf64_Ehdr)) return;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes);
  if (header->e_shoff + std::uint64_t{header->e_shnum} * sizeof(Elf64_Shdr) > size) return;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    has_symbols_ = true;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes + sections[i].sh_offset);
    const auto* names =
        reinterpret_cast<const char*>(bytes + sections[sections[i].sh_link].sh_offset);
    for (std::uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k) {
      if (ELF64_ST_TYPE(symbols[k].st_info) != STT_TLS) continue;
      const std::string name = names + symbols[k].st_name;
      // A __shared__ variable is local to a function; a guard is that of its constructor.
      const bool is_guard = name.starts_with("_ZGVZ");
      if (!name.starts_with("_ZZ") && !is_guard) continue;
      const auto begin = static_cast<std::uint32_t>(symbols[k].st_value);
      variables_.push_back({begin, begin + static_cast<std::uint32_t>(symbols[k].st_size), is_guard,
                            variable_name(name.c_str())});
    }
  }
  std::sort(variables_.begin(), variables_.end(),
            [](const SharedVariable& a, const SharedVariable& b) { return a.begin < b.begin; });
}

std::uint8_t* Module::thread_local_storage() const {
  if (tls_bytes_ == 0) return nullptr;
  std::size_t index[2] = {tls_module_, 0};
  return static_cast<std::uint8_t*>(__tls_get_addr(index));
}

const SharedVariable* Module::find(std::uint32_t offset) const {
  const auto after = std::upper_bound(
      variables_.begin(), variables_.end(), offset,
      [](std::uint32_t at, const SharedVariable& variable) { return at < variable.begin; });
  if (after == variables_.begin()) return nullptr;
  const SharedVariable& variable = *std::prev(after);
  return offset < variable.end ? &variable : nullptr;
}

}  // namespace rooftile::sim
