// Step "Model": files of the model, answers to a file, and the model's own page for typed values and drawings.
function saveFile(name, bytes, type = "application/octet-stream") {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function makeModelStep(app) {
  const about = element("p", { class: "below", text: say("noModel") });
  const save = (key, kind) => element("button", { type: "button", text: say(key), disabled: true, onclick: () => app.saveModel(kind) });
  const saves = [save("saveModel", "model"), save("savePage", "html"), save("saveOnnx", "onnx"), save("saveC", "c")];
  const picker = (id, key, taken) => {
    const input = element("input", { type: "file", class: "unseen", id, onchange: () => {
      if (input.files[0]) taken(input.files[0]);
      input.value = "";
    } });
    return [input, element("label", { class: "button", for: id, text: say(key) })];
  };
  const keep = element("input", { type: "checkbox", id: "keep", checked: true });
  const answers = element("div", { class: "scroll high", tabindex: "0", role: "region", "aria-label": say("predictFile") });
  const told = element("p", { class: "below", role: "status" });
  const notes = element("ul", { class: "notes" });
  const saveAnswers = element("button", { type: "button", text: say("saveAnswers"), hidden: true, onclick: () => app.saveAnswers() });
  const frame = element("iframe", { title: say("typed"), sandbox: "allow-scripts allow-downloads", hidden: true });
  const typed = element("div", { hidden: true }, element("h3", { text: say("typed") }), element("p", { class: "hint", text: say("typedHelp") }), frame);
  const predict = element("div", { hidden: true }, element("h3", { text: say("predictFile") }), element("p", { class: "hint", text: say("predictHelp") }),
    element("div", { class: "row" }, ...picker("asked", "predictFile", (file) => app.predict(file, keep.checked)),
            element("label", { class: "check", for: "keep" }, keep, say("keepColumns")), saveAnswers), told, notes, answers);
  const root = element("section", { class: "card wide" }, element("h2", { text: say("stepModel"), tabindex: "-1" }), about,
    element("div", { class: "row" }, ...saves, ...picker("model-file", "openModel", (file) => app.openModel(file))), predict, typed);
  const clearAnswers = (text) => {
    told.textContent = text;
    for (const part of [notes, answers]) part.replaceChildren();
    saveAnswers.hidden = true;
  };
  return {
    root,
    clearAnswers,
    show: (model) => {
      about.textContent = say("modelIs", { network: model.network, parameters: model.parameters.toLocaleString("en"),
                                           targets: model.targets.join(", ") });
      for (const button of saves) button.disabled = false;
      frame.srcdoc = model.html;
      frame.hidden = typed.hidden = predict.hidden = false;
      clearAnswers("");
    },
    showAnswers: (name, said, rows) => {
      told.textContent = say("answered", { name, rows: said.rows.toLocaleString("en") }) +
        (said.evaluation ? `; ${evaluationText(said.evaluation)}` : "");
      notes.replaceChildren(...said.notes.map((note) => element("li", { text: withLabels(note) })));
      answers.replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...rows[0].map((cell) =>
        element("th", { scope: "col" }, named(cell))))), element("tbody", {}, ...rows.slice(1, 31).map((cells) =>
        element("tr", {}, ...cells.map((cell) => element("td", {}, named(cell))))))));
      saveAnswers.hidden = false;
    },
  };
}
