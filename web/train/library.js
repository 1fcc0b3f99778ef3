// The library behind the loader that emscripten made: calls, and files in memory. It needs no document; tests run it.

// `load`: the loader; `wasm`: the bytes of lamina.wasm.
async function openLibrary(load, wasm) {
  const module = await load({ wasmBinary: wasm, print: () => {}, printErr: () => {} });
  module.FS.mkdir("/work");
  module.FS.chdir("/work");  // files have the names that people know
  return {
    // The answer is {error, code, setting} where the library refuses.
    call: (request) => JSON.parse(module.ccall("lamina_web_call", "string", ["string"], [JSON.stringify(request)])),
    put: (name, bytes) => module.FS.writeFile(name, bytes, { canOwn: true }),
    get: (name) => module.FS.readFile(name),
    remove: (name) => module.FS.unlink(name),
    isThere: (name) => module.FS.analyzePath(name).exists,
  };
}
