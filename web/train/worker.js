// What runs in the worker: one library, and one request after the other.
const MOST_THREADS = 8;  // each takes memory and starts with the page

async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const opened = new Promise((done, failed) => {
  self.onmessage = async ({ data }) => {
    try {
      const packed = Uint8Array.from(atob(data.packed), (letter) => letter.charCodeAt(0));
      const script = new Blob([data.loader], { type: "text/javascript" });
      done(await openLibrary(loadLamina, await gunzip(packed), script, Math.min(navigator.hardwareConcurrency, MOST_THREADS)));
      self.postMessage({ ready: true });
    } catch (problem) {
      failed(problem);
      self.postMessage({ failed: String(problem) });
    }
  };
});

function answer(library, { put, get, remove, call }) {
  if (put) return library.put(put, new Uint8Array(call)), {};
  if (get) return { bytes: library.get(get) };
  if (remove) return library.remove(remove), {};
  return library.call(call);
}

opened.then((library) => {
  self.onmessage = ({ data }) => {
    let said;
    try {
      said = answer(library, data);
    } catch (problem) {  // memory of the tab, mostly
      said = { error: `The page's library gave up: ${problem}. Load the page again.`, code: "resource", gone: true };
    }
    self.postMessage({ id: data.id, said });
  };
}, () => {});
