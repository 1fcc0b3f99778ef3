// Pictures of numbers: curves by epoch, predicted by true values.
const chartSize = { width: 640, height: 260, left: 58, right: 12, top: 12, bottom: 34 };

function makeScale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

function axis(svg, scale, ticks, vertical) {
  const { width, height, left, right, bottom } = chartSize;
  for (const tick of ticks) {
    const at = scale(tick);
    svg.append(vertical ? svgElement("line", { x1: left, x2: width - right, y1: at, y2: at, class: "grid" })
                        : svgElement("line", { x1: at, x2: at, y1: height - bottom, y2: height - bottom + 5, class: "grid" }));
    const text = svgElement("text", vertical ? { x: left - 6, y: at + 4, "text-anchor": "end" }
                                             : { x: at, y: height - bottom + 20, "text-anchor": "middle" });
    text.textContent = shown(tick, 4);
    svg.append(text);
  }
}

// Round numbers between two others.
function roundTicks(low, high, count = 5) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= raw);
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) ticks.push(tick);
  return ticks;
}

function emptyChart(label) {
  const { width, height } = chartSize;
  const svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart" });
  const title = svgElement("title", {});
  title.textContent = label;
  svg.append(title);
  return svg;
}

// `curves`: [{name, kind, points: [[epoch, value]]}], `best`: an epoch to mark.
function drawCurves(curves, best) {
  const { width, height, left, right, top, bottom } = chartSize;
  const points = curves.flatMap((curve) => curve.points);
  if (points.length === 0) return element("p", { class: "hint", text: say("noCurves") });
  const ys = points.map(([, y]) => y);
  const last = Math.max(2, ...points.map(([x]) => x));
  const x = makeScale(1, last, left, width - right);
  const high = Math.max(...ys);
  const low = Math.min(0, ...ys);
  const y = makeScale(low, high, height - bottom, top);
  const said = curves.map((curve) => `${curve.name} ${shown(curve.points.at(-1)?.[1] ?? NaN, 4)}`).join(", ");
  const svg = emptyChart(`${say("curvesOf")}: ${said}`);
  axis(svg, y, roundTicks(low, high), true);
  axis(svg, x, roundTicks(1, last).filter(Number.isInteger), false);
  for (const curve of curves) {
    const line = curve.points.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ");
    svg.append(svgElement("polyline", { points: line, class: `curve-line ${curve.kind}` }));
  }
  const marked = curves.find((curve) => curve.kind === "validation") ?? curves[0];
  const dot = marked.points.find(([epoch]) => epoch === best);
  if (dot) svg.append(svgElement("circle", { cx: x(dot[0]), cy: y(dot[1]), r: 5, class: "best" }));
  const legend = element("ul", { class: "legend" }, ...curves.map((curve) =>
    element("li", { class: curve.kind }, named(curve.name))));
  return element("figure", {}, svg, legend);
}

// `points`: [[true, predicted]].
function drawScatter(name, points) {
  const { width, height, left, right, top, bottom } = chartSize;
  const all = points.flat();
  const low = Math.min(...all);
  const high = Math.max(...all);
  const x = makeScale(low, high, left, width - right);
  const y = makeScale(low, high, height - bottom, top);
  const svg = emptyChart(say("scatter", { name }));
  axis(svg, y, roundTicks(low, high), true);
  axis(svg, x, roundTicks(low, high), false);
  svg.append(svgElement("line", { x1: x(low), y1: y(low), x2: x(high), y2: y(high), class: "exact" }));
  const dots = points.map(([a, b]) => `M${x(a).toFixed(1)} ${y(b).toFixed(1)}h0`).join("");
  svg.append(svgElement("path", { d: dots, class: "points" }));
  return element("figure", {}, svg, element("figcaption", { text: say("scatter", { name }) }));
}
