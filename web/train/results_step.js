// Step "Results": how good the model is, what it takes for what, and what it looks at; the runs so far.
function evaluationText(evaluation) {
  const rows = evaluation.samples.toLocaleString("en");
  if (evaluation.classes) {
    return say("classText", { accuracy: percentText(evaluation.accuracy), f1: percentText(evaluation.macro_f1),
                              loss: figure(evaluation.loss), rows });
  }
  return evaluation.targets.map((target) => say("numberText", { name: target.name, rmse: figure(target.rmse),
    mae: figure(target.mae), r2: target.r2 === null ? "–" : target.r2.toFixed(5), rows })).join("\n");
}
const percentText = (share) => (share === null ? "–" : (100 * share).toFixed(2));
const figure = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(5))));

function confusionTable(evaluation) {
  const names = evaluation.classes.map((each) => each.name);
  const most = Math.max(1, ...evaluation.confusion.flat());
  const cell = (count, i, j) => {
    const made = element("td", { text: count || "", class: i === j ? "right" : "wrong" });
    made.style.setProperty("--share", (count / most).toFixed(3));
    return made;
  };
  return element("table", { class: "confusion figures" }, element("caption", { text: `${say("confusion")}. ${say("confusionHelp")}` }),
    element("thead", {}, element("tr", {}, element("td", {}), ...names.map((name) => element("th", { scope: "col" }, named(name))))),
    element("tbody", {}, ...evaluation.confusion.map((counts, i) => element("tr", {},
      element("th", { scope: "row" }, named(names[i])), ...counts.map((count, j) => cell(count, i, j))))));
}

function measureTable(evaluation) {
  return element("table", { class: "figures" }, element("caption", { text: say("measures") }),
    element("thead", {}, element("tr", {}, element("td", {}), ...["precision", "recall", "f1", "support"].map((key) =>
      element("th", { scope: "col", text: say(key) })))),
    element("tbody", {}, ...evaluation.classes.map((each) => element("tr", {}, element("th", { scope: "row" }, named(each.name)),
      ...[each.precision, each.recall, each.f1].map((share) => element("td", { text: `${percentText(share)} %` })),
      element("td", { text: each.support.toLocaleString("en") })))));
}

function importanceList(importance) {
  const shownFirst = 12;
  const most = Math.max(1e-300, ...importance.columns.map((column) => column.importance));
  const bars = (columns) => element("ul", { class: "bars" }, ...columns.map((column) =>
    barRow(column.column, column.importance / most, figure(column.importance), { class: "bar-row" })));
  const rest = importance.columns.slice(shownFirst);
  return [element("h3", { text: say("importance") }),
          element("p", { class: "hint", text: say("importanceHelp", { metric: importance.metric }) }),
          bars(importance.columns.slice(0, shownFirst)),
          ...(rest.length === 0 ? [] : [element("details", {},
            element("summary", { text: say("otherColumns", { count: rest.length.toLocaleString("en") }) }), bars(rest))])];
}

function makeResultsStep(app) {
  const mostClasses = 40;  // of a matrix that can be looked at
  const headline = element("p", { class: "headline", text: say("noResult") });
  const text = element("p", { class: "below lines" });
  const remarks = element("ul", { class: "notes" });
  const pictures = element("div", { class: "results" });
  const runs = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("runs") });
  const compared = element("div", { class: "picture" });
  const note = element("p", { class: "hint" });
  const root = element("section", { class: "card wide" }, element("h2", { text: say("stepResults"), tabindex: "-1" }), headline,
    text, remarks, pictures, element("h3", { text: say("runs") }), note, runs, compared);

  const scrolled = (label, ...children) =>
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
  // Returns what shows the importance, which takes longer; null: there is none.
  const show = (run) => {
    const { evaluation, points, rows } = run.judgement;
    headline.textContent = evaluation.classes ? `${percentText(evaluation.accuracy)} %`
                                              : evaluation.targets.map((each) => `R² ${figure(each.r2)}`).join(", ");
    text.textContent = `${run.text}\n${say("resultOn", { rows, text: evaluationText(evaluation) })}`;
    remarks.replaceChildren(...run.remarks.map((remark) => element("li", { text: withLabels(remark) })));
    const parts = evaluation.classes
      ? [...(evaluation.classes.length <= mostClasses ? [scrolled(say("confusion"), confusionTable(evaluation))] : []),
         scrolled(say("measures"), measureTable(evaluation))]
      : points.map((each, i) => drawScatter(evaluation.targets[i]?.name ?? "", each));
    const shuffled = element("div", {}, element("h3", { text: say("importance") }),
                             element("p", { class: "hint", text: say("importanceComing") }));
    pictures.replaceChildren(...parts, shuffled);
    return (importance) => (importance ? shuffled.replaceChildren(...importanceList(importance)) : shuffled.remove());
  };
  const ticked = new Set();
  const showRuns = (list, kept) => {
    note.textContent = kept ? say("storageNote") : say("noStorage");
    const compare = () => {
      const chosen = list.filter((run) => ticked.has(run.id));
      compared.replaceChildren(...(chosen.length === 0 ? [] :
        [drawCurves(chosen.flatMap((run, i) => curvesOfRun(run.epochs, ` ${run.name}`, `run${i % 5}`)))]));
    };
    const row = (run) => {
      const tick = element("input", { type: "checkbox", "aria-label": say("compare", { name: run.name }),
                                      checked: ticked.has(run.id), onchange: () => {
        if (tick.checked) ticked.add(run.id);
        else ticked.delete(run.id);
        compare();
      } });
      return element("tr", {}, element("td", {}, tick), element("th", { scope: "row" }, named(run.name)),
        element("td", {}, named(run.result)), element("td", {}, named(run.settings)),
        element("td", {}, element("button", { type: "button", text: say("takeModel"), onclick: () => app.takeModel(run) }),
                " ", element("button", { type: "button", text: say("removeRun"), onclick: () => app.removeRun(run) })));
    };
    runs.replaceChildren(list.length === 0 ? element("p", { class: "hint", text: say("noRuns") })
      : element("table", {}, element("thead", {}, element("tr", {}, element("td", {}),
          ...["runName", "runResult", "runSettings"].map((key) => element("th", { scope: "col", text: say(key) })),
          element("td", {}))), element("tbody", {}, ...list.map(row))));
    compare();
  };
  return { root, show, showRuns, focusRuns: () => runs.focus() };
}
