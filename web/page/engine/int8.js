// A network in whole numbers of 8 bits: the integers of lamina/model/int8_network.cc, to the bit.
const most8 = 127;
const wholeShare = 32768; // a whole share of softmax and sigmoid
const wholePower = 65536;
const stepsOfPower = 16; // the last layer's numbers have 1024 steps of 1, powers 64

const within = (z, low, high) => Math.min(high, Math.max(low, z));

// Sums of a neuron; distances of whole numbers are those of network.js.
const termsInt8 = {
  ...terms,
  dot: (x, w, at) => {
    let sum = 0;
    for (let i = 0; i < x.length; ++i) sum += x[i] * w[at + i];
    return sum;
  },
};

// (sum + offset) factor / 2^shift, rounded to nearest: more than 53 bits in between.
function scaledInt8(layer, j, sum) {
  const product = BigInt(sum + layer.offsets[j]) * layer.factors[j];
  return Number(BigInt.asIntN(32, (product + layer.half) >> layer.shiftBits));
}

const finishesInt8 = {
  corner: (layer, j, sum) => Math.max(0, layer.offsets[j] - sum) >> layer.shift,
  clamped: (layer, j, sum) => within(scaledInt8(layer, j, sum), layer.low, most8),
  table: (layer, j, sum) => layer.table[within(scaledInt8(layer, j, sum), -128, most8) + 128],
};
finishesInt8.last = scaledInt8;

function layerInt8(layer, x) {
  const term = termsInt8[layer.synapse];
  const finish = finishesInt8[layer.finish] ?? finishesInt8.last;
  return Int32Array.from({ length: layer.outputs }, (_, j) => finish(layer, j, term(x, layer.weights, j * layer.inputs)));
}

// 65536 e^-d of d in 1024ths.
function powerInt8({ whole, rest }, d) {
  const steps = Math.floor(d / stepsOfPower);
  const at = Math.floor(steps / rest.length);
  return at >= whole.length ? 0 : Math.floor((whole[at] * rest[steps % rest.length]) / wholePower);
}

const curvesInt8 = {
  softmax: (z, powers) => {
    const most = Math.max(...z);
    const powersOf = z.map((each) => powerInt8(powers, most - each));
    const sum = powersOf.reduce((total, each) => total + each, 0);
    return powersOf.map((each) => Math.floor((each * wholeShare) / sum));
  },
  sigmoid: (z, powers) =>
    z.map((each) => {
      const share = Math.floor((wholePower * wholeShare) / (wholePower + powerInt8(powers, Math.abs(each))));
      return each < 0 ? wholeShare - share : share;
    }),
};

function prepareInt8(network, bytes) {
  const layers = network.layers.map((layer) => ({
    ...layer,
    weights: arrayAt(bytes, layer.weights),
    factors: layer.factors.map(BigInt),
    shiftBits: BigInt(layer.shift),
    half: layer.shift > 0 ? 1n << BigInt(layer.shift - 1) : 0n,
  }));
  return { ...network, layers };
}

// Outputs of an encoded row in the network's type, before they are in units of the target.
function int8Outputs(model, x) {
  const { steps, layers, powers, outputStep } = model.int8;
  const round = model.dtype === "f32" ? Math.fround : (value) => value;
  let z = Int32Array.from(x, (value, i) => within(Math.floor(round(round(value / round(steps[i])) + 0.5)), -most8, most8));
  for (const layer of layers) z = layerInt8(layer, z);
  const curve = curvesInt8[layers.at(-1).finish];
  if (curve) z = curve(z, powers);
  return Float64Array.from(z, (whole) => round(round(whole) * round(outputStep)));
}
