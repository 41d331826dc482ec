// The shared worker that holds the event stream of all tabs.

import { StreamHost } from "./stream_host";

const host = new StreamHost();

self.addEventListener("connect", (event) => {
  for (const port of (event as MessageEvent).ports) host.connect(port);
});
