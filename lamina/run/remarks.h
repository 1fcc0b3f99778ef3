// What a user should know about a finished training, in sentences.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/run/session.h"

namespace lamina {

/// What is to be known of the data before the first epoch, in sentences: values that are unseen or filled in, rows left
/// out, classes that training does not have, another recipe than was asked for. Empty: nothing to say.
std::vector<std::string> NotesOn(const TrainSession& session);

/// One row a remark: its name for tests, and its sentence, empty where there is nothing to say.
struct RemarkRow {
  std::string_view name;
  std::string (*text)(const TrainSession& session, const TrainResult& result);
};
std::span<const RemarkRow> RemarkTable();

/// Why the result may be worse than it could be: the validation loss was still falling at the end, training rows were
/// learnt by heart, neither accuracy nor mean recall left those of the most frequent class, a class is never predicted,
/// few rows test. Empty: nothing to say.
std::vector<std::string> RemarksOn(const TrainSession& session, const TrainResult& result);

/// Whether classes are told apart where the accuracy, which a frequent class decides, may not show it: the mean recall
/// of the classes that have rows is above chance.
bool TellsClassesApart(const ClassificationMetrics& metrics);

/// "class 'fraud' is never predicted (16 rows are of it)" for every such class of an evaluation.
std::vector<std::string> NeverPredicted(const ClassificationMetrics& metrics);

}  // namespace lamina
