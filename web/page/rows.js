// Rows kept beside one another, and files of rows.
const shownRows = 50;
const shownFields = 40;

function answerText(model, answer) {
  if (answer.refused) return say("noAnswer");
  if (model.targets.classes) {
    return `${answer.name} (${scoreText(model, answer.scores[answer.class])})`;
  }
  return answer.outputs.map((y, j) => {
    const interval = answer.lower ? ` (${shown(answer.lower[j])} – ${shown(answer.upper[j])})` : "";
    return shown(y) + interval;
  }).join("; ");
}

function cellText(column, value) {
  if (value === null || Number.isNaN(value)) return "";
  return column.kind === "text" ? value : column.kind === "date" ? lamina.dateText(value) : shown(value);
}

// A button of one row, which says of which.
const rowButton = (key, row, onclick) =>
  element("button", { type: "button", text: say(key), "aria-label": `${say(key)}: ${row}`, onclick });

// {root, keep(row)}: a row is {values, answer}; `form` is null or that of pictures.
function makeRows(model, form, use) {
  const kept = [];
  const body = element("div", { class: "scroll" });
  const root = element("section", { class: "card wide", hidden: true, "aria-labelledby": "rows-title" },
                       spokenElement("h2", "rows", { id: "rows-title" }), body);
  const columnHead = (row, i) => {
    const name = say("row", { number: i + 1 });
    const remove = rowButton("remove", name, () => {
      kept.splice(kept.indexOf(row), 1);
      refresh();
    });
    const take = rowButton("use", name, () => use(row.values));
    return element("th", { scope: "col" }, element("span", { text: name }), element("br"), take, " ", remove);
  };
  const pictureOf = (row) => {
    const label = answerText(model, row.answer);
    const canvas = element("canvas", { class: "pixels small", role: "img", "aria-label": label });
    paintPixels(canvas, form, row.values.map((value) => value / form.white), null);
    return element("td", {}, canvas);
  };
  const fieldRow = (column, c) => {
    const texts = kept.map((row) => cellText(column, row.values[c]));
    const differs = texts.some((text) => text !== texts[0]);
    return element("tr", { class: differs ? "differs" : "" }, element("th", { scope: "row" }, named(column.name)),
                   ...texts.map((text) => element("td", {}, text === "" ? say("empty") : named(text))));
  };
  function refresh() {
    root.hidden = kept.length === 0;
    const answers = element("tr", { class: "total" }, element("th", { scope: "row", text: say("answer") }),
                            ...kept.map((row) => element("td", {}, named(answerText(model, row.answer)))));
    const lines = form ? [element("tr", {}, element("td"), ...kept.map(pictureOf))] :
      model.columns.slice(0, shownFields).map(fieldRow);
    const heads = element("tr", {}, element("td"), ...kept.map(columnHead));
    body.replaceChildren(element("table", {}, element("thead", {}, heads), element("tbody", {}, answers, ...lines)));
  }
  spoken(refresh);
  return { root, keep: (row) => { kept.push(row); refresh(); } };
}

