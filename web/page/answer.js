// What the model says: a headline, bars of classes, notes.
const firstClasses = 10;

function scoreText(model, score) {
  return model.targets.probabilities ? say("probability", { share: percent(score) }) : shown(score, 4);
}

function refusalText({ column, reason }) {
  return say(reason, { column });
}

// "setosa, 97 %", or "12.3 (11 to 13 in 90 of 100 cases)".
function headline(model, answer) {
  if (answer.refused) return [say("noAnswer"), refusalText(answer.refused)];
  if (model.targets.classes) {
    const score = answer.scores[answer.class];
    const plain = () => say("score", { score: shown(score, 4) });
    return [answer.name, model.targets.probabilities ? scoreText(model, score) : plain()];
  }
  const { outputs } = model.targets;
  if (outputs.length > 1) return ["", ""];
  return [shown(answer.outputs[0]), intervalText(model, answer, 0)];
}

function intervalText(model, answer, j) {
  if (!answer.lower) return "";
  const share = percent(model.intervals.level);
  return say("interval", { low: shown(answer.lower[j]), high: shown(answer.upper[j]), share });
}

// Notes on a row, each once.
function noteTexts(answer, odd) {
  const texts = odd.map((column) => say("noteOdd", { column }));
  const names = { unseen: "noteUnseen", filled: "noteFilled", far: "noteFar" };
  for (const { note, column } of answer.notes ?? []) {
    if (!(note === "filled" && odd.includes(column))) texts.push(say(names[note], { column }));
  }
  return texts;
}

// The most likely first; where there are many, the others behind a summary.
function classBars(model, answer) {
  const { scores } = answer;
  const { classes, probabilities, highest } = model.targets;
  const order = [...scores.keys()].sort((a, b) => (highest ? scores[b] - scores[a] : scores[a] - scores[b]));
  const least = probabilities ? 0 : Math.min(...scores);
  const span = (probabilities ? 1 : Math.max(...scores)) - least || 1;
  const bar = (k) => barRow(classes[k], (scores[k] - least) / span, scoreText(model, scores[k]),
                            { class: k === answer.class ? "bar-row chosen" : "bar-row" });
  const parts = [element("ol", { class: "bars" }, ...order.slice(0, firstClasses).map(bar))];
  if (order.length > firstClasses) {
    const rest = element("details", {}, element("summary", { text: say("others", { count: shown(order.length) }) }));
    rest.addEventListener("toggle", () => {
      if (rest.open && rest.children.length === 1) rest.append(element("ol", { class: "bars" }, ...order.map(bar)));
    });
    parts.push(rest);
  }
  return parts;
}

// Numbers: a line each with its interval.
function numberList(model, answer) {
  const { outputs } = model.targets;
  if (outputs.length < 2) return [];
  return [element("dl", { class: "numbers" }, ...outputs.flatMap((output, j) => [
    element("dt", {}, named(output.name)),
    element("dd", {}, shown(answer.outputs[j]),
            element("span", { class: "hint", text: " " + intervalText(model, answer, j) })),
  ]))];
}

// {root, mini, show(answer, odd)}.
function makeAnswer(model) {
  const head = element("p", { class: "headline" });
  const below = element("p", { class: "below" });
  const bars = element("div", {});
  const notes = element("ul", { class: "notes" });
  const live = element("div", { "aria-live": "polite", "aria-atomic": "true" },
                       element("p", { class: "target" }, named(model.targets.names.join(", "))), head, below);
  const root = element("section", { class: "card answer", "aria-labelledby": "answer-title" },
                       spokenElement("h2", "answer", { id: "answer-title" }), live, bars, notes);
  const mini = element("div", { class: "mini", "aria-hidden": "true" });  // on small screens, below the fields
  const show = (answer, odd) => {
    const [first, second] = headline(model, answer);
    head.replaceChildren(named(first));
    mini.replaceChildren(element("strong", {}, named(first)), element("span", { class: "hint", text: second }));
    below.textContent = second;
    root.classList.toggle("refused", Boolean(answer.refused));
    const list = answer.refused ? [] : model.targets.classes ? classBars(model, answer) : numberList(model, answer);
    bars.replaceChildren(...list);
    const texts = noteTexts(answer, odd);
    const most = 6;
    const items = texts.slice(0, most);
    if (texts.length > most) items.push(say("noteMore", { count: shown(texts.length - most) }));
    notes.replaceChildren(...items.map((text) => element("li", { text })));
  };
  return { root, mini, show };
}
