// The library behind the loader that emscripten made: calls, and files in memory. It needs no document; tests run it.

// `load`: the loader; `wasm`: the bytes of lamina.wasm.
async function openLibrary(load, wasm) {
  const module = await load({ wasmBinary: wasm, print: () => {}, printErr: () => {} });
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
