// The page: steps, and what they ask of the library.
const checkpointPath = "/made/checkpoint";
const partText = (id) => document.getElementById(id).textContent;
const usedParts = () => ({ loader: partText("loader"), library: partText("library"), worker: partText("worker"),
                           packed: partText(knowsRelaxed() ? "wasm-relaxed" : "wasm") });
const exampleBytes = (name) => Uint8Array.from(atob(partText(`example-${name}`).trim()), (letter) => letter.charCodeAt(0));

function makeApp() {
  const client = makeClient(usedParts());
  const app = { table: null, running: false, run: null, planned: false, stopAsked: false, inOneGo: false, modelBytes: null };
  let about = null;
  let fields = null;
  let storage = null;
  const problem = element("p", { class: "problem banner", role: "alert", hidden: true });
  const line = element("p", { class: "line", role: "status", text: say("loading") });
  const tell = (error) => {
    problem.textContent = error === null ? "" : withLabels(error.message);
    problem.hidden = error === null;
  };
  const guarded = (work) => async (...given) => {
    tell(null);
    try {
      return await work(...given);
    } catch (error) {
      if (error.code !== "stopped") tell(error);
      return undefined;
    }
  };
  const idle = (work) => guarded(async (...given) => {
    if (app.running) throw new Error(say("busy"));
    return work(...given);
  });
  const steps = { data: makeDataStep(app), training: makeTrainingStep(app), results: makeResultsStep(app),
                  model: makeModelStep(app) };
  const tabs = Object.keys(steps).map((name) => element("button", { type: "button", "data-step": name,
    text: say(`step${name[0].toUpperCase()}${name.slice(1)}`), onclick: () => app.goTo(name, true) }));
  app.root = [element("header", {}, element("div", {}, element("h1", { text: say("title") }), element("p", { class: "hint", text: say("promise") }))),
              element("nav", { "aria-label": say("steps") }, ...tabs), problem,
              element("main", {}, ...Object.values(steps).map((step) => step.root)), line];
  app.goTo = (name, focus = false) => {
    for (const tab of tabs) tab.setAttribute("aria-current", tab.dataset.step === name ? "step" : "false");
    for (const [key, step] of Object.entries(steps)) step.root.hidden = key !== name;
    if (focus) steps[name].root.querySelector("h2").focus();
    if (name === "results") app.showRuns();
  };

  // Data.
  const settingsNow = () => {
    const named = (role) => app.table.columns.map((column) => column.name).filter((_, i) => app.table.roles[i] === role);
    return { ...fields.values(), ...app.table.reading, target: named("target"), drop: named("dropped") };
  };
  const planText = (plan) => {
    const count = (value) => value.toLocaleString("en");
    const target = plan.targets.join(", ");
    const left = plan.left_out_rows > 0 ? say("planLeft", { count: count(plan.left_out_rows) }) : "";
    return (plan.classes.length > 0 ? say("planClasses", { classes: count(plan.classes.length), target }) : say("planNumber", { target })) +
      say("planRows", { train: count(plan.train_rows), validation: count(plan.validation_rows), test: count(plan.test_rows),
                        inputs: count(plan.inputs), parameters: count(plan.parameters) }) + left;
  };
  const setButtons = (canStart = app.planned) => steps.training.setState({ canStart, running: app.running, canGoOn: app.run?.canGoOn ?? false });
  let planning = 0;
  const plan = async () => {
    if (app.table === null || app.running) return;
    const mine = ++planning;
    app.planned = false;
    let said;
    try {
      said = await client.ask({ do: "plan", settings: settingsNow() });
    } catch (error) {
      said = { problems: [{ setting: error.setting ?? "", error: error.message }] };
    }
    if (mine !== planning) return;
    const others = fields.tell(said.problems);
    steps.training.setProblems(others.map((each) => withLabels(each.error)));
    app.planned = said.problems.length === 0;
    line.textContent = app.planned ? planText(said) : withLabels(said.problems[0].error);
    app.table.decisions = said.decisions ?? [];
    steps.data.show(app.table);
    setButtons();
  };
  let planTimer = 0;
  const planSoon = () => {
    clearTimeout(planTimer);
    planTimer = setTimeout(plan, 200);
  };
  // `parts`: [{path, content}] in the library's memory, of which `content()` gives the bytes: one file `name`, or those
  // of a folder `name`. The table has all that is needed of them, so they go again. `reading`: settings.
  const read = async (name, parts, reading) => {
    try {
      for (const { path, content } of parts) await client.put(path, await content());
      return await client.ask({ do: "open", path: name, settings: reading });
    } finally {
      await client.remove(name);
    }
  };
  const open = async (name, parts, reading = {}) => {
    const begun = performance.now();
    line.textContent = say("reading", { name });
    let table;
    try {
      table = await read(name, parts, reading);
    } catch (error) {
      line.textContent = app.table === null ? say("noData") : "";
      plan();
      throw error;
    }
    app.table = { ...table, name, parts, reading, seconds: (performance.now() - begun) / 1000, decisions: [],
                  roles: table.columns.map((column) => (table.target.includes(column.name) ? "target" : "input")) };
    app.run = null;
    steps.data.show(app.table);
    await plan();
  };
  const requireRoom = (name, size) => {
    const most = about.most_bytes;
    if (size > most) throw new Error(say("tooLarge", { name, size: Math.round(size / 1e6), most: Math.floor(most / 1e6) }));
  };
  app.openFiles = idle(async (files) => {
    const [{ name }] = files;
    if (files.length > 1) {
      const folder = say("folder");
      requireRoom(folder, files.reduce((sum, file) => sum + file.size, 0));
      return open(folder, files.map((file) => ({ path: `${folder}/${file.name}`, content: () => file.arrayBuffer() })));
    }
    requireRoom(name, files[0].size);
    if (name.endsWith(".safetensors")) return app.openModel(files[0]);
    return open(name, [{ path: name, content: () => files[0].arrayBuffer() }]);
  });
  app.openSheet = idle((sheet) => open(app.table.name, app.table.parts, { sheet }));
  app.openExample = idle((name) => open(name, [{ path: name, content: async () => exampleBytes(name).buffer }]));
  app.setRole = (i, role) => {
    if (role === "target") app.table.roles = app.table.roles.map((each) => (each === "target" ? "input" : each));
    app.table.roles[i] = role;
    steps.data.show(app.table);
    planSoon();
  };

  // Training.
  const drawRun = (run) => steps.training.draw(curvesOfRun(run.epochs), run.epochs.at(-1)?.best_epoch ?? 0);
  const endedText = (run, said) => {
    const { epochs, seconds } = { epochs: run.epochs.length, seconds: run.seconds.toFixed(2) };
    if (run.withoutEpochs) return say("endedMethod", { method: run.method, seconds });
    const text = run.ended ? say("endedIn", { epochs, seconds }) : say("endedStopped", { epochs, seconds });
    const how = { early_stopping: "endedEarly", converged: "endedConverged" }[said.stop_reason];
    return text + (how ? say(how) : "") + (said.best_epoch > 0 ? say("bestSuffix", { epoch: said.best_epoch }) : "");
  };
  // Two runs may end in one second, and are told apart by their names.
  const freeName = async (run) => {
    const taken = (await storage.all()).filter((each) => each.id !== run.id).map((each) => each.name);
    const name = `${app.table.name} ${new Date().toLocaleTimeString("en")}`;
    let free = name;
    for (let i = 2; taken.includes(free); ++i) free = `${name} (${i})`;
    return free;
  };
  const keepRun = async (run, said) => {
    await client.ask({ do: "write", kind: "model", path: "/made/run" });
    const given = Object.entries(run.settings).filter(([name, text]) => text.length > 0 && name !== "target");
    run.kept = { id: run.id, name: await freeName(run), epochs: run.epochs,
                 result: evaluationText(said.judgement.evaluation), model: await client.get("/made/run"),
                 settings: given.map(([name, text]) => `${name} ${[text].flat().join(", ")}`).join("; ") };
    app.modelBytes = run.kept.model;
    await storage.put(run.kept);
    await app.showRuns();
  };
  const limitNow = () => {
    const limit = steps.training.limit();
    if (!(limit > 0)) throw new Error(say("badLimit"));
    return limit;
  };
  // Whoever stops what is trained in one go ends the library. Another one gets data, model, and the run as it was.
  const restore = async (run) => {
    await read(app.table.name, app.table.parts, app.table.reading);
    if (app.modelBytes !== null) {
      await client.put("/made/run", app.modelBytes.slice().buffer);
      await client.ask({ do: "model", path: "/made/run" });
    }
    if (run.checkpoint === null) return;
    await client.put(checkpointPath, run.checkpoint.slice().buffer);
    await client.ask({ do: "start", checkpoint: checkpointPath });
    await client.ask({ do: "slice" });  // of which nothing is left
  };
  const slice = async (run, until) => {
    app.inOneGo = run.inOneGo;
    const timer = run.inOneGo && until < Infinity ? setTimeout(app.stop, until - performance.now()) : 0;
    try {
      return await client.ask({ do: "slice", milliseconds: 200 });
    } finally {
      app.inOneGo = false;
      clearTimeout(timer);
    }
  };
  const trainSlices = async (run, until) => {
    while (!run.ended && !app.stopAsked && !(performance.now() >= until)) {
      const said = await slice(run, until);
      run.epochs.push(...said.epochs);
      run.ended = said.ended;
      run.seconds = said.train_seconds;
      const last = run.epochs.at(-1);
      if (last) steps.training.tell(say("training", { epoch: last.epoch, epochs: run.most, loss: figure(last.train_loss) }));
      setTimeout(drawRun, 0, run);  // while the library goes on
      if (said.ended || !said.in_one_go) continue;
      run.inOneGo = true;
      await client.ask({ do: "keep", path: checkpointPath });
      run.checkpoint = await client.get(checkpointPath);
      steps.training.tell(say("computingBeside"));
    }
  };
  const slices = guarded(async () => {
    const { run } = app;
    const until = performance.now() + 1000 * limitNow();
    let showImportance;
    app.running = true;
    app.stopAsked = false;
    setButtons();
    try {
      if (run.inOneGo) steps.training.tell(run.withoutEpochs ? say("computing", { method: run.method }) : say("computingBeside"));
      try {
        await trainSlices(run, until);
      } catch (error) {
        if (error.code !== "stopped") throw error;
        await restore(run);
        if (run.checkpoint === null) {
          steps.training.tell(say("givenUp"));
          return;
        }
      }
      steps.training.tell(say("judging"));
      const said = await client.ask({ do: "end" });
      run.canGoOn = !run.ended;
      const text = endedText(run, said);
      steps.training.tell(text);
      showImportance = steps.results.show({ ...said, text });
      if (run.ended) app.goTo("results", true);
      steps.model.show(await client.ask({ do: "model" }));
      await keepRun(run, said);
    } finally {
      app.running = false;
      setButtons();
      planSoon();
    }
    let importance = null;
    try {
      ({ importance } = await client.ask({ do: "importance" }));
    } finally {
      showImportance(importance);
    }
  });
  app.train = idle(async () => {
    const settings = settingsNow();
    limitNow();
    app.running = true;
    setButtons();
    steps.training.tell(say("preparing"));
    try {
      const said = await client.ask({ do: "start", settings });
      app.run = { id: Date.now(), settings, epochs: [], ended: false, seconds: 0, method: said.method, most: said.epochs,
                  withoutEpochs: said.in_one_go, inOneGo: said.in_one_go, checkpoint: null, canGoOn: false };
      steps.training.setNotes(said.notes.map(withLabels));
      drawRun(app.run);
    } catch (error) {
      steps.training.tell("");
      throw error;
    } finally {
      app.running = false;
      setButtons();
    }
    await slices();
  });
  app.stop = () => {
    app.stopAsked = true;
    if (app.inOneGo) client.restart();
  };
  app.goOn = () => slices();

  // Runs and the model.
  app.showRuns = async () => {
    if (storage !== null) steps.results.showRuns(await storage.all(), storage.kept());
  };
  const take = async (name, bytes) => {
    try {
      await client.put(name, bytes.slice().buffer);
      steps.model.show(await client.ask({ do: "model", path: name }));
      app.modelBytes = bytes;
    } finally {
      await client.remove(name);
    }
    app.goTo("model", true);
  };
  app.takeModel = guarded((run) => take("run.safetensors", run.model));
  app.removeRun = guarded(async (run) => {
    await storage.remove(run.id);
    await app.showRuns();
    steps.results.focusRuns();
  });
  app.openModel = guarded(async (file) => {
    requireRoom(file.name, file.size);
    await take(file.name, new Uint8Array(await file.arrayBuffer()));
  });
  const baseName = () => (app.table?.name ?? "model").replace(/\.(gz|csv|xlsx|ods|npy|safetensors)\b/g, "").replace(/[^A-Za-z0-9_]/g, "_");
  app.saveModel = guarded(async (kind) => {
    const ending = { model: ".safetensors", html: ".html", onnx: ".onnx", c: "" }[kind];
    const { paths } = await client.ask({ do: "write", kind, path: `/made/${baseName()}${ending}`, name: baseName() });
    for (const path of paths) {
      saveFile(path.slice(path.lastIndexOf("/") + 1), await client.get(path));
      await client.remove(path);
    }
  });
  app.predict = guarded(async (file, keep) => {
    requireRoom(file.name, file.size);
    steps.model.clearAnswers(say("answering", { name: file.name }));
    try {
      await client.put(file.name, await file.arrayBuffer());
      const said = await client.ask({ do: "predict", path: file.name, out: "/made/answers.csv", keep, probabilities: false,
                                       ...(file.name === app.table?.name ? app.table.reading : {}) });
      steps.model.showAnswers(file.name, said, lamina.splitCsv(said.start, ","));
    } catch (error) {
      steps.model.clearAnswers("");
      throw error;
    } finally {
      await client.remove(file.name);
    }
  });
  app.saveAnswers = guarded(async () => saveFile("answers.csv", await client.get("/made/answers.csv"), "text/csv"));

  app.begin = guarded(async () => {
    app.goTo("data");
    storage = await openRuns();
    await app.showRuns();
    try {
      await client.ready();
    } catch (error) {
      throw new Error(say("tooOld", { reason: error.message }));
    }
    about = await client.ask({ do: "about" });
    fields = makeSettingFields(about, planSoon);
    steps.training.setFields(fields, about.threads);
    setButtons();
    line.textContent = say("noData");
    document.documentElement.dataset.ready = "yes";
  });
  return app;
}

// The files that were dropped, those of folders too.
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.());
  const files = [...transfer.files];
  if (!entries.some((entry) => entry?.isDirectory)) return files;
  const within = async (entry) => {
    if (entry.isFile) return [await new Promise((done, failed) => entry.file(done, failed))];
    const reader = entry.createReader();
    const found = [];
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (some.length === 0) return found;
      for (const each of some) found.push(...await within(each));
    }
  };
  return (await Promise.all(entries.filter(Boolean).map(within))).flat();
}

function start() {
  const app = makeApp();
  document.body.append(...app.root);
  for (const name of ["dragover", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      if (name === "drop") {
        filesOf(event.dataTransfer).then((files) => files.length > 0 && app.openFiles(files));
      }
    });
  }
  addEventListener("beforeunload", (event) => {
    if (app.running) event.preventDefault();  // the browser asks
  });
  document.addEventListener("visibilitychange", () => !document.hidden && app.showRuns());  // other tabs have runs, too
  app.begin();
}
