// This browser's clock, for what changes as time passes.

import { useEffect, useState } from "preact/hooks";

export function useNow(everyMs: number, isMoving = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isMoving) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isMoving]);
  return now;
}
