// Models of pictures: a place to draw in, what the model sees of it, and which pixels matter.
const inkPerPixel = 8;  // ink is kept finer than the model's pixels

// {height, width, white}, or null where the columns are no pixels (apps/gui/pictures.cc).
function pictureForm(model) {
  const { columns } = model;
  if (columns.some((column) => column.kind !== "number" || !column.encode)) return null;
  const white = columns.reduce((most, column) => Math.max(most, column.high ?? 0), 0);
  if (!(white > 0) || columns.some((column) => column.low < 0)) return null;
  if (model.image) return { ...model.image, white };
  const side = Math.round(Math.sqrt(columns.length));
  const prefix = columns[0].name.replace(/\d+$/, "");
  const first = Number(columns[0].name.slice(prefix.length) || NaN);
  const numbered = columns.every((column, i) => column.name === `${prefix}${first + i}`);
  return side * side === columns.length && side >= 8 && numbered ? { height: side, width: side, white } : null;
}

// Where the training's pictures have their ink: {top, bottom, left, right} of the mean picture, in pixels. Unknown: all
// but a seventh at each end, as in MNIST.
function usualFrame(model, form) {
  const rows = new Float64Array(form.height);
  const lines = new Float64Array(form.width);
  model.columns.forEach((column, i) => {
    const row = Math.floor(i / form.width);
    rows[row] = Math.max(rows[row], column.typical ?? 0);
    lines[i % form.width] = Math.max(lines[i % form.width], column.typical ?? 0);
  });
  const bounds = (sums) => {
    const most = Math.max(...sums);
    const margin = sums.length < 16 ? 0 : Math.round(sums.length / 7);
    if (most === 0) return [margin, sums.length - margin];
    const inked = [...sums.keys()].filter((i) => sums[i] > 0.12 * most);
    return [inked[0], inked.at(-1) + 1];
  };
  const [top, bottom] = bounds(rows);
  const [left, right] = bounds(lines);
  return { top, bottom, left, right };
}

// Ink as the model's pixels, in shares of white; `frame`: moved and scaled into it, null: as it was drawn.
function pixelsOfInk(ink, form, frame) {
  const width = form.width * inkPerPixel;
  const height = form.height * inkPerPixel;
  let box = { left: 0, top: 0, scale: 1, x: 0, y: 0 };
  if (frame) {
    let [left, right, top, bottom] = [width, 0, height, 0];
    ink.forEach((value, i) => {
      if (value < 32) return;
      left = Math.min(left, i % width);
      right = Math.max(right, (i % width) + 1);
      top = Math.min(top, Math.floor(i / width));
      bottom = Math.max(bottom, Math.floor(i / width) + 1);
    });
    if (right <= left) return new Float64Array(form.width * form.height);
    const scale = Math.max((bottom - top) / (frame.bottom - frame.top), (right - left) / (frame.right - frame.left));
    box = { scale: scale / inkPerPixel, x: (left + right) / 2, y: (top + bottom) / 2,
            left: (frame.left + frame.right) / 2, top: (frame.top + frame.bottom) / 2 };
  }
  // A pixel is the mean of its ink, asked at 8 × 8 spots.
  const pixels = new Float64Array(form.width * form.height);
  pixels.forEach((_, i) => {
    let sum = 0;
    for (let spot = 0; spot < inkPerPixel * inkPerPixel; ++spot) {
      const dx = (i % form.width) + ((spot % inkPerPixel) + 0.5) / inkPerPixel;
      const dy = Math.floor(i / form.width) + (Math.floor(spot / inkPerPixel) + 0.5) / inkPerPixel;
      const x = Math.floor(frame ? box.x + (dx - box.left) * box.scale * inkPerPixel : dx * inkPerPixel);
      const y = Math.floor(frame ? box.y + (dy - box.top) * box.scale * inkPerPixel : dy * inkPerPixel);
      if (x >= 0 && x < width && y >= 0 && y < height) sum += ink[y * width + x];
    }
    pixels[i] = sum / (255 * inkPerPixel * inkPerPixel);
  });
  return pixels;
}

