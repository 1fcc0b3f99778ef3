// Columns to inputs: loops where neighbors are alike, a line each where not.
#include "lamina/model/c_source/c_inputs.h"

#include <algorithm>
#include <cmath>

#include "lamina/model/c_source/c_inputs_text.h"
#include "lamina/model/c_source/c_scaling.h"

namespace lamina {
namespace {

class EncoderWriter {
 public:
  EncoderWriter(CWriter& out, const Model& model, const CColumns& columns)
      : out_(out),
        preprocessor_(model.preprocessor),
        columns_(columns),
        fills_(Fills(model.preprocessor.policies().missing)) {}

  // The statements; what they need stands in `out` then.
  std::string Run() {
    AddDerived();
    const std::vector<FittedColumn>& fitted = preprocessor_.inputs().columns();
    for (size_t i = 0; i < fitted.size();) {
      const size_t run = RunLength(i);
      if (run >= kLoopFrom) {
        AddRun(i, run);
        i += run;
      } else if (fitted[i].kind == ColumnKind::kText) {
        AddTextColumn(out_, preprocessor_, columns_, fitted[i], body_);
        ++i;
      } else {
        AddNumber(fitted[i++]);
      }
    }
    return std::move(body_);
  }

 private:
  static constexpr size_t kLoopFrom = 4;

  // What is returned for a bad value of a fitted column: that of the first raw column it is made of.
  int64_t CodeOf(std::string name) const {
    for (;;) {
      if (const CColumn* column = columns_.Find(name)) {
        return 1 + (column - columns_.columns.data());
      }
      const auto derived = std::find_if(columns_.derived.begin(), columns_.derived.end(),
                                        [&](const Derivation& each) { return each.name == name; });
      name = derived->column;
    }
  }

  // A raw or derived number as an expression.
  std::string NumberText(const std::string& name) const {
    const CColumn* column = columns_.Find(name);
    if (column == nullptr) {
      const auto derived = std::find_if(columns_.derived.begin(), columns_.derived.end(),
                                        [&](const Derivation& each) { return each.name == name; });
      return fmt::format("derived[{}]", derived - columns_.derived.begin());
    }
    const std::string number = fmt::format("numbers[{}]", column->constant);
    return columns_.missing_numbers.empty() || column->is_date ? number : fmt::format("@_number({})", number);
  }

  void AddDerived() {
    if (!columns_.missing_numbers.empty()) {
      std::string missing;
      for (const double value : columns_.missing_numbers) {
        missing += fmt::format("{}x == {}", missing.empty() ? "" : " || ", CDouble(value));
      }
      out_.Add(
          "/* Numbers that stand for a missing value. */\n"
          "static double @_number(double x) {{ return {} ? NAN : x; }}\n\n",
          missing);
    }
    if (columns_.derived.empty()) {
      return;
    }
    body_ += fmt::format("  double derived[{}];\n", columns_.derived.size());
    out_.stack_bytes += 8 * std::ssize(columns_.derived);
    for (size_t i = 0; i < columns_.derived.size(); ++i) {
      const Derivation& made = columns_.derived[i];
      body_ += fmt::format(
          "  /* {} = {} of {} */\n  derived[{}] = {};\n", CComment(made.name), made.function->name,
          CComment(made.column), i,
          DerivedText(out_, made, NumberText(made.column), made.other.empty() ? "" : NumberText(made.other)));
    }
  }

  // How many columns from `first` on are one input of one curve each, of neighboring raw numbers.
  size_t RunLength(size_t first) const {
    const std::vector<FittedColumn>& fitted = preprocessor_.inputs().columns();
    size_t end = first;
    while (end < fitted.size() && IsPlain(fitted[end]) && fitted[end].scaling.curve == fitted[first].scaling.curve &&
           columns_.Find(fitted[end].name) - columns_.Find(fitted[first].name) == static_cast<ptrdiff_t>(end - first) &&
           columns_.Find(fitted[end].name)->place - columns_.Find(fitted[first].name)->place ==
               static_cast<int64_t>(end - first)) {
      ++end;
    }
    return end - first;
  }

  bool IsPlain(const FittedColumn& column) const {
    return column.kind == ColumnKind::kNumber && column.width() == 1 && column.edges.empty() &&
           !column.scaling.has_limits() && columns_.Find(column.name) != nullptr && columns_.missing_numbers.empty();
  }

  // An array of one number for each column of a run, or its only value.
  template <class Get>
  std::string OfRun(const char* what, size_t first, size_t count, const Get& get) {
    const std::vector<FittedColumn>& fitted = preprocessor_.inputs().columns();
    std::vector<std::string> values;
    for (size_t i = first; i < first + count; ++i) {
      values.push_back(CDouble(get(fitted[i])));
    }
    if (std::all_of(values.begin(), values.end(), [&](const std::string& value) { return value == values[0]; })) {
      return values[0];
    }
    const std::string name = fmt::format("{}_{}{}", out_.name(), what, ++arrays_);
    out_.AddArray("double", name, values, 0, 8);
    return name + "[i]";
  }

