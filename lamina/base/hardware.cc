// Hardware facts from /proc and /sys, which may both be incomplete in containers and sandboxes, or else from the
// system.
#include "lamina/base/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "lamina/base/setting.h"
#include "lamina/base/text.h"
#include "lamina/platform/process.h"
#include "lamina/platform/thread.h"

namespace lamina {
namespace {

// The instruction sets worth reporting, in ascending order, by their names in /proc/cpuinfo.
constexpr std::array kVectorInstructions{
    "sse2",     "sse4_1",      "avx",         "f16c",        "fma",      "avx2",     "avx_vnni", "avx512f",
    "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimd",
    "asimdhp",  "asimddp",     "bf16",        "i8mm",        "sve",      "sve2"};

// Arm cores have no name in /proc/cpuinfo, only a number: implementer and part.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kArmCores{{{"0x41:0xd08", "Arm Cortex-A72"},
                                                                                  {"0x41:0xd0b", "Arm Cortex-A76"},
                                                                                  {"0x41:0xd0c", "Arm Neoverse N1"},
                                                                                  {"0x41:0xd40", "Arm Neoverse V1"},
                                                                                  {"0x41:0xd49", "Arm Neoverse N2"},
                                                                                  {"0x41:0xd4f", "Arm Neoverse V2"},
                                                                                  {"0xc0:0xac3", "Ampere-1"},
                                                                                  {"0x61:0x022", "Apple M1"}}};

// Files in /proc and /sys have no size, so this is not ReadFile; a missing file is empty.
std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string FirstLine(const std::string& path) {
  const std::string text = ReadText(path);
  return std::string(Trim(SplitText(text, '\n').front()));
}

// "1024K", "32M", "8388608".
int64_t ParseSize_bytes(std::string_view text) {
  int shift = 0;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M' || text.back() == 'G')) {
    shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : 30;
    text.remove_suffix(1);
  }
  const int64_t value = ParseInteger(text).value_or(0);
  return value > 0 && value <= (int64_t{1} << 62 >> shift) ? value << shift : 0;
}

std::string ArmName(const std::string& implementer, const std::string& part) {
  for (const auto& [id, name] : kArmCores) {
    if (id == implementer + ":" + part) {
      return std::string(name);
    }
  }
  return "";
}

std::atomic<int> most_usual_threads{0};  // 0: no limit

// Drops what only lengthens the name: "(R)", "(TM)", " CPU @ 2.20GHz", " 16-Core Processor".
std::string ShortName(std::string name) {
  for (const std::string_view noise : {"(R)", "(TM)", "(r)", "(tm)", " CPU", " Processor"}) {
    for (size_t at = name.find(noise); at != std::string::npos; at = name.find(noise)) {
      name.erase(at, noise.size());
    }
  }
  name = name.substr(0, name.find(" @"));
  if (const size_t at = name.find("-Core"); at != std::string::npos) {
    name.erase(name.rfind(' ', at) == std::string::npos ? at : name.rfind(' ', at));
  }
  return std::string(Trim(name));
}

void ReadCpuinfo(const std::string& text, HardwareInfo& info) {
  const std::vector<uint64_t> usable = platform::UsableProcessors();
  std::map<std::string, std::string> first;  // the fields of the first processor
  std::set<std::string> cores;
  std::string package;
  bool counted = true;
  for (const std::string_view line : SplitText(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string key(Trim(line.substr(0, colon)));
    const std::string value(Trim(line.substr(colon + 1)));
    first.emplace(key, value);
    if (key == "processor") {
      const int64_t index = ParseInteger(value).value_or(0);
      const auto word = static_cast<size_t>(index) / 64;
      counted = usable.empty() || (word < usable.size() && ((usable[word] >> (index % 64)) & 1U) != 0);
    } else if (key == "physical id") {
      package = value;
    } else if (key == "core id" && counted) {
      cores.insert(package + ":" + value);
    }
  }
  info.physical_cores = static_cast<int>(cores.size());
  info.cpu_name = ShortName(first.contains("model name") ? first["model name"]
                                                         : ArmName(first["CPU implementer"], first["CPU part"]));
  const std::string flags = " " + first["flags"] + first["Features"] + " ";
  for (const char* name : kVectorInstructions) {
    if (flags.find(fmt::format(" {} ", name)) != std::string::npos) {
      info.vector_instructions.emplace_back(name == std::string_view("asimd") ? "neon" : name);
    }
  }
}

void ReadCaches(const std::string& folder, HardwareInfo& info) {
  for (int index = 0; index < 8; ++index) {
    const std::string cache = fmt::format("{}/index{}/", folder, index);
    const std::string level = FirstLine(cache + "level");
    const int64_t size_bytes = ParseSize_bytes(FirstLine(cache + "size"));
    if (FirstLine(cache + "type") == "Instruction") {
      continue;
    }
    if (level == "1") {
      info.l1d_bytes = size_bytes;
    } else if (level == "2") {
      info.l2_bytes = size_bytes;
    } else if (level == "3") {
      info.l3_bytes = size_bytes;
    }
  }
  int level = 0;
  for (int64_t* size_bytes : {&info.l1d_bytes, &info.l2_bytes, &info.l3_bytes}) {
    ++level;
    if (*size_bytes == 0) {
      *size_bytes = platform::CacheSize_bytes(level);
    }
  }
}

// The smallest limit of this process's control group and its ancestors: version 2, else version 1.
int64_t MemoryLimit_bytes(const std::string& root) {
  int64_t limit = 0;
  const auto tighten = [&limit](const std::string& path) {
    const int64_t value = ParseSize_bytes(FirstLine(path));  // "max" is 0
    constexpr int64_t kNoLimit = int64_t{1} << 60;           // version 1 writes a huge number for none
    if (value > 0 && value < kNoLimit && (limit == 0 || value < limit)) {
      limit = value;
    }
  };
  const std::string groups = ReadText(root + "proc/self/cgroup");
  for (const std::string_view line : SplitText(groups, '\n')) {
    const auto fields = SplitText(line, ':');
    if (fields.size() < 3) {
      continue;
    }
    const bool version1 = fields[1] == "memory";
    if (!version1 && fields[0] != "0") {
      continue;
    }
    const std::string mount = root + (version1 ? "sys/fs/cgroup/memory" : "sys/fs/cgroup");
    const char* file = version1 ? "/memory.limit_in_bytes" : "/memory.max";
    for (std::string path(fields[2]); path.size() > 1; path.erase(path.rfind('/'))) {
      tighten(mount + path + file);
    }
    tighten(mount + file);  // inside a container the group's own folder is the root
  }
  return limit;
}

void ReadMemory(const std::string& root, HardwareInfo& info) {
  const std::string text = ReadText(root + "proc/meminfo");
  for (const std::string_view line : SplitText(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      continue;
    }
    const std::string_view key = line.substr(0, colon);
    const int64_t kib = ParseInteger(SplitText(Trim(line.substr(colon + 1)), ' ').front()).value_or(0);
    if (key == "MemTotal") {
      info.memory_total_bytes = kib * 1024;
    } else if (key == "MemAvailable") {
      info.memory_available_bytes = kib * 1024;
    }
  }
  if (info.memory_total_bytes == 0) {
    info.memory_total_bytes = platform::InstalledMemory_bytes();
  }
  if (info.memory_available_bytes == 0) {
    info.memory_available_bytes = platform::FreeMemory_bytes();
  }
  info.memory_limit_bytes = MemoryLimit_bytes(root);
}

std::string OsName(const std::string& root) {
  std::string name;
  const std::string release = ReadText(root + "etc/os-release");
  for (std::string_view line : SplitText(release, '\n')) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (line.starts_with(kKey)) {
      line.remove_prefix(kKey.size());
      name = std::string(line);
      std::erase(name, '"');
      name += ", ";
    }
  }
  return name + platform::KernelName();
}

