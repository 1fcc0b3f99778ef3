// The page's side of the worker: requests with promises.
function makeClient(parts) {
  let worker = null;
  let ready = null;
  let next = 0;
  const waiting = new Map();
  const begin = () => {
    const address = URL.createObjectURL(new Blob([parts.loader, "\n", parts.library, "\n", parts.worker],
                                                 { type: "text/javascript" }));
    worker = new Worker(address);
    ready = new Promise((done, failed) => {
      worker.onmessage = ({ data }) => {
        if (data.ready) done();
        else if (data.failed) failed(new Error(data.failed));
        else {
          waiting.get(data.id)(data.said);
          waiting.delete(data.id);
        }
      };
      worker.onerror = (event) => failed(new Error(event.message));
    });
    worker.postMessage({ packed: parts.packed, loader: parts.loader });
  };
  const send = async (message, carried = []) => {
    await ready;
    const id = ++next;
    const said = await new Promise((done) => {
      waiting.set(id, done);
      worker.postMessage({ ...message, id }, carried);
    });
    if (said.error) throw Object.assign(new Error(said.error), said);
    return said;
  };
  begin();
  return {
    ready: () => ready,
    ask: (call) => send({ call }),
    put: (name, buffer) => send({ put: name, call: buffer }, [buffer]),
    get: async (name) => (await send({ get: name })).bytes,
    remove: (name) => send({ remove: name }),
    // Ends what the library computes, and its memory.
    restart: () => {
      worker.terminate();
      for (const done of waiting.values()) done({ error: "Stopped.", code: "stopped" });
      waiting.clear();
      begin();
    },
  };
}