// Shares of white (or of the largest effect) onto a small canvas, a pixel each.
function paintPixels(canvas, form, shares, colour) {
  canvas.width = form.width;
  canvas.height = form.height;
  const context = canvas.getContext("2d");
  const image = context.createImageData(form.width, form.height);
  shares.forEach((share, i) => {
    const value = Math.round(255 * Math.min(1, Math.max(0, share)));
    image.data.set(colour ? [...colour, value] : [value, value, value, 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
}

function strokeOn(canvas, from, to) {
  const context = canvas.getContext("2d");
  context.strokeStyle = "#fff";
  context.lineCap = "round";
  context.lineJoin = "round";
  context.lineWidth = canvas.width / 11;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y + 0.01);
  context.stroke();
}

// Pointer and keys draw on `canvas`; `changed` is told.
function letDraw(canvas, changed, told) {
  let last = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: ((event.clientX - box.left) / box.width) * canvas.width,
             y: ((event.clientY - box.top) / box.height) * canvas.height };
  };
  canvas.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    canvas.focus({ preventScroll: true });
    last = at(event);
    strokeOn(canvas, last, last);
    changed();
  });
  window.addEventListener("pointermove", (event) => {
    if (!last) return;
    const next = at(event);
    strokeOn(canvas, last, next);
    last = next;
    changed();
  });
  for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, () => (last = null));
  const pen = { x: canvas.width / 2, y: canvas.height / 2, isDown: false };
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move && event.key !== " ") return;
    event.preventDefault();
    const before = { ...pen };
    if (move) {
      pen.x = Math.min(canvas.width - 1, Math.max(0, pen.x + move[0] * inkPerPixel));
      pen.y = Math.min(canvas.height - 1, Math.max(0, pen.y + move[1] * inkPerPixel));
    } else {
      pen.isDown = !pen.isDown;
    }
    if (pen.isDown) {
      strokeOn(canvas, before, pen);
      changed();
    }
    told(say("pen", { state: say(pen.isDown ? "down" : "up"), x: Math.floor(pen.x / inkPerPixel) + 1,
                      y: Math.floor(pen.y / inkPerPixel) + 1 }));
  });
}

// {root, values(), set(values), paintEffects(shares)}: the drawing as the form of a model of pictures.
function makeDrawing(model, form, changed) {
  const frame = usualFrame(model, form);
  const canvas = element("canvas", { class: "ink", width: form.width * inkPerPixel, height: form.height * inkPerPixel,
                                     tabindex: 0, role: "application" });
  const seen = element("canvas", { class: "pixels", role: "img" });
  const effects = element("canvas", { class: "pixels effects", role: "img" });
  const centre = element("input", { type: "checkbox", id: "centre", checked: true });
  const penState = element("p", { class: "hint", "aria-live": "polite" });
  const clear = () => {
    const context = canvas.getContext("2d");
    context.fillStyle = "#000";
    context.fillRect(0, 0, canvas.width, canvas.height);
  };
  clear();
  const drawing = { pixels: new Float64Array(form.width * form.height) };
  const read = () => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const ink = new Float64Array(canvas.width * canvas.height).map((_, i) => data[4 * i]);
    drawing.pixels = pixelsOfInk(ink, form, centre.checked ? frame : null);
    drawing.show();
  };
  drawing.show = () => paintPixels(seen, form, drawing.pixels, null);
  drawing.read = () => {
    read();
    changed();
  };
  drawing.values = () => {
    const whole = model.columns.every(isWhole);
    return Array.from(drawing.pixels, (share) => (whole ? Math.round(share * form.white) : share * form.white));
  };
  drawing.set = (values) => {
    drawing.pixels = Float64Array.from(values, (value) => value / form.white);
    clear();
    const small = document.createElement("canvas");
    paintPixels(small, form, drawing.pixels, null);
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, canvas.width, canvas.height);
    drawing.show();
    changed();
  };
  drawing.paintEffects = (shares) => paintPixels(effects, form, shares, [224, 96, 32]);
  centre.addEventListener("change", drawing.read);
  letDraw(canvas, drawing.read, (text) => {
    penState.textContent = text;
  });
  spoken(() => {
    canvas.setAttribute("aria-label", say("draw"));
    seen.setAttribute("aria-label", say("pixels"));
    effects.setAttribute("aria-label", say("pixelsMatter"));
  });
  const small = (key, picture) => element("figure", {}, picture, spokenElement("figcaption", key));
  drawing.root = element("div", { class: "drawing" },
    element("div", {}, canvas, element("p", { class: "row" }, button("clear", () => { clear(); drawing.read(); })),
            element("p", { class: "check" }, centre, spokenElement("label", "centre", { for: "centre" })),
            spokenElement("p", "draw", { class: "hint" }), penState),
    element("div", { class: "views" }, small("pixels", seen), small("pixelsMatter", effects)));
  drawing.show();
  return drawing;
}
