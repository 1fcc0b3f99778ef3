// KDD Cup 1999.
#include "lamina/data/files/kddcup99.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/reader.h"

namespace lamina {
namespace {

constexpr std::string_view kColumnNames =
    "duration,protocol_type,service,flag,src_bytes,dst_bytes,land,wrong_fragment,urgent,hot,"
    "num_failed_logins,logged_in,num_compromised,root_shell,su_attempted,num_root,num_file_creations,"
    "num_shells,num_access_files,num_outbound_cmds,is_host_login,is_guest_login,count,srv_count,"
    "serror_rate,srv_serror_rate,rerror_rate,srv_rerror_rate,same_srv_rate,diff_srv_rate,"
    "srv_diff_host_rate,dst_host_count,dst_host_srv_count,dst_host_same_srv_rate,dst_host_diff_srv_rate,"
    "dst_host_same_src_port_rate,dst_host_srv_diff_host_rate,dst_host_serror_rate,"
    "dst_host_srv_serror_rate,dst_host_rerror_rate,dst_host_srv_rerror_rate,label";

// Training labels are as in the file training_attack_types. Others occur only in the test: the counts of the contest's
// report (4,166 probe, 229,853 dos, 228 u2r, 16,189 r2l) make httptunnel u2r.
constexpr std::array<KddAttack, 40> kAttacks{{
    {"normal", "normal", true},     {"ipsweep", "probe", true},   {"nmap", "probe", true},
    {"portsweep", "probe", true},   {"satan", "probe", true},     {"mscan", "probe", false},
    {"saint", "probe", false},      {"back", "dos", true},        {"land", "dos", true},
    {"neptune", "dos", true},       {"pod", "dos", true},         {"smurf", "dos", true},
    {"teardrop", "dos", true},      {"apache2", "dos", false},    {"mailbomb", "dos", false},
    {"processtable", "dos", false}, {"udpstorm", "dos", false},   {"buffer_overflow", "u2r", true},
    {"loadmodule", "u2r", true},    {"perl", "u2r", true},        {"rootkit", "u2r", true},
    {"httptunnel", "u2r", false},   {"ps", "u2r", false},         {"sqlattack", "u2r", false},
    {"xterm", "u2r", false},        {"ftp_write", "r2l", true},   {"guess_passwd", "r2l", true},
    {"imap", "r2l", true},          {"multihop", "r2l", true},    {"phf", "r2l", true},
    {"spy", "r2l", true},           {"warezclient", "r2l", true}, {"warezmaster", "r2l", true},
    {"named", "r2l", false},        {"sendmail", "r2l", false},   {"snmpgetattack", "r2l", false},
    {"snmpguess", "r2l", false},    {"worm", "r2l", false},       {"xlock", "r2l", false},
    {"xsnoop", "r2l", false},
}};

constexpr std::array<std::string_view, 5> kCategories{"normal", "probe", "dos", "u2r", "r2l"};
constexpr double kCosts[5][5] = {{0, 1, 2, 2, 2}, {1, 0, 2, 2, 2}, {2, 1, 0, 2, 2}, {3, 2, 2, 0, 2}, {4, 2, 2, 2, 0}};

std::string FindFile(const std::string& folder, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    for (const char* suffix : {".gz", ""}) {
      std::error_code error;
      std::string path = (std::filesystem::path(folder) / (std::string(name) + suffix)).string();
      if (std::filesystem::is_regular_file(path, error)) {
        return path;
      }
    }
  }
  return "";
}

std::string TrainingFile(const std::string& folder) {
  return FindFile(folder, {"kddcup.data_10_percent", "kddcup.data"});
}
std::string TestFile(const std::string& folder) { return FindFile(folder, {"corrected"}); }

Table ReadPart(const std::string& path, ReadOptions options) {
  options.header = Header::kNo;
  options.separator = ',';
  for (const char* column : {"c1", "c2", "c3", "c41"}) {
    options.known_columns.push_back({column, ColumnKind::kText});
  }
  Table table = ReadTable(path, options);
  const std::vector<std::string_view> names = SplitText(kColumnNames, ',');
  if (table.columns.size() != names.size()) {
    throw Error(ErrorCode::kBadData,
                fmt::format("has {} columns, KDD Cup 1999 has {}", table.columns.size(), names.size()),
                {.file = path, .remedy = "Read it as plain CSV: --data FILE."});
  }
  for (size_t j = 0; j < names.size(); ++j) {
    table.columns[j].name = names[j];
  }
  table.has_names = true;
  for (std::string& label : table.columns.back().categories) {
    if (label.ends_with('.')) {
      label.pop_back();
    }
  }
  return table;
}

}  // namespace

std::span<const KddAttack> KddAttacks() { return kAttacks; }
std::span<const std::string_view> KddCategories() { return kCategories; }
double KddCost(size_t truth, size_t predicted) { return kCosts[truth][predicted]; }

std::vector<std::string> KddCup99Files(const std::string& folder) {
  std::vector<std::string> files{TrainingFile(folder), TestFile(folder)};
  std::erase(files, "");
  return files;
}

ReadResult ReadKddCup99(const std::string& folder, const ReadOptions& options) {
  const std::string train = TrainingFile(folder);
  if (train.empty()) {
    throw Error(ErrorCode::kNotFound, "no kddcup.data_10_percent.gz (or kddcup.data.gz) in this folder",
                {.file = folder, .remedy = "Download it with: lamina data fetch kddcup99."});
  }
  ReadOptions named = options;
  named.text_columns.clear();  // by the names of this data set, and its text is known
  ReadResult result;
  result.train = ReadPart(train, named);
  if (const std::string test = TestFile(folder); !test.empty()) {
    result.test = ReadPart(test, named);
  }
  result.target = std::string(SplitText(kColumnNames, ',').back());
  return result;
}

}  // namespace lamina
