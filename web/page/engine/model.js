// A model made of its description and its numbers, and its answers.
const halfOf = (bits) => {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const part = bits & 1023;
  return sign * (exponent === 0 ? part * 2 ** -24 : (1 + part / 1024) * 2 ** (exponent - 15));
};

// An array of the blob as numbers that the engine computes with. Where it has places, all other numbers are 0.
function arrayAt(bytes, place) {
  const { at, count, type, places, all } = place;
  if (places) {
    const some = arrayAt(bytes, { at, count, type });
    const numbers = new some.constructor(all);
    arrayAt(bytes, places).forEach((index, i) => {
      numbers[index] = some[i];
    });
    return numbers;
  }
  const buffer = bytes.buffer;
  const start = bytes.byteOffset + at;
  switch (type) {
    case "f32": return new Float32Array(buffer, start, count);
    case "f64": return new Float64Array(buffer, start, count);
    case "i8": return new Int8Array(buffer, start, count);
    case "i32": return new Int32Array(buffer, start, count);
    case "bf16": {
      const bits = Uint32Array.from(new Uint16Array(buffer, start, count), (half) => half << 16);
      return new Float32Array(bits.buffer);
    }
    default: return Float32Array.from(new Uint16Array(buffer, start, count), halfOf);
  }
}

function bytesOfBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function prepareLayer(layer, bytes) {
  const made = { ...layer };
  for (const name of ["weights", "scales", "bias", "radius"]) {
    if (layer[name]) made[name] = arrayAt(bytes, layer[name]);
  }
  if (layer.activation !== "softmax") {
    if (!activations[layer.activation]) throw new Error(`unknown activation ${layer.activation}`);
    made.curve = activations[layer.activation](...(layer.parameters ?? []));
  }
  return made;
}

const prepareNetwork = (network, bytes) => ({
  ...network,
  layers: network.layers.map((layer) => prepareLayer(layer, bytes)),
  factors: network.factors && arrayAt(bytes, network.factors),
});

// `description`: the JSON of PageModelOf() (lamina/model/html_page); `bytes`: its numbers, at a multiple of 8.
function makeModel(description, bytes) {
  const model = { ...description };
  model.marks = new Set(description.missing.words);
  model.missingNumbers = new Set(description.missing.numbers);
  model.placeOf = new Map(description.columns.map((column, i) => [column.name, i]));
  model.encoded = [...description.columns, ...description.derived].filter((column) => column.encode);
  model.encoded.sort((a, b) => a.encode.place - b.encode.place);
  model.encoded.forEach((column, i) => {
    prepareCategories(column);
    column.encode.end = model.encoded[i + 1]?.encode.place ?? model.inputs;
  });
  model.networks = description.networks.map((network) => prepareNetwork(network, bytes));
  model.int8 = description.int8 && prepareInt8(description.int8, bytes);
  model.gates = description.gates && prepareNetwork(description.gates, bytes);
  return model;
}

// Outputs in units of the targets; quantiles that cross are put in order.
function inUnits(targets, raw) {
  const outputs = Array.from(raw);
  if (targets.classes) return outputs;
  targets.outputs.forEach((output, j) => {
    if (output.scale === undefined) return;
    const value = outputs[j] * output.scale + output.offset;
    outputs[j] = output.log ? signedExp(value) : value;
  });
  const each = targets.quantiles;
  for (let j = 0; each > 1 && j < outputs.length; j += each) {
    outputs.splice(j, each, ...outputs.slice(j, j + each).sort((a, b) => a - b));
  }
  return outputs;
}

function classOf(targets, outputs) {
  const { single, threshold, highest } = targets;
  if (single) return outputs[0] > threshold === highest ? 1 : 0;
  let best = 0;
  outputs.forEach((y, j) => {
    if (highest ? y > outputs[best] : y < outputs[best]) best = j;
  });
  return best;
}

// One number a class, also where one output tells two classes.
function classScores(targets, outputs) {
  return targets.single ? [2 * targets.threshold - outputs[0], outputs[0]] : outputs;
}

// {outputs, notes} and of classes {class, name, scores}, of intervals {lower, upper}; or {refused: {column, reason}}.
function answerRow(model, values) {
  const encoded = encodeRow(model, values);
  if (encoded.refused) return encoded;
  const { targets, intervals } = model;
  const outputs = inUnits(targets, rawOutputs(model, encoded.x));
  if (!outputs.every(Number.isFinite)) return { refused: { column: "", reason: "notFinite" } };
  const answer = { outputs, notes: encoded.notes };
  if (targets.classes) {
    answer.class = classOf(targets, outputs);
    answer.name = targets.classes[answer.class];
    answer.scores = classScores(targets, outputs);
  }
  if (intervals) {
    answer.lower = outputs.map((y, j) => y - intervals.halfWidths[j]);
    answer.upper = outputs.map((y, j) => y + intervals.halfWidths[j]);
  }
  return answer;
}

// Values of rows of texts, with the places of cells that were read as missing: {rows, odd: [{row, column}]}.
function readRows(model, texts, file) {
  const rows = texts.map(() => new Array(model.columns.length));
  const odd = [];
  model.columns.forEach((column, c) => {
    const read = readColumn(model, column, texts.map((row) => row[c]), file);
    read.values.forEach((value, r) => {
      rows[r][c] = value;
    });
    odd.push(...read.odd.map((row) => ({ row, column: column.name })));
  });
  return { rows, odd };
}

// The largest difference between the page's answers and those that the program wrote into it. It is a share of 1 + the
// answer's size + the scale of its target (in whose f32 the program computes). NaN where the page carries no such rows.
function checkModel(model) {
  let largest = NaN;
  (model.check?.rows ?? []).forEach((cells, i) => {
    const values = cells.map((cell, c) => (cell === null && model.columns[c].kind !== "text" ? NaN : cell));
    const answer = answerRow(model, values);
    model.check.outputs[i].forEach((wanted, j) => {
      const size = 1 + Math.abs(wanted) + (model.targets.outputs[j]?.scale ?? 0);
      const difference = answer.refused ? Infinity : Math.abs(answer.outputs[j] - wanted) / size;
      largest = Number.isNaN(largest) ? difference : Math.max(largest, difference);
    });
  });
  return largest;
}
