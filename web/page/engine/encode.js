// Values of a row to the network's inputs: what lamina/data/encode does.
const signedLog = (x) => (x < 0 ? -Math.log1p(-x) : Math.log1p(x));
const signedExp = (y) => (y < 0 ? -Math.expm1(-y) : Math.expm1(y));

// One input of a number; `part`: [curve, offset, scale, low, high].
function encodePart(part, x) {
  const [curve, offset, scale] = part;
  let y = ((curve === "log" ? signedLog(x) : x) - offset) / scale;
  if (curve === "clip") {
    y = Math.abs(y) < 1e9 ? y / Math.sqrt(1 + (y / 3) * (y / 3)) : Math.sign(y) * 3 + (y - y);
  } else if (curve === "sine") {
    y = Math.sin(2 * Math.PI * y);
  } else if (curve === "equals") {
    y = y === 0 ? 1 : 0;
  }
  if (part.length > 3) {
    if (part[3] !== null && y < part[3]) y = part[3];
    if (part[4] !== null && y > part[4]) y = part[4];
  }
  return y;
}

// The place of a text among a column's categories: -1 unseen.
function placeOf(column, text) {
  const exact = column.places.get(text);
  if (exact !== undefined) return exact;
  if (!column.truths) return -1;
  const truth = text === "1" ? true : text === "0" ? false : truthOf(text);
  return truth === null ? -1 : (column.truths[truth ? 1 : 0] ?? -1);
}

// What a look-up of categories needs, made once.
function prepareCategories(column) {
  const categories = column.encode?.categories;
  if (!categories) return;
  column.places = new Map();
  const truths = [];
  let onlyTruths = true;
  categories.forEach((category, i) => {
    if (!column.places.has(category)) column.places.set(category, i);
    const truth = truthOf(category);
    if (truth === null) onlyTruths = false;
    else truths[truth ? 1 : 0] ??= i;
  });
  column.truths = onlyTruths ? truths : null;
}

function derivedValue(made, valueOf) {
  const x = valueOf(made.column);
  switch (made.function) {
    case "log": return signedLog(x);
    case "difference": return x - valueOf(made.other);
    case "ratio": return valueOf(made.other) === 0 ? NaN : x / valueOf(made.other);
    case "year":
    case "month":
    case "weekday": return calendarPart(x, made.function);
    default: throw new Error(`unknown function ${made.function}`);
  }
}

// A refusal: `reason` is a name of labels.js.
const refusal = (column, reason) => ({ refused: { column: column.name, reason } });

function encodeText(model, column, text, x, notes) {
  const { encode } = column;
  if (encode.indicator !== undefined) x[encode.indicator] = text === null ? 1 : 0;
  if (text === null) {
    if (!model.fills) return refusal(column, "missing");
    notes.push({ note: "filled", column: column.name });
  }
  if (encode.scores) {
    x.set(scoreText(text ?? "", encode.scores), encode.place);
    return null;
  }
  if (encode.buckets) {
    if (text !== null) x.set(hashText(text, encode.buckets), encode.place);
    return null;
  }
  let place = text === null ? encode.fill : placeOf(column, text);
  if (place < 0) place = encode.other;
  if (place < 0) {
    if (!model.zeroUnseen) return refusal(column, "unseen");
    notes.push({ note: "unseen", column: column.name });
    return null;
  }
  if (encode.scaling) x[encode.place] = encodePart(encode.scaling, place);
  else x[encode.place + place] = 1;
  return null;
}

function encodeNumber(model, column, value, x, notes) {
  const { encode } = column;
  const missing = Number.isNaN(value);
  if (encode.indicator !== undefined) x[encode.indicator] = missing ? 1 : 0;
  if (missing) {
    if (!model.fills || encode.fill === undefined) return refusal(column, "missing");
    notes.push({ note: "filled", column: column.name });
  }
  const number = missing ? encode.fill : value;
  encode.parts.forEach((part, i) => {
    x[encode.place + i] = encodePart(part, number);
  });
  const margin = column.high > column.low ? 3 * (column.high - column.low) : Infinity;
  if (column.seen && (number < column.low - margin || number > column.high + margin)) {
    notes.push({ note: "far", column: column.name });
  }
  return null;
}

// {x, notes}, or a refusal.
function encodeRow(model, values) {
  const x = new Float64Array(model.inputs);
  const notes = [];
  const made = new Map();
  const valueOf = (name) => (made.has(name) ? made.get(name) : values[model.placeOf.get(name)]);
  for (const derived of model.derived) made.set(derived.name, derivedValue(derived, valueOf));
  for (const column of model.encoded) {
    const value = valueOf(column.name);
    const encode = column.kind === "text" ? encodeText : encodeNumber;
    const refused = encode(model, column, value, x, notes);
    if (refused) return refused;
  }
  if (model.encoded.length === 0) x.set(values);  // a network that is fed as it is
  for (let i = 0; i < x.length; ++i) {
    const rounded = model.dtype === "f32" ? Math.fround(x[i]) : x[i];
    if (!Number.isFinite(rounded)) {
      const column = model.encoded.find((each) => i < (each.encode.end ?? 0)) ?? model.columns[i];
      return refusal(column ?? { name: "" }, Number.isNaN(rounded) ? "missing" : "large");
    }
    x[i] = rounded;
  }
  return { x, notes };
}
