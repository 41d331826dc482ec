// Opens the workbench for a whole program, beside the problem that was shown last.

import { useEffect } from "preact/hooks";
import { navigate } from "wouter-preact/use-browser-location";
import * as queries from "../gateway/queries";
import { problemAddress } from "../page/addresses";
import { guarded } from "../page/alert";
import * as store from "../page/store";
import { rememberedForm, toRemember } from "../request/form";

const open = guarded(async () => {
  const last = store.lastProblem() || (await queries.queries.fetchQuery(queries.problems)).problems[0]?.slug;
  store.rememberRequest(...toRemember({ ...rememberedForm(store.request()), mode: "sandbox" }));
  navigate(last ? problemAddress(last) : "/", { replace: true });
});

export default function SandboxDoor() {
  useEffect(() => void open(), []);
  return <main class="page" aria-busy="true" />;
}
