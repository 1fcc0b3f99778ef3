// FittedColumn as JSON that the page's engine reads (web/page/engine/encode.js).
#include "lamina/model/html_page/page_columns.h"

#include <algorithm>
#include <cmath>

#include "lamina/base/text.h"
#include "lamina/data/encode/encoder_json.h"
#include "lamina/data/files/missing_marks.h"

namespace lamina {
namespace {

using nlohmann::json;

const char* CurveName(Curve curve) {
  switch (curve) {
    case Curve::kLogarithm: return "log";
    case Curve::kSmoothClip: return "clip";
    case Curve::kSine: return "sine";
    case Curve::kEquals: return "equals";
    default: return "linear";
  }
}

// [curve, offset, scale], with limits two more; no limit is null.
json ScalingToJson(const ColumnScaling& scaling) {
  json part = {CurveName(scaling.curve), scaling.offset, scaling.scale};
  if (scaling.has_limits()) {
    for (const double limit : {scaling.low, scaling.high}) {
      part.push_back(std::isfinite(limit) ? json(limit) : json(nullptr));
    }
  }
  return part;
}

json TextToJson(const FittedColumn& column) {
  json encode = {{"place", column.place}};
  if (column.scores) {
    encode["scores"] = encoder_json::ToJson(*column.scores);
    return encode;
  }
  if (column.buckets > 0) {
    encode["buckets"] = column.buckets;
    return encode;
  }
  for (const std::string& category : column.categories) {
    encode["categories"].push_back(Trim(category));
  }
  encode["fill"] = column.fill_category;
  encode["other"] = column.other();
  if (!column.one_hot) {
    encode["scaling"] = ScalingToJson(column.scaling);
  }
  return encode;
}

json EncodeToJson(const FittedColumn& column) {
  json encode;
  if (column.kind == ColumnKind::kText) {
    encode = TextToJson(column);
  } else {
    encode = {{"place", column.place}};
    for (const ColumnScaling& part : column.Parts()) {
      encode["parts"].push_back(ScalingToJson(part));
    }
    if (column.keeps_mean) {
      encode["fill"] = column.fill;
    }
  }
  if (column.indicates_missing) {
    encode["indicator"] = column.place + column.value_width();
  }
  return encode;
}

// What training saw: bounds, tenths, how often each category.
void AddSeen(const Model& model, const FittedColumn& fitted, json& column) {
  if (fitted.kind == ColumnKind::kNumber) {
    const ColumnScaling& scaling = fitted.scaling;
    const bool pixel = model.preprocessor.inputs().is_image();  // from 0 to what is 1 to the network
    const NumberSpan about = pixel ? NumberSpan{0, scaling.Decode(1)}
                                   : NumberSpan{scaling.offset - 2 * scaling.scale, scaling.offset + 2 * scaling.scale};
    const NumberSpan span = fitted.span.value_or(about);
    column["low"] = span.low;
    column["high"] = span.high;
    column["typical"] = fitted.Typical();
    if (fitted.span) {
      column["seen"] = true;
    }
  }
  const auto profile = std::find_if(model.profile.columns.begin(), model.profile.columns.end(),
                                    [&](const ColumnProfile& each) { return each.name == fitted.name; });
  if (profile == model.profile.columns.end()) {
    return;
  }
  if (profile->missing > 0) {
    column["gaps"] = profile->missing;
  }
  if (profile->is_number) {
    column["tenths"] = profile->edges;
  } else {
    column["usual"] = profile->categories;
    column["shares"] = profile->shares;
  }
}

// Whether parts of a date are made of a column that is no input itself.
bool IsReadAsDate(const CColumns& columns, const std::string& name) {
  return std::any_of(columns.derived.begin(), columns.derived.end(),
                     [&](const Derivation& made) { return made.column == name && made.function->of_date; });
}

json ColumnToJson(const Model& model, const CColumns& columns, const CColumn& raw) {
  const bool is_date = raw.is_date || IsReadAsDate(columns, raw.name);
  json column = {{"name", raw.name}, {"kind", raw.is_text ? "text" : is_date ? "date" : "number"}};
  if (raw.fitted == nullptr) {
    return column;
  }
  const FittedColumn& fitted = *raw.fitted;
  const ColumnFormat& format = fitted.format;
  if (format.decimal != '.') {
    column["decimal"] = std::string(1, format.decimal);
  }
  if (format.date_order != DateOrder::kAuto) {
    column["order"] = format.date_order == DateOrder::kDayFirst ? "day" : "month";
  }
  if (!format.unit.empty()) {
    column["unit"] = format.unit;
  }
  if (fitted.IsFlag()) {
    column["flag"] = true;
  }
  AddSeen(model, fitted, column);
  column["encode"] = EncodeToJson(fitted);
  return column;
}

json DerivedToJson(const Model& model, const Derivation& made) {
  json derived = {{"name", made.name}, {"function", made.function->name}, {"column", made.column}};
  if (!made.other.empty()) {
    derived["other"] = made.other;
  }
  for (const FittedColumn& column : model.preprocessor.inputs().columns()) {
    if (column.name == made.name) {
      AddSeen(model, column, derived);
      derived["encode"] = EncodeToJson(column);
    }
  }
  return derived;
}

}  // namespace

void AddPageColumns(const Model& model, const CColumns& columns, json& page) {
  page["columns"] = json::array();
  for (const CColumn& column : columns.columns) {
    page["columns"].push_back(ColumnToJson(model, columns, column));
  }
  page["derived"] = json::array();
  for (const Derivation& made : columns.derived) {
    page["derived"].push_back(DerivedToJson(model, made));
  }
  const EncodePolicies& policies = model.preprocessor.policies();
  page["fills"] = Fills(policies.missing);
  page["zeroUnseen"] = policies.unseen == UnseenPolicy::kZero;
  std::vector<std::string> words(CommonMissingMarks().begin(), CommonMissingMarks().end());
  words.insert(words.end(), columns.missing_words.begin(), columns.missing_words.end());
  page["missing"] = {{"words", words}, {"numbers", columns.missing_numbers}};
  const InputEncoder& inputs = model.preprocessor.inputs();
  if (inputs.is_image() && inputs.image_height() > 0) {
    page["image"] = {{"height", inputs.image_height()}, {"width", inputs.image_width()}};
  }
}

}  // namespace lamina
