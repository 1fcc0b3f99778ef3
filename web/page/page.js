// The page: fields or a drawing, the answer, curves, rows, files.
function loadModel() {
  const description = JSON.parse(document.getElementById("model").textContent);
  return lamina.makeModel(description, lamina.bytesOfBase64(document.getElementById("numbers").textContent.trim()));
}

// Title, languages, light or dark.
function makeHeader(model) {
  const title = model.title;
  document.title = `${title} – lamina`;
  const choice = element("select", { id: "language" }, ...Object.entries(languageNames).map(([code, name]) =>
    element("option", { value: code, text: name, lang: code, selected: code === language })));
  choice.addEventListener("change", () => {
    language = choice.value;
    sayings.forEach((put) => put());
  });
  spoken(() => document.documentElement.setAttribute("lang", language));
  const theme = element("button", { type: "button", class: "theme", text: "◐", onclick: () => {
    const root = document.documentElement;
    const bySystem = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const dark = (root.dataset.theme ?? bySystem) === "dark";
    root.dataset.theme = dark ? "light" : "dark";
  } });
  spoken(() => theme.setAttribute("aria-label", say("theme")));
  const about = element("p", { class: "hint" });
  spoken(() => {
    about.textContent = say("about", { shape: model.shape, version: model.lamina });
  });
  return element("header", {}, element("div", {}, element("h1", {}, named(title)), about),
                 element("div", { class: "tools" },
                         spokenElement("label", "language", { for: "language", class: "unseen" }), choice, theme));
}

// Which output curves are about: of classes the answered one, unless another was chosen.
function makeChoice(model, key, changed) {
  const names = model.targets.classes ?? model.targets.outputs.map((output) => output.name);
  const options = names.map((name, j) => element("option", { value: j, text: name }));
  const select = element("select", { id: "output" }, ...options);
  let chosen = null;
  select.addEventListener("change", () => {
    chosen = Number(select.value);
    changed();
  });
  const root = element("p", { class: "row", hidden: names.length < 2 },
                       spokenElement("label", key, { for: "output" }), select);
  return { root, name: (j) => names[j], of: (answer) => {
    const output = chosen ?? answer.class ?? 0;
    select.value = String(output);
    return output;
  } };
}

// The fields, some of them at first.
function makeForm(model, changed) {
  const fields = model.columns.map((column, i) => makeField(column, i, changed));
  const list = element("div", { class: "fields" });
  const form = { fields, root: list, count: Math.min(firstFields, fields.length) };
  const order = fields.slice();
  form.place = () => list.replaceChildren(...order.slice(0, form.count).map((field) => field.root));
  form.visible = () => order.slice(0, form.count);
  form.sort = (effects) => {
    const effectOf = (field) => effects.get(field.column) ?? 0;
    order.sort((a, b) => (effects ? effectOf(b) - effectOf(a) : fields.indexOf(a) - fields.indexOf(b)));
    form.place();
  };
  form.showAll = () => {
    form.count = fields.length;
    form.place();
    changed();
  };
  form.typical = () => fields.forEach((field) => field.set(typicalText(field.column)));
  form.place();
  return form;
}

// The values of the form's fields, what could not be read, and problems beside the fields.
function readForm(model, form) {
  const { rows, odd } = lamina.readRows(model, [form.fields.map((field) => field.text())]);
  const values = rows[0];
  const oddNames = odd.map(({ column }) => column);
  form.fields.forEach((field, i) => {
    field.follow(values[i]);
    field.problem = oddNames.includes(field.column.name) ? say("noteOdd", { column: field.column.name }) : "";
  });
  return { values, odd: oddNames };
}

function makeMatters() {
  const list = element("ol", { class: "bars" });
  const root = element("section", { class: "card", "aria-labelledby": "matters-title" },
                       spokenElement("h2", "matters", { id: "matters-title" }),
                       spokenElement("p", "mattersHelp", { class: "hint" }), list);
  return { root, show: (curves, probabilities) => {
    const text = (effect) => (probabilities ? say("probability", { share: percent(effect) }) : shown(effect, 3));
    const sorted = [...curves].sort((a, b) => b[1].effect - a[1].effect).slice(0, 12);
    const most = sorted[0]?.[1].effect || 1;
    list.replaceChildren(...sorted.map(([column, curve]) =>
      barRow(column.name, curve.effect / most, text(curve.effect), { class: "bar-row" })));
  } };
}

