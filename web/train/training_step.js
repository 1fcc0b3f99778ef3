// Step "Training": start, stop, go on; the curves grow meanwhile.
function makeTrainingStep(app) {
  const limit = element("input", { id: "limit", inputmode: "decimal", autocomplete: "off" });
  const start = element("button", { type: "button", class: "main", text: say("start"), onclick: () => app.train() });
  const stop = element("button", { type: "button", text: say("stop"), disabled: true, onclick: () => app.stop() });
  const goOn = element("button", { type: "button", text: say("goOn"), disabled: true, onclick: () => app.goOn() });
  const first = element("div", { class: "fields" });
  const others = element("div", { class: "fields" });
  const problems = element("ul", { class: "notes problem" });
  const state = element("p", { class: "below", role: "status" });
  const notes = element("ul", { class: "notes" });
  const picture = element("div", { class: "picture" });
  const threads = element("p", { class: "hint" });
  const root = element("section", { class: "card wide" }, element("h2", { text: say("stepTraining"), tabindex: "-1" }),
    first, element("details", {}, element("summary", { text: say("moreSettings") }), others), problems,
    element("div", { class: "row" }, start, stop, goOn), state, picture, notes, threads);

  return {
    root,
    setFields: (fields, threadCount) => {
      threads.textContent = say("threads", { threads: threadCount });
      first.replaceChildren(...fields.first, element("div", { class: "field" },
        element("label", { for: "limit", text: say("limit") }), element("div", { class: "control" }, limit),
        element("p", { class: "hint", text: say("limitHelp") })));
      others.replaceChildren(...fields.others);
    },
    limit: () => (limit.value.trim() === "" ? Infinity : Number(limit.value)),
    tell: (text) => {
      state.textContent = text;
    },
    setProblems: (texts) => problems.replaceChildren(...texts.map((text) => element("li", { text }))),
    setNotes: (texts) => notes.replaceChildren(...texts.map((text) => element("li", { text }))),
    draw: (curves, best) => picture.replaceChildren(drawCurves(curves, best)),
    setState: ({ canStart, running, canGoOn }) => {
      start.disabled = !canStart || running;
      stop.disabled = !running;
      goOn.disabled = !canGoOn || running;
    },
  };
}

// The curves of a run's epochs: [{epoch, train_loss, validation_loss}].
function curvesOfRun(epochs, suffix = "", kind = "") {
  const points = (field) => epochs.filter((each) => each[field] !== null).map((each) => [each.epoch, each[field]]);
  return [{ name: say("trainCurve") + suffix, kind: `training ${kind}`.trim(), points: points("train_loss") },
          { name: say("validationCurve") + suffix, kind: `validation ${kind}`.trim(), points: points("validation_loss") }]
    .filter((curve) => curve.points.length > 0);
}