// A file of the browser's memory to the user's disk.
function saveText(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// The table of a file with its answers, as the program would add them.
function answeredCsv(model, table, answers) {
  const own = (record) => record.slice(0, table.names.length);
  const rows = table.records.map((record, i) => [...own(record), ...lamina.answerCells(model, answers[i])]);
  return lamina.csvText([[...table.names, ...lamina.answerNames(model)], ...rows]);
}

// Sentences on the answers to a file.
function fileSummary(model, name, table, done, seconds) {
  const refused = done.answers.filter((answer) => answer.refused).length;
  const lines = [say("fileDone", { name, rows: shown(table.texts.length), answered: shown(table.texts.length - refused),
                                   seconds: seconds.toFixed(2) })];
  if (refused > 0) lines.push(say("fileRefused", { count: shown(refused) }));
  if (done.odd.length > 0) lines.push(say("fileOdd", { count: shown(done.odd.length) }));
  for (const [note, key] of [["unseen", "fileUnseen"], ["filled", "fileFilled"], ["far", "fileFar"]]) {
    const of = (answer) => (answer.notes ?? []).filter((each) => each.note === note).length;
    const count = done.answers.reduce((sum, answer) => sum + of(answer), 0);
    if (count > 0) lines.push(say(key, { count: shown(count) }));
  }
  const good = done.answers.filter((answer) => !answer.refused);
  if (!model.targets.classes && good.length > 0) {
    model.targets.outputs.forEach((output, j) => {
      const ys = good.map((answer) => answer.outputs[j]);
      const [least, most] = ys.reduce(([a, b], y) => [Math.min(a, y), Math.max(b, y)], [Infinity, -Infinity]);
      lines.push(say("fileMean", { output: output.name, mean: shown(ys.reduce((a, b) => a + b) / ys.length),
                                   least: shown(least), most: shown(most) }));
    });
  }
  return lines;
}

function classCounts(model, answers) {
  const counts = new Map();
  for (const answer of answers) if (!answer.refused) counts.set(answer.name, (counts.get(answer.name) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]).slice(0, firstClasses);
  const most = sorted[0]?.[1] ?? 1;
  return element("ol", { class: "bars" }, ...sorted.map(([name, count]) =>
    barRow(name, count / most, shown(count), { class: "bar-row" })));
}

function fileRows(model, table, done, use) {
  const count = Math.min(shownRows, table.records.length);
  const names = table.names.slice(0, 12);
  const row = (i) => {
    const take = rowButton("use", say("row", { number: i + 1 }), () => use(done.rows[i]));
    return element("tr", {}, element("td", {}, take),
                   element("td", { class: "total" }, named(answerText(model, done.answers[i]))),
                   ...names.map((_, c) => element("td", {}, named(table.records[i][c] ?? ""))));
  };
  const head = element("tr", {}, element("td"), element("th", { scope: "col", text: say("answer") }),
                       ...names.map((name) => element("th", { scope: "col" }, named(name))));
  const rows = Array.from({ length: count }, (_, i) => row(i));
  return element("div", { class: "scroll" }, element("p", { class: "hint", text: say("fileFirst") }),
                 element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

// The text of a file, gzip or not, in the encodings that the program finds out; null: it is none.
async function textOf(file) {
  let bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    try {
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
      return null;
    }
  }
  const mark = `${bytes[0]} ${bytes[1]}`;
  if (mark === "255 254" || mark === "254 255") {
    return new TextDecoder(mark === "255 254" ? "utf-16le" : "utf-16be").decode(bytes);
  }
  if (bytes.subarray(0, 4096).includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

function fileProblem(name, table) {
  if (table.other) return say("fileOther", { name });
  if (table.empty) return say("fileEmpty", { name });
  if (table.ragged) return say("fileRagged", { name, ...table.ragged });
  const columns = table.lacking.slice(0, 8).join(", ") + (table.lacking.length > 8 ? ", …" : "");
  return say("fileLacks", { name, columns });
}

// {root}: a place to drop a file on.
function makeFile(model, use) {
  const result = element("div", { "aria-live": "polite" });
  const input = element("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.gz,text/csv" });
  const zone = element("div", { class: "drop" }, spokenElement("p", "fileHelp"),
                       spokenElement("label", "choose_file", { for: "file" }), " ", input);
  let show = () => {};
  const take = async (file) => {
    const text = await textOf(file);
    const began = performance.now();
    const table = text === null ? { other: true } : lamina.readTable(model, text);
    if (!table.texts) {
      show = () => result.replaceChildren(element("p", { class: "problem", text: fileProblem(file.name, table) }));
      show();
      return;
    }
    const done = lamina.answerTable(model, table);
    const seconds = (performance.now() - began) / 1000;
    show = () => {
      const lines = fileSummary(model, file.name, table, done, seconds);
      const save = element("button", { type: "button", class: "main", text: say("save"), onclick: () =>
        saveText(file.name.replace(/(\.\w+)?(\.gz)?$/i, "") + "-answers.csv", answeredCsv(model, table, done.answers)) });
      result.replaceChildren(...lines.map((text) => element("p", { text })), save,
                             ...(model.targets.classes ? [classCounts(model, done.answers)] : []),
                             fileRows(model, table, done, use));
    };
    show();
  };
  spoken(() => show());
  input.addEventListener("change", () => input.files[0] && take(input.files[0]));
  for (const name of ["dragover", "dragenter"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  document.addEventListener("dragleave", () => zone.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  return { root: element("section", { class: "card wide", "aria-labelledby": "file-title" },
                         spokenElement("h2", "file", { id: "file-title" }), zone, result) };
}
