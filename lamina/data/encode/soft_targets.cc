// Columns by the names of classes; their checks; targets made of them.
#include "lamina/data/encode/soft_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr double kSumMayBeOff = 0.01;  // of probabilities written with few digits

bool IsWordByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

bool EndsInClass(std::string_view column, std::string_view name) {
  return column == name || (column.size() > name.size() && column.ends_with(name) &&
                            !IsWordByte(column[column.size() - name.size() - 1]));
}

// The longest class that it ends in: p_not_a is of not_a, even where a is a class.
std::optional<size_t> ClassOfColumn(std::string_view column, const std::vector<std::string>& classes) {
  std::optional<size_t> found;
  for (size_t c = 0; c < classes.size(); ++c) {
    if (EndsInClass(column, classes[c]) && (!found || classes[c].size() > classes[*found].size())) {
      found = c;
    }
  }
  return found;
}

[[noreturn]] void Refuse(const Table& table, std::string message, const std::string& value, std::string remedy) {
  throw Error(
      ErrorCode::kInvalidArgument, std::move(message),
      {.file = table.source, .value = value, .remedy = std::move(remedy), .setting = std::string(kSoftTargetSetting)});
}

std::vector<const Column*> OfClasses(const Table& table, const std::vector<const Column*>& given,
                                     const std::vector<std::string>& classes) {
  std::vector<const Column*> columns(classes.size(), nullptr);
  for (const Column* column : given) {
    const std::optional<size_t> c = ClassOfColumn(column->name, classes);
    if (!c) {
      Refuse(table, "a column of --soft-target belongs to no class", column->name,
             fmt::format("Its name must end in that of a class, such as p_{}.", classes.front()));
    }
    if (columns[*c] != nullptr) {
      Refuse(table, fmt::format("--soft-target has two columns of class '{}'", classes[*c]), column->name,
             fmt::format("Leave it or '{}' out.", columns[*c]->name));
    }
    columns[*c] = column;
  }
  for (size_t c = 0; c < classes.size(); ++c) {
    if (columns[c] == nullptr) {
      Refuse(table, fmt::format("--soft-target has no column of class '{}'", classes[c]), "",
             fmt::format("Give one whose name ends in it, such as p_{}, with 0 where it cannot be.", classes[c]));
    }
  }
  return columns;
}

// What is wrong with a value; empty: nothing.
std::string WhyWrong(double value, bool probability) {
  if (std::isnan(value)) {
    return "missing soft target";
  }
  if (std::isinf(value)) {
    return "a soft target must be a finite number";
  }
  return probability && value < 0 ? "a probability must not be below 0" : "";
}

std::string WhySumIsWrong(double sum) {
  return std::abs(sum - 1) <= kSumMayBeOff ? "" : fmt::format("the probabilities of a row sum to {:.6g}, not 1", sum);
}

constexpr const char* kCorrect = "Correct the value, or leave the row out.";

// The values must be without any fault.
void SetTargets(const Matrix& soft, const TargetEncoder& targets, Dataset& train) {
  const DType dtype = train.features.dtype();
  if (targets.task() == Task::kClassification) {
    train.soft = Matrix(soft.rows(), soft.cols(), DType::kF64);
    for (int64_t i = 0; i < soft.rows(); ++i) {
      const double* const row = soft.Row<double>(i);
      double sum = 0;
      for (int64_t c = 0; c < soft.cols(); ++c) {
        sum += row[c];
      }
      std::transform(row, row + soft.cols(), train.soft.Row<double>(i), [&](double p) { return p / sum; });
    }
    train.targets = targets.TargetsOf(train.soft, dtype);
    return;
  }
  const int64_t each = targets.OutputsOfTarget();
  train.targets = Matrix(soft.rows(), targets.count(), dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < soft.rows(); ++i) {
      for (int64_t j = 0; j < targets.count(); ++j) {
        train.targets.Row<T>(i)[j] = static_cast<T>(targets.ScalingOf(j).Encode(soft.Row<double>(i)[j / each]));
      }
    }
  });
}

}  // namespace

