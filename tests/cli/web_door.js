// The door of the page that trains: node web_door.js BUILD LIBRARY FOLDER [relaxed] reads requests as JSON and prints
// the answers. {"put": NAME} and {"get": NAME} carry files of FOLDER to the library and back. `relaxed`: the
// binary that multiplies and adds by one instruction; exit status 77 where this node has none.
const fs = require("fs");
const path = require("path");
const v8 = require("v8");
const vm = require("vm");

const [build, source, folder, relaxed = ""] = process.argv.slice(2);
const scripts = [source, path.join(path.dirname(source), "relaxed.js")].map((name) => fs.readFileSync(name, "utf8"));
const { openLibrary, knowsRelaxed } = vm.runInThisContext(`${scripts.join("\n")};({ openLibrary, knowsRelaxed })`);
if (relaxed) v8.setFlagsFromString("--experimental-wasm-relaxed-simd");  // node 20 has it, but only then
if (relaxed && !knowsRelaxed()) process.exit(77);
const load = require(path.join(build, "lamina.js"));

openLibrary(load, fs.readFileSync(path.join(build, relaxed, "lamina.wasm")), undefined, Number(process.env.LAMINA_WEB_THREADS ?? 1)).then((library) => {
  const file = (name) => path.join(folder, name);
  const answer = (request) => {
    if (request.put) return library.put(request.put, new Uint8Array(fs.readFileSync(file(request.put)))), {};
    if (request.get) return fs.writeFileSync(file(request.as ?? request.get), library.get(request.get)), {};
    if (request.do !== "run") return library.call(request);
    const said = { epochs: [], slices: 0, in_one_go: 0 };
    let inOneGo = false;
    do {
      const slice = library.call({ do: "slice", milliseconds: request.milliseconds });
      if (slice.error) return slice;
      said.epochs.push(...slice.epochs);
      said.seconds = slice.train_seconds;
      said.ended = slice.ended;
      ++said.slices;
      said.in_one_go += inOneGo;
      inOneGo = slice.in_one_go;
    } while (!said.ended);
    return said;
  };
  const begun = performance.now();
  const answers = JSON.parse(fs.readFileSync(0, "utf8")).map((request) => {
    const start = performance.now();
    return { ...answer(request), wall_seconds: (performance.now() - start) / 1000 };
  });
  console.log(JSON.stringify({ answers, seconds: (performance.now() - begun) / 1000 }));
}).catch((problem) => {
  console.error(problem);
  process.exit(1);
});
