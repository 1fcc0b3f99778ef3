// Encoded rows through layers, in double precision: what lamina/model/predictor.cc computes.
const activations = {
  identity: () => (z) => z,
  sigmoid: () => (z) => 1 / (1 + Math.exp(-z)),
  bipolar_sigmoid: (gain, threshold) => (z) => 2 / (1 + Math.exp(gain * (threshold - z))) - 1,
  tanh: () => Math.tanh,
  relu: () => (z) => (z > 0 ? z : 0),
  leaky_relu: (slope) => (z) => (z > 0 ? z : slope * z),
  gelu: () => (z) => 0.5 * z * (1 + Math.tanh(0.7978845608028654 * (z + 0.044715 * z * z * z))),
  triangle: (radius) => (z) => Math.max(0, 1 - z / (2.5066 * radius)),
  gaussian: (radius) => (z) => Math.exp(-0.5 * (z / radius) * (z / radius)),
  silu: () => (z) => z / (1 + Math.exp(-z)),
  mish: () => (z) => {
    const power = Math.exp(Math.min(20, z));
    const n = power * (power + 2);
    return z * (n / (n + 2));
  },
  elu: (alpha) => (z) => (z > 0 ? z : alpha * Math.expm1(z)),
  selu: () => (z) => 1.0507009873554805 * (z > 0 ? z : 1.6732632423543772 * Math.expm1(z)),
  softplus: () => (z) => Math.max(0, z) + Math.log1p(Math.exp(-Math.abs(z))),
  abs: () => Math.abs,
  linsat: () => (z) => Math.min(1, Math.max(-1, z)),
  multiquadric: () => (z) => Math.hypot(1, z),
  laplace: (radius, power) => (z) => Math.exp(-((Math.abs(z) / radius) ** power)),
  exp: () => (z) => Math.exp(Math.min(z, 80)),
  sine: () => (z) => Math.sin(Math.min(1e4, Math.max(-1e4, z))),
};

function softmax(a) {
  const most = a.reduce((larger, y) => Math.max(larger, y), -Infinity);
  let sum = 0;
  for (let j = 0; j < a.length; ++j) sum += a[j] = Math.exp(a[j] - most);
  for (let j = 0; j < a.length; ++j) a[j] /= sum;
}

// The sum of a row with one neuron's weights, which begin at `at`.
const terms = {
  dot: (x, w, at, places) => {
    let sum = 0;
    for (const i of places) sum += x[i] * w[at + i];
    return sum;
  },
  l1: (x, w, at) => {
    let sum = 0;
    for (let i = 0; i < x.length; ++i) sum += Math.abs(x[i] - w[at + i]);
    return sum;
  },
  l2sq: (x, w, at) => {
    let sum = 0;
    for (let i = 0; i < x.length; ++i) sum += (x[i] - w[at + i]) * (x[i] - w[at + i]);
    return sum;
  },
};
terms.l2 = (x, w, at) => Math.sqrt(terms.l2sq(x, w, at));

// Where x is not zero: products with the other weights are left out.
function filledPlaces(x) {
  const places = new Uint32Array(x.length);
  let count = 0;
  for (let i = 0; i < x.length; ++i) if (x[i] !== 0) places[count++] = i;
  return places.subarray(0, count);
}

function sumsOf(layer, x, first, count) {
  const term = terms[layer.synapse];
  const places = layer.synapse === "dot" ? filledPlaces(x) : null;
  const sums = new Float64Array(count);
  for (let j = 0; j < count; ++j) sums[j] = term(x, layer.weights, (first + j) * layer.inputs, places);
  return sums;
}

function layerOutputs(layer, x, member) {
  const first = member * layer.outputs;
  const a = sumsOf(layer, x, first, layer.outputs);
  for (let j = 0; j < a.length; ++j) {
    if (layer.scales) a[j] *= layer.scales[first + j];
    if (layer.bias) a[j] += layer.bias[first + j];
    if (layer.radius) a[j] /= layer.radius[j];
  }
  if (layer.activation === "softmax") softmax(a);
  else if (layer.activation !== "identity") for (let j = 0; j < a.length; ++j) a[j] = layer.curve(a[j]);
  return a;
}

function walkLayers(layers, x, member) {
  let skipped = null;
  layers.forEach((layer, l) => {
    if (layer.begins) skipped = x;
    x = layerOutputs(layer, x, l + 1 === layers.length ? member : 0);
    if (layer.ends) x = x.map((y, j) => y + skipped[j]);
  });
  return x;
}

function networkOutputs(network, x) {
  if (!network.members) return walkLayers(network.layers, x, 0);
  const y = new Float64Array(network.layers.at(-1).outputs);
  for (let member = 0; member < network.members; ++member) {
    const own = x.map((value, i) => value * network.factors[member * x.length + i]);
    walkLayers(network.layers, own, member).forEach((answer, j) => {
      y[j] += answer / network.members;
    });
  }
  return y;
}

// The mean of the targets of the nearest rows; of equally near ones those of lower index.
function nearestOutputs(model, x) {
  const [kept, targets] = model.networks[0].layers;
  let sums = sumsOf(kept, x, 0, kept.outputs);
  if (kept.synapse === "dot") sums = sums.map((sum) => -sum);
  const near = [];
  for (let row = 0; row < sums.length; ++row) {
    if (near.length === model.nearest && !(sums[row] < sums[near.at(-1)])) continue;
    let at = near.length;
    while (at > 0 && sums[row] < sums[near[at - 1]]) --at;
    near.splice(at, 0, row);
    if (near.length > model.nearest) near.pop();
  }
  return Float64Array.from({ length: targets.outputs }, (_, j) => {
    const sum = near.reduce((total, row) => total + targets.weights[j * targets.inputs + row], 0);
    return sum / model.nearest;
  });
}

// The share of each network; by gates the shares go by the row.
function sharesOf(model, x) {
  if (!model.gates) return model.networks.map((network) => network.share);
  const gates = networkOutputs(model.gates, x);
  const all = gates.reduce((sum, gate) => sum + gate, 0);
  return gates.map((gate) => gate / all);
}

// Outputs of an encoded row, before they are in units of the target.
function rawOutputs(model, x) {
  if (model.int8) return int8Outputs(model, x);
  if (model.nearest) return nearestOutputs(model, x);
  if (model.networks.length === 1) return networkOutputs(model.networks[0], x);
  const sums = new Float64Array(model.networks[0].layers.at(-1).outputs);
  const shares = sharesOf(model, x);
  model.networks.forEach((network, k) => {
    if (shares[k] === 0) return;
    networkOutputs(network, x).forEach((y, j) => {
      sums[j] += shares[k] * y;
    });
  });
  return sums;
}
