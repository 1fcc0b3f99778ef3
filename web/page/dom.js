// Elements, and work in small pieces.

// An element; `attributes` may hold text, handlers ("onclick") and properties of ARIA; nothing in them is read as HTML.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") made.textContent = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function svgElement(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A name from the model: its direction does not leak into what stands around it.
const named = (text) => element("bdi", { text });

// Texts of the language in use: run again when it changes.
const sayings = [];
function spoken(put) {
  sayings.push(put);
  put();
}
const spokenElement = (name, key, attributes = {}) => {
  const made = element(name, attributes);
  spoken(() => {
    made.textContent = say(key);
  });
  return made;
};
const button = (key, onclick, attributes = {}) =>
  spokenElement("button", key, { type: "button", onclick, ...attributes });

// Runs jobs, some milliseconds at a time, until a later call takes their place; then `done`.
function makeQueue() {
  let turn = 0;
  return (jobs, done) => {
    const mine = ++turn;
    let next = 0;
    const go = () => {
      if (mine !== turn) return;
      const until = performance.now() + 12;
      while (next < jobs.length && performance.now() < until) jobs[next++]();
      if (next < jobs.length) setTimeout(go, 0);
      else done();
    };
    setTimeout(go, 40);
  };
}
