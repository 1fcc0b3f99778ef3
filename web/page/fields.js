// The form: a field for each column, what may stand in it, and what stands in it.
const fewChoices = 30;
const firstFields = 60;

// A number as it is typed: in as many digits as tell.
function typedNumber(column, value, digits = 5) {
  if (value === undefined || value === null || Number.isNaN(value)) return "";
  if (column.kind === "date") return lamina.dateText(value);
  const text = String(Number(value.toPrecision(digits)));
  return column.decimal === "," ? text.replace(".", ",") : text;
}

const isWhole = (column) => Number.isInteger(column.low) && Number.isInteger(column.high);

// As many digits as tell in the column's span.
function roundedTo(column, value) {
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(column.high - column.low)));
  return column.high > column.low && decimals < 15 ? Number(value.toFixed(decimals)) : value;
}

// What a field shows at first.
function typicalText(column) {
  if (column.kind === "text") {
    const { encode } = column;
    return encode?.categories?.[encode.fill] ?? "";
  }
  if (column.typical === undefined) return column.kind === "date" ? "2024-01-01" : "0";
  if (column.flag) return String(Math.round(column.typical));
  const value = column.kind === "date" || (isWhole(column) && column.high - column.low > 4) ?
    Math.round(column.typical) : roundedTo(column, column.typical);
  return typedNumber(column, value);
}

// The texts that a field offers; null: anything.
function choicesOf(column) {
  if (column.flag) return ["0", "1"];
  return column.encode?.categories ?? null;
}

function selectControl(id, choices) {
  const select = element("select", { id });
  const none = element("option", { value: "" });
  spoken(() => {
    none.textContent = `(${say("empty")})`;
  });
  select.append(none, ...choices.map((choice) => element("option", { value: choice, text: choice })));
  return select;
}

// Thousands of choices: a text with a list that is made when somebody asks for it.
function searchControl(id, choices) {
  const list = element("datalist", { id: `${id}-list` });
  const input = element("input", { id, type: "text", list: `${id}-list`, autocomplete: "off" });
  input.addEventListener("focus", () => {
    if (!list.firstChild) list.append(...choices.map((choice) => element("option", { value: choice })));
  });
  return [input, list];
}

function numberControl(id, column) {
  if (column.kind === "date") {
    const type = isWhole(column) ? "date" : "datetime-local";
    return element("input", { id, type, step: type === "date" ? undefined : "1" });
  }
  return element("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
}

function sliderOf(column) {
  const span = column.high - column.low;
  const step = isWhole(column) ? 1 : 10 ** Math.floor(Math.log10(span) - 2);
  return element("input", { type: "range", min: column.low, max: column.high, step });
}

// {column, text(), set(text), root, curve, hint}: one field. `changed`: is told of typing.
function makeField(column, number, changed) {
  const id = `field-${number}`;
  const choices = choicesOf(column);
  const extra = [];
  let control;
  if (choices && choices.length <= fewChoices) {
    control = selectControl(id, choices);
  } else if (choices) {
    const [input, list] = searchControl(id, choices);
    control = input;
    extra.push(list);
  } else if (column.kind === "text") {
    control = element("textarea", { id, rows: 2 });
  } else {
    control = numberControl(id, column);
  }
  control.setAttribute("aria-describedby", `${id}-hint`);
  const hint = element("p", { class: "hint", id: `${id}-hint` });
  const curve = element("div", { class: "curve" });
  const field = { column, root: null, curve, hint, problem: "" };
  field.text = () => control.value;
  if (column.kind === "number" && !choices && column.high > column.low) {
    field.slider = sliderOf(column);
    spoken(() => field.slider.setAttribute("aria-label", say("slider", { column: column.name })));
    field.slider.addEventListener("input", () => {
      control.value = typedNumber(column, roundedTo(column, Number(field.slider.value)));
      changed(field);
    });
    extra.push(field.slider);
  }
  field.follow = (value) => {
    if (field.slider && Number.isFinite(value)) field.slider.value = value;
  };
  field.set = (text) => {
    if (control.tagName === "SELECT" && text !== "" && ![...control.options].some((o) => o.value === text)) {
      control.append(element("option", { value: text, text }));
    }
    if (control.type === "date") control.value = text.slice(0, 10);
    else if (control.type === "datetime-local" && /^[^T]+$/.test(text)) control.value = text + "T00:00";
    else control.value = text;
  };
  control.addEventListener("input", () => changed(field));
  const unit = column.unit ? [" ", element("span", { class: "unit", text: column.unit })] : [];
  const label = element("label", { for: id }, named(column.name), ...unit);
  field.root = element("div", { class: "field" }, label, element("div", { class: "control" }, control, ...extra), hint,
                       curve);
  return field;
}

// Below a field: a problem, or what it usually holds.
function showHint(field) {
  const { column, hint, problem } = field;
  hint.classList.toggle("problem", problem !== "");
  if (problem) {
    hint.textContent = problem;
  } else if (column.kind === "text") {
    const count = column.encode?.categories?.length;
    hint.textContent = !count ? say("text") : count > fewChoices ? say("choose", { count: shown(count) }) : "";
  } else if (column.low !== undefined && !column.flag) {
    const text = (value) => (column.kind === "date" ? lamina.dateText(value) : shown(value));
    hint.textContent = say("between", { low: text(column.low), high: text(column.high) });
  } else {
    hint.textContent = "";
  }
}
