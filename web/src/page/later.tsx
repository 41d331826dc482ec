// A page, or a part of one, whose files are loaded when it is first shown; `waiting` stands there meanwhile.

import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

export function later<Properties extends object>(
  load: () => Promise<{ default: ComponentType<Properties> }>,
  waiting: ComponentChildren = <main />,
) {
  let loaded: ComponentType<Properties> | null = null;
  return function Later(properties: Properties) {
    const [, drawAgain] = useState(0);
    useEffect(() => {
      if (loaded) return;
      load().then((module) => {
        loaded = module.default;
        drawAgain(1);
      });
    }, []);
    const Page = loaded;
    return Page ? <Page {...properties} /> : waiting;
  };
}