Matrix TargetEncoder::TargetsOf(const Matrix& probabilities, DType dtype) const {
  const int64_t outputs = count();
  const int64_t first = form_.single_output ? 1 : 0;  // class 1 is the positive one
  Matrix targets(probabilities.rows(), outputs, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < targets.rows(); ++i) {
      const double* const row = probabilities.Row<double>(i) + first;
      std::transform(row, row + outputs, targets.Row<T>(i),
                     [&](double p) { return static_cast<T>(form_.negative + p * (form_.positive - form_.negative)); });
    }
  });
  return targets;
}

std::vector<const Column*> SoftTargetColumns(const Table& table, const TargetEncoder& targets,
                                             std::span<const std::string> names) {
  std::vector<const Column*> given;
  for (const std::string& name : names) {
    given.push_back(&table.columns[static_cast<size_t>(table.FindColumn(name))]);
    if (given.back()->kind == ColumnKind::kText) {
      Refuse(table, "a column of --soft-target holds text", given.back()->name, "Name columns of numbers.");
    }
  }
  if (targets.task() == Task::kClassification) {
    return OfClasses(table, given, targets.class_names());
  }
  if (given.size() != targets.columns().size()) {
    Refuse(table,
           fmt::format("--soft-target has {}, and the targets are {}", Counted(std::ssize(given), "column{s}"),
                       targets.columns().size()),
           "", "For numbers to predict, give one column for each target.");
  }
  return given;
}

void LearnSoftTargets(const Table& table, const TargetEncoder& targets, std::span<const std::string> names,
                      Dataset& train) {
  const std::vector<const Column*> columns = SoftTargetColumns(table, targets, names);
  const bool classes = targets.task() == Task::kClassification;
  Matrix soft(train.size(), std::ssize(columns), DType::kF64);
  for (int64_t i = 0; i < soft.rows(); ++i) {
    const int64_t row = train.rows[static_cast<size_t>(i)];
    double sum = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      const double value = columns[c]->Number(row);
      if (const std::string wrong = WhyWrong(value, classes); !wrong.empty()) {
        ThrowCell(table, row, *columns[c], wrong, kCorrect);
      }
      sum += soft.Row<double>(i)[c] = value;
    }
    if (const std::string wrong = WhySumIsWrong(sum); classes && !wrong.empty()) {
      ThrowCell(table, row, *columns.front(), wrong, kCorrect);
    }
  }
  SetTargets(soft, targets, train);
}

void LearnSoftTargets(const Matrix& soft, const TargetEncoder& targets, Dataset& train) {
  const bool classes = targets.task() == Task::kClassification;
  const int64_t columns = classes ? std::ssize(targets.class_names()) : std::ssize(targets.columns());
  if (soft.rows() != train.size() || soft.cols() != columns) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("soft targets are {} x {}, and the training rows need {} x {}",
                                                         soft.rows(), soft.cols(), train.size(), columns));
  }
  for (int64_t i = 0; i < soft.rows(); ++i) {
    const double* const row = soft.Row<double>(i);
    double sum = 0;
    for (int64_t c = 0; c < columns; ++c) {
      if (const std::string wrong = WhyWrong(row[c], classes); !wrong.empty()) {
        throw Error(ErrorCode::kBadData, fmt::format("row {} of the soft targets: {}", i, wrong),
                    {.value = fmt::format("{}", row[c]), .remedy = kCorrect});
      }
      sum += row[c];
    }
    if (const std::string wrong = WhySumIsWrong(sum); classes && !wrong.empty()) {
      throw Error(ErrorCode::kBadData, fmt::format("row {} of the soft targets: {}", i, wrong), {.remedy = kCorrect});
    }
  }
  SetTargets(soft, targets, train);
}

}  // namespace lamina
