// How the answer depends on each field around the present row, and how much each matters.
const curvePoints = 25;
const curveChoices = 12;

// The values that a field's curve goes through: [{value, text}].
function curveValues(column, present) {
  if (column.kind === "text") {
    const known = column.usual ?? column.encode?.categories ?? [];
    const texts = known.slice(0, curveChoices);
    if (present !== null && column.encode?.categories?.includes(present) && !texts.includes(present)) {
      texts.push(present);
    }
    return texts.map((text) => ({ value: text, text }));
  }
  if (column.low === undefined) return [];
  if (column.flag) return [0, 1].map((value) => ({ value, text: String(value) }));
  const inside = Number.isFinite(present);
  const low = inside ? Math.min(column.low, present) : column.low;
  const high = inside ? Math.max(column.high, present) : column.high;
  if (!(high > low)) return [];
  const text = (value) => (column.kind === "date" ? lamina.dateText(Math.round(value)) : shown(value, 4));
  return Array.from({ length: curvePoints }, (_, i) => {
    const value = low + ((high - low) * i) / (curvePoints - 1);
    return { value, text: text(value) };
  });
}

// What a curve is about: a class's score, or an output.
function measured(model, answer, output) {
  if (answer.refused) return NaN;
  return model.targets.classes ? answer.scores[output] : answer.outputs[output];
}

// {points: [{value, text, y}], effect}: `values` is the row, `place` the column's.
function curveOf(model, values, place, output) {
  const column = model.columns[place];
  const row = values.slice();
  const points = curveValues(column, values[place]).map((point) => {
    row[place] = point.value;
    return { ...point, y: measured(model, lamina.answerRow(model, row), output) };
  });
  const good = points.filter((point) => Number.isFinite(point.y));
  const usual = good.filter(({ value }) => column.kind === "text" || (value >= column.low && value <= column.high));
  const ys = usual.map((point) => point.y);
  return { points: good, effect: ys.length > 1 ? Math.max(...ys) - Math.min(...ys) : 0 };
}

const curveSize = { width: 220, height: 56, edge: 5 };

function curveLabel(column, curve, outputName) {
  const least = curve.points.reduce((a, b) => (b.y < a.y ? b : a));
  const most = curve.points.reduce((a, b) => (b.y > a.y ? b : a));
  return say("curve", { output: outputName, column: column.name, least: shown(least.y, 4), leastAt: least.text,
                        most: shown(most.y, 4), mostAt: most.text });
}

// `bounds`: [least, most] of all curves, so that steep ones look steep.
function drawCurve(column, curve, present, bounds, outputName) {
  const { width, height, edge } = curveSize;
  const { points } = curve;
  if (points.length < 2) return null;
  const span = bounds[1] - bounds[0] || 1;
  const y = (value) => height - edge - ((value - bounds[0]) / span) * (height - 2 * edge);
  const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
                                  "aria-label": curveLabel(column, curve, outputName) });
  const title = svgElement("title", {});
  title.textContent = svg.getAttribute("aria-label");
  svg.append(title);
  if (column.kind === "text" || column.flag) {
    const step = (width - 2 * edge) / points.length;
    points.forEach((point, i) => {
      const here = point.value === present;
      svg.append(svgElement("rect", { x: edge + i * step + 1, y: y(point.y), width: Math.max(2, step - 3),
                                      height: Math.max(1, height - edge - y(point.y)),
                                      class: here ? "bar here" : "bar" }));
    });
    return svg;
  }
  const first = points[0].value;
  const wide = points.at(-1).value - first;
  const x = (value) => edge + ((value - first) / wide) * (width - 2 * edge);
  const line = points.map((point) => `${x(point.value).toFixed(1)},${y(point.y).toFixed(1)}`).join(" ");
  svg.append(svgElement("polyline", { points: line, class: "line" }));
  if (Number.isFinite(present)) {
    const nearest = points.reduce((a, b) => (Math.abs(b.value - present) < Math.abs(a.value - present) ? b : a));
    svg.append(svgElement("line", { x1: x(present), x2: x(present), y1: 0, y2: height, class: "now" }));
    svg.append(svgElement("path", { d: `M ${x(present)} ${y(nearest.y)} h 0`, class: "dot" }));  // round in any width
  }
  return svg;
}

// A horizontal bar with what it is of; `share`: of the longest.
function barRow(name, share, text, attributes = {}) {
  const fill = element("span", { class: "fill" });
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return element("li", attributes, element("span", { class: "name" }, named(name)),
                 element("span", { class: "track", "aria-hidden": "true" }, fill),
                 element("span", { class: "value", text }));
}
