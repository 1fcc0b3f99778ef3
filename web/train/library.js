// The library behind the loader that emscripten made: calls, and files in memory. It needs no document; tests run it.

// One binary serves pages that share memory with threads and pages that may not. For the latter its import of memory is
// made one that is not shared, and no thread can be started.
function withoutThreads(wasm) {
  const bytes = wasm.slice();
  const shared = "\x03env\x06memory\x02\x03";  // module, name, kind, and that it is shared
  let at = new TextDecoder("latin1").decode(bytes).indexOf(shared) + shared.length;
  bytes[at - 1] = 1;
  const number = () => {  // of seven bits a byte
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  globalThis.SharedArrayBuffer ??= class {};  // the loader asks whether its memory is one
  delete Atomics.waitAsync;  // by which it would hear of threads, in shared memory alone
  return { bytes, memory: new WebAssembly.Memory({ initial: number(), maximum: number() }) };
}

// `load`: the loader; `wasm`: the bytes of lamina.wasm; `script`: what threads run, the loader; `threads`: how many
// compute together where the browser lets them.
async function openLibrary(load, wasm, script, threads) {
  const shares = globalThis.crossOriginIsolated ?? true;  // outside browsers nothing isolates
  const { bytes, memory } = shares ? { bytes: wasm } : withoutThreads(wasm);
  const compiled = await WebAssembly.compile(bytes);
  const module = await load({
    instantiateWasm: (imports, done) => {
      const EAGAIN = 6;
      if (!shares) imports.env.__pthread_create_js = () => EAGAIN;
      return done(new WebAssembly.Instance(compiled, imports), compiled);
    },
    wasmMemory: memory, workers: shares ? threads - 1 : 0, mainScriptUrlOrBlob: script, print: () => {}, printErr: () => {},
  });
  const { FS } = module;
  for (const folder of ["/work", "/made"]) FS.mkdir(folder);  // what people gave, what the page makes
  FS.chdir("/work");  // files have the names that people know
  const remove = (name) => {
    const { exists, object } = FS.analyzePath(name);
    if (!exists) return;
    if (!FS.isDir(object.mode)) return FS.unlink(name);
    for (const each of FS.readdir(name)) if (each !== "." && each !== "..") remove(`${name}/${each}`);
    FS.rmdir(name);
  };
  return {
    // The answer is {error, code, setting} where the library refuses.
    call: (request) => JSON.parse(module.ccall("lamina_web_call", "string", ["string"], [JSON.stringify(request)])),
    put: (name, bytes) => {
      const [folder, within] = name.split("/");
      if (folder && within && !FS.analyzePath(folder).exists) FS.mkdir(folder);
      FS.writeFile(name, bytes, { canOwn: true });
    },
    get: (name) => FS.readFile(name),
    remove,
  };
}
