// Says that this browser has no network, while it has none: reads wait until then, and what is shown may be old.

import { useEffect, useState } from "preact/hooks";

export function Offline() {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    look();
    addEventListener("online", look);
    addEventListener("offline", look);
    return () => {
      removeEventListener("online", look);
      removeEventListener("offline", look);
    };
  }, []);
  return (
    <p id="offline" class="alert" role="status" hidden={isOnline}>
      This browser has no network: what you see may be old. What you write is kept, and all goes on when the network is
      back.
    </p>
  );
}