function makeFooter(model) {
  const size = element("p", {});
  const checked = element("p", {});
  let difference;
  const tell = () => {
    size.textContent = say("size", { parameters: shown(model.parameters, 9), weights: model.weights }) +
      (model.trainedRows > 0 ? " " + say("trained", { rows: shown(model.trainedRows, 9) }) : "");
    if (difference === undefined || Number.isNaN(difference)) return;
    const good = difference < (model.dtype === "f64" ? 1e-8 : 1e-4);
    checked.className = good ? "" : "problem";
    const said = { rows: model.check.rows.length, difference: shown(difference, 2) };
    checked.textContent = say(good ? "checked" : "checkFailed", said);
  };
  spoken(tell);
  const check = () => {
    difference = lamina.checkModel(model);
    tell();
  };
  return { root: element("footer", {}, size, checked), check };
}

// Curves beside the fields, drawn to one scale.
function drawCurves(model, form, values, curves, outputName) {
  const ys = [...curves.values()].flatMap((curve) => curve.points.map((point) => point.y));
  const bounds = model.targets.probabilities ? [0, 1] :
    ys.reduce(([low, high], y) => [Math.min(low, y), Math.max(high, y)], [Infinity, -Infinity]);
  form.visible().forEach((field) => {
    const curve = curves.get(field.column);
    const present = values[model.columns.indexOf(field.column)];
    const svg = curve && drawCurve(field.column, curve, present, bounds, outputName);
    field.curve.replaceChildren(...(svg ? [svg] : []));
  });
}

// Which pixels change the chosen output most if they are turned over.
function pixelJobs(model, picture, values, output, effects) {
  const base = measured(model, lamina.answerRow(model, values), output);
  return values.map((value, i) => () => {
    const row = values.slice();
    row[i] = value > picture.white / 2 ? 0 : picture.white;
    effects[i] = Math.abs(measured(model, lamina.answerRow(model, row), output) - base);
  });
}

function start() {
  const model = loadModel();
  const picture = pictureForm(model);
  const queue = makeQueue();
  let now = { values: [], answer: null };
  let effects = new Map();
  let form = null;
  let drawing = null;
  const answerView = makeAnswer(model);
  const choice = makeChoice(model, picture ? "mattersOf" : "curveOf", () => update());
  const matters = makeMatters();
  const footer = makeFooter(model);

  function explain() {
    const output = choice.of(now.answer);
    if (drawing) {
      const changes = new Float64Array(now.values.length);
      queue(pixelJobs(model, picture, now.values, output, changes), () => {
        const most = Math.max(...changes) || 1;
        drawing.paintEffects(changes.map((change) => change / most));
      });
      return;
    }
    const curves = new Map();
    queue(form.visible().map((field) => () => {
      const place = model.columns.indexOf(field.column);
      curves.set(field.column, curveOf(model, now.values, place, output));
    }), () => {
      effects = new Map([...curves].map(([column, curve]) => [column, curve.effect]));
      drawCurves(model, form, now.values, curves, choice.name(output));
      matters.show(curves, model.targets.probabilities);
    });
  }

  function update() {
    const { values, odd } = drawing ? { values: drawing.values(), odd: [] } : readForm(model, form);
    now = { values, answer: lamina.answerRow(model, values) };
    answerView.show(now.answer, odd);
    form?.visible().forEach(showHint);
    explain();
  }

  const use = (values) => {
    if (drawing) {
      drawing.set(values);
    } else {
      form.fields.forEach((field, i) => field.set(cellOf(field.column, values[i])));
      update();
    }
    scrollTo({ top: 0, behavior: "smooth" });
  };
  const rows = makeRows(model, picture, use);
  const keep = button("keep", () => rows.keep({ ...now, values: now.values.slice() }), { class: "main" });
  const tools = element("p", { class: "row" }, keep);
  if (picture) {
    drawing = makeDrawing(model, picture, update);
  } else {
    form = makeForm(model, update);
    form.typical();
    const sort = button("sort", () => {
      const sorted = sort.getAttribute("aria-pressed") !== "true";
      sort.setAttribute("aria-pressed", sorted);
      form.sort(sorted ? effects : null);
    }, { "aria-pressed": "false" });
    tools.append(button("reset", () => { form.typical(); update(); }), sort);
  }
  const input = element("section", { class: "card input", "aria-labelledby": "input-title" },
                        spokenElement("h2", picture ? "drawing" : "fields", { id: "input-title" }), tools, choice.root,
                        (drawing ?? form).root);
  if (form && form.count < form.fields.length) {
    const more = element("button", { type: "button", onclick: () => { more.remove(); form.showAll(); } });
    spoken(() => {
      more.textContent = say("more", { count: shown(form.fields.length) });
    });
    input.append(more);
  }
  const side = element("div", { class: "side" }, answerView.root, ...(drawing ? [] : [matters.root]));
  const main = element("main", {}, side, input, rows.root, makeFile(model, use).root);
  document.body.append(makeHeader(model), main, footer.root, answerView.mini);
  spoken(update);
  setTimeout(footer.check, 300);
}

const cellOf = (column, value) => (column.kind === "text" ? value ?? "" : typedNumber(column, value, 15));
