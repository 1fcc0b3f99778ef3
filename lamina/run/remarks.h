// What a user should know about a finished training, in sentences.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/run/session.h"

namespace lamina {

/// What is to be known of the data before the first epoch, in sentences. They tell of unseen or filled values, rows
/// left out, classes that training lacks, and another recipe than asked for. Empty: nothing to say.
std::vector<std::string> NotesOn(const TrainSession& session);

/// One row a remark: its name for tests, and its sentence, empty where there is nothing to say.
struct RemarkRow {
  std::string_view name;
  std::string (*text)(const TrainSession& session, const TrainResult& result);
};
std::span<const RemarkRow> RemarkTable();

/// Why the result may be worse than it could be. The validation loss was still falling at the end, or training rows
/// were learned by heart. Accuracy and mean recall never left those of the most frequent class, a class is never
/// predicted, or few rows test. Empty: nothing to say.
std::vector<std::string> RemarksOn(const TrainSession& session, const TrainResult& result);

/// Whether classes are told apart: the mean recall of the classes that have rows is above chance. The accuracy may not
/// show it, as a frequent class decides it.
bool TellsClassesApart(const ClassificationMetrics& metrics);

/// "class 'fraud' is never predicted (16 rows are of it)" for every such class of an evaluation.
std::vector<std::string> NeverPredicted(const ClassificationMetrics& metrics);

}  // namespace lamina
