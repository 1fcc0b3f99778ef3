// Hardware facts of this machine, and of others from copies of their /proc and /sys.
#include "lamina/base/hardware.h"

#include <filesystem>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

class FakeMachine {
 public:
  void Write(const std::string& name, const std::string& content) const {
    const std::string path = folder_.Path(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    WriteFileAtomically(path, content);
  }
  HardwareInfo Query() const { return QueryHardware(folder_.Path()); }

 private:
  TemporaryFolder folder_;
};

TEST(Hardware, ThisMachine) {
  const HardwareInfo info = QueryHardware();
  EXPECT_EQ(info.logical_cores, UsableCores());
  EXPECT_GE(info.physical_cores, 1);
  EXPECT_LE(info.physical_cores, info.logical_cores);
  EXPECT_GT(info.memory_total_bytes, int64_t{1} << 26);
  EXPECT_GT(info.memory_available_bytes, 0);
  EXPECT_LE(info.UsableMemory_bytes(), info.memory_total_bytes);
  EXPECT_FALSE(info.os.empty());
#if defined(__x86_64__)
  EXPECT_TRUE(info.Has("sse2"));
#elif defined(__aarch64__)
  EXPECT_TRUE(info.Has("neon"));
#endif
  EXPECT_EQ(info.OneLine().find('\n'), std::string::npos);
  RecordProperty("hardware", info.OneLine());
}

TEST(Hardware, X86) {
  const FakeMachine machine;
  std::string cpuinfo;
  for (int i = 0; i < 4; ++i) {
    cpuinfo += "processor\t: " + std::to_string(i) +
               "\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz\nphysical id\t: 0\ncore id\t\t: " +
               std::to_string(i / 2) +
               "\nflags\t\t: fpu sse2 avx fma avx2 avx512f avx512bw avx512_bf16 avx512_vnni amx_tile amx_bf16\n\n";
  }
  machine.Write("proc/cpuinfo", cpuinfo);
  machine.Write("proc/meminfo", "MemTotal:       24651776 kB\nMemFree:   1 kB\nMemAvailable:   20000000 kB\n");
  const std::string cache = "sys/devices/system/cpu/cpu0/cache/";
  const auto add = [&](const std::string& index, const char* level, const char* type, const char* size) {
    machine.Write(cache + index + "/level", std::string(level) + "\n");
    machine.Write(cache + index + "/type", std::string(type) + "\n");
    machine.Write(cache + index + "/size", std::string(size) + "\n");
  };
  add("index0", "1", "Data", "48K");
  add("index1", "1", "Instruction", "32K");
  add("index2", "2", "Unified", "2048K");
  add("index3", "3", "Unified", "105M");
  machine.Write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Some Linux 7\"\n");
  HardwareInfo info = machine.Query();
  EXPECT_EQ(info.cpu_name, "Intel Xeon Platinum 8480C");
  EXPECT_EQ(info.l1d_bytes, 48 << 10);
  EXPECT_EQ(info.l2_bytes, 2 << 20);
  EXPECT_EQ(info.l3_bytes, int64_t{105} << 20);
  EXPECT_EQ(info.memory_total_bytes, int64_t{24651776} * 1024);
  EXPECT_EQ(info.memory_limit_bytes, 0);
  EXPECT_TRUE(info.os.starts_with("Some Linux 7, Linux ")) << info.os;
  EXPECT_EQ(info.vector_instructions, (std::vector<std::string>{"sse2", "avx", "fma", "avx2", "avx512f", "avx512bw",
                                                                "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16"}));
  info.logical_cores = 4;
  info.physical_cores = 2;
  EXPECT_EQ(info.OneLine(), "Intel Xeon Platinum 8480C, 4 cores (2 physical), AVX-512 + AMX, L2 2 MiB, 23.5 GiB");
}

TEST(Hardware, Arm) {
  const FakeMachine machine;
  machine.Write("proc/cpuinfo",
                "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd crc32 asimdhp asimddp sve i8mm bf16\n"
                "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n");
  HardwareInfo info = machine.Query();
  EXPECT_EQ(info.cpu_name, "Arm Neoverse V2");
  EXPECT_EQ(info.vector_instructions, (std::vector<std::string>{"neon", "asimdhp", "asimddp", "bf16", "i8mm", "sve"}));
  info.logical_cores = 1;
  info.physical_cores = 1;
  info.l2_bytes = 0;
  info.memory_total_bytes = 0;
  EXPECT_EQ(info.OneLine(), "Arm Neoverse V2, 1 core, SVE");
}

TEST(Hardware, NothingReadable) {
  const FakeMachine machine;
  const HardwareInfo info = machine.Query();
  EXPECT_GE(info.logical_cores, 1);
  EXPECT_EQ(info.physical_cores, info.logical_cores);
  EXPECT_GT(info.memory_total_bytes, 0) << "the C library knows";
  EXPECT_TRUE(info.OneLine().starts_with("unknown processor, ")) << info.OneLine();
}

TEST(Hardware, Garbage) {
  const FakeMachine machine;
  machine.Write("proc/cpuinfo", "processor : -7\nflags\nmodel name : \n:\ncore id : x\n\xff\xfe");
  machine.Write("proc/meminfo", "MemTotal:\nMemAvailable: many kB\n");
  machine.Write("proc/self/cgroup", "::\n0::\n0::/\nx\n");
  machine.Write("sys/fs/cgroup/memory.max", "99999999999999999999999\n");
  machine.Write("sys/devices/system/cpu/cpu0/cache/index0/size", "9999999999999999999K");
  const HardwareInfo info = machine.Query();
  EXPECT_EQ(info.memory_limit_bytes, 0);
  EXPECT_GE(info.l1d_bytes, 0);
}

TEST(Hardware, MemoryLimitOfControlGroups) {
  const FakeMachine version2;
  version2.Write("proc/self/cgroup", "0::/outer/inner\n");
  version2.Write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  version2.Write("sys/fs/cgroup/outer/memory.max", "2147483648\n");
  version2.Write("sys/fs/cgroup/memory.max", "4294967296\n");
  version2.Write("proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 6291456 kB\n");
  EXPECT_EQ(version2.Query().memory_limit_bytes, int64_t{1} << 31);
  EXPECT_EQ(version2.Query().UsableMemory_bytes(), int64_t{1} << 31);
  EXPECT_TRUE(version2.Query().OneLine().ends_with("2 GiB"));

  const FakeMachine version1;
  version1.Write("proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n0::/x\n");
  version1.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(version1.Query().memory_limit_bytes, 0) << "the huge number means none";
  version1.Write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(version1.Query().memory_limit_bytes, int64_t{1} << 30);
}

}  // namespace
}  // namespace lamina