  void AddRun(size_t first, size_t count) {
    const FittedColumn& column = preprocessor_.inputs().columns()[first];
    const CColumn& raw = *columns_.Find(column.name);
    const std::string offset =
        OfRun("input_offset", first, count, [](const FittedColumn& c) { return c.scaling.offset; });
    const std::string scale = OfRun("input_scale", first, count, [](const FittedColumn& c) { return c.scaling.scale; });
    std::string value = fmt::format("numbers[{}]", FromPlace(raw.place));
    std::string fill;
    if (fills_) {
      const std::string fills =
          OfRun("input_fill", first, count, [](const FittedColumn& c) { return c.keeps_mean ? c.fill : std::nan(""); });
      fill = fmt::format("    const double v = isnan({0}) ? {1} : {0};\n", value, fills);
      value = "v";
    }
    const std::string y = CurveInC(out_, column.scaling.curve, value, offset, scale);
    body_ += fmt::format(
        "  /* {} to {} */\n"
        "  for (i = 0; i < {}; ++i) {{\n{}"
        "    if (!@_put(x, {}, {}))\n      return {} + i;\n  }}\n",
        CComment(column.name), CComment(preprocessor_.inputs().columns()[first + count - 1].name), count, fill,
        FromPlace(column.place), y, 1 + (&raw - columns_.columns.data()));
  }

  void AddNumber(const FittedColumn& column) {
    const int64_t code = CodeOf(column.name);
    const std::string number = NumberText(column.name);
    body_ += fmt::format("  /* {} */\n  v = {};\n", CComment(column.name), number);
    if (column.indicates_missing) {
      body_ += fmt::format("  if (!@_put(x, {}, isnan(v) ? 1.0 : 0.0))\n    return {};\n",
                           column.place + column.value_width(), code);
    }
    if (fills_ && column.keeps_mean) {
      body_ += fmt::format("  if (isnan(v))\n    v = {};\n", CDouble(column.fill));
    }
    int64_t place = column.place;
    for (const ColumnScaling& part : column.Parts()) {
      if (part.curve == Curve::kEquals) {
        AddCodes(column, place, code);
        return;
      }
      body_ += fmt::format("  if (!@_put(x, {}, {}))\n    return {};\n", place++, EncodedInC(out_, part, "v"), code);
    }
  }

  // The last parts of a column.
  void AddCodes(const FittedColumn& column, int64_t place, int64_t code) {
    const std::string name = fmt::format("{}_input_code{}", out_.name(), ++arrays_);
    std::vector<std::string> codes;
    std::ranges::transform(column.codes, std::back_inserter(codes), &CDouble);
    out_.AddArray("double", name, codes, 0, 8);
    const std::string equals = CurveInC(out_, Curve::kEquals, "v", name + "[i]", CDouble(1));
    body_ += fmt::format("  for (i = 0; i < {}; ++i) {{\n    if (!@_put(x, {}, {}))\n      return {};\n  }}\n",
                         codes.size(), FromPlace(place), equals, code);
  }

  CWriter& out_;
  const Preprocessor& preprocessor_;
  const CColumns& columns_;
  bool fills_;
  int arrays_ = 0;
  std::string body_;
};

// @_put: false for what is no number of the network's type.
void AddPut(CWriter& out, const CStore& store) {
  const char* most = out.dtype() == DType::kF64 ? "DBL_MAX" : "FLT_MAX";
  out.Add(
      "/* An input of the network; 0 where it is no finite number. */\n"
      "static int @_put({} *x, int i, double y) {{\n"
      "  const {} z = ({})y;\n",
      store.type, out.real(), out.real());
  if (store.in_steps) {
    out.Add(
        "  {0} whole;\n  if (!({1}(z) <= {2}))\n    return 0;\n"
        "  whole = {3}(z / @_input_step[i] + {4});\n"
        "  x[i] = (int8_t)(whole > {5} ? {5} : whole < -{5} ? -{5} : whole);\n  return 1;\n}}\n\n",
        out.real(), out.Function("fabs"), most, out.Function("floor"), out.Number(0.5), out.Number(127));
  } else {
    out.Add("  x[i] = z;\n  return {}(z) <= {};\n}}\n\n", out.Function("fabs"), most);
  }
}

bool Mentions(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

}  // namespace

std::string RowParameters(const CColumns& columns, const std::string& upper) {
  std::string text;
  if (columns.numbers > 0) {
    text = fmt::format("const double numbers[{}_NUMBERS]", upper);
  }
  if (columns.texts > 0) {
    text += fmt::format("{}const char *const texts[{}_TEXTS]", text.empty() ? "" : ", ", upper);
  }
  return text;
}

std::string RowArguments(const CColumns& columns) {
  return std::string(columns.numbers > 0 ? "numbers" : "") + (columns.numbers > 0 && columns.texts > 0 ? ", " : "") +
         (columns.texts > 0 ? "texts" : "");
}

void AddEncoder(CWriter& out, const Model& model, const CColumns& columns, const CStore& store) {
  AddPut(out, store);
  const std::string upper = UpperCName(out.name());
  std::string body;
  if (model.preprocessor.inputs().count() == 0) {
    body = fmt::format("  for (i = 0; i < {}; ++i) {{\n    if (!@_put(x, i, numbers[i]))\n      return 1 + i;\n  }}\n",
                       model.network.inputs());
  } else {
    body = EncoderWriter(out, model, columns).Run();
  }
  std::string variables;
  if (Mentions(body, "for (i")) {
    variables += "  int i;\n";
  }
  if (Mentions(body, "  k = ")) {
    variables += "  int k;\n";
  }
  if (Mentions(body, "  v = ")) {
    variables += "  double v;\n";
  }
  out.Add(
      "/* A raw row to the {} input{} of the network; returns 0, or 1 + the column whose value cannot be used. */\n",
      model.network.inputs(), Many(model.network.inputs()));
  out.Add("static int @_encode({}, {} *x) {{\n", RowParameters(columns, upper), store.type);
  out.AddText(variables + body + "  return 0;\n}\n\n");
}

}  // namespace lamina
