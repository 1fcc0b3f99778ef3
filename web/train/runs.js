// The runs so far, in the browser's storage; where it has none, as long as the tab lives.
async function openRuns() {
  const memory = new Map();
  const inMemory = { kept: () => false, all: async () => [...memory.values()], put: async (run) => memory.set(run.id, run),
                     remove: async (id) => memory.delete(id) };
  const asked = (request) => new Promise((done, failed) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
  try {
    const opening = indexedDB.open("lamina-runs", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("runs", { keyPath: "id" });
    const base = await asked(opening);
    const store = (mode) => base.transaction("runs", mode).objectStore("runs");
    return {
      kept: () => memory.size === 0,
      all: async () => [...await asked(store("readonly").getAll()), ...memory.values()],
      put: (run) => asked(store("readwrite").put(run)).catch(() => inMemory.put(run)),  // there is no room
      remove: (id) => (memory.delete(id) ? undefined : asked(store("readwrite").delete(id))),
    };
  } catch {
    return inMemory;
  }
}