std::string VectorSummary(const HardwareInfo& info) {
  std::string text;
  if (info.Has("avx512f")) {
    text = "AVX-512";
  } else if (info.Has("avx2")) {
    text = "AVX2";
  } else if (info.Has("sve")) {
    text = "SVE";
  } else if (info.Has("neon")) {
    text = "NEON";
  } else if (info.Has("sse2")) {
    text = "SSE2";
  }
  return info.Has("amx_tile") ? text + " + AMX" : text;
}

}  // namespace

bool HardwareInfo::Has(const std::string& vector_instruction) const {
  return std::find(vector_instructions.begin(), vector_instructions.end(), vector_instruction) !=
         vector_instructions.end();
}

int64_t HardwareInfo::UsableMemory_bytes() const {
  return memory_limit_bytes == 0 ? memory_available_bytes : std::min(memory_available_bytes, memory_limit_bytes);
}

std::string HardwareInfo::OneLine() const {
  std::string text = cpu_name.empty() ? "unknown processor" : cpu_name;
  text += fmt::format(", {} {}", logical_cores, logical_cores == 1 ? "core" : "cores");
  if (physical_cores > 0 && physical_cores < logical_cores) {
    text += fmt::format(" ({} physical)", physical_cores);
  }
  if (const std::string summary = VectorSummary(*this); !summary.empty()) {
    text += ", " + summary;
  }
  if (l2_bytes > 0) {
    text += ", L2 " + BytesText(l2_bytes);
  }
  const int64_t memory_bytes =
      memory_limit_bytes == 0 ? memory_total_bytes : std::min(memory_total_bytes, memory_limit_bytes);
  return memory_bytes == 0 ? text : text + ", " + BytesText(memory_bytes);
}

HardwareInfo QueryHardware(const std::string& root) {
  const std::string base = root.ends_with('/') ? root : root + "/";
  HardwareInfo info;
  const std::string processors = platform::ProcessorsText();
  ReadCpuinfo(processors.empty() ? ReadText(base + "proc/cpuinfo") : processors, info);
  info.logical_cores = UsableCores();
  if (info.physical_cores == 0 || info.physical_cores > info.logical_cores) {
    info.physical_cores = info.logical_cores;
  }
  ReadCaches(base + "sys/devices/system/cpu/cpu0/cache", info);
  ReadMemory(base, info);
  info.os = OsName(base);
  return info;
}

int UsableCores() {
  const std::vector<uint64_t> usable = platform::UsableProcessors();
  if (!usable.empty()) {
    return std::max(1, platform::CountOf(usable));
  }
  return static_cast<int>(platform::RunningProcessors());
}

int UsualThreads() {
  static const int told = [] {
    const char* const text = std::getenv("OMP_NUM_THREADS");  // "4", or "4,2": of loops within loops
    const auto number = ParseInteger(text == nullptr ? "" : Trim(SplitText(text, ',').front()));
    return static_cast<int>(std::clamp<int64_t>(number.value_or(0), 0, static_cast<int64_t>(kThreadCounts.high)));
  }();
  const int threads = told > 0 ? told : UsableCores();
  const int most = most_usual_threads.load(std::memory_order_relaxed);
  return most > 0 ? std::min(threads, most) : threads;
}

void LimitUsualThreads(int most) { most_usual_threads.store(most, std::memory_order_relaxed); }

}  // namespace lamina
