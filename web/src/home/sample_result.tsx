// A result as its author sees it, for those who have none yet: a stored run of this product, drawn like any other.

import { useState } from "preact/hooks";
import type { Frame } from "../run/frames";
import { LineList } from "../run/line_list";
import type { GoTo } from "../run/outcome";
import { afterFrame, emptyRun } from "../run/run_state";
import { RunView } from "../run/run_view";
import { isGood } from "../run/verdicts";
import sample from "./sample.json";

const FRAMES = sample.frames as unknown as Frame[];
// Without its id: what else there is of it can only be asked for by who has it.
const RUN = { ...FRAMES.reduce((run, frame) => afterFrame(run, frame, 0, isGood), emptyRun("full")), submissionId: "" };
const LINES = sample.code.trimEnd().split("\n");
const DAY = new Date(sample.frames[0]?.timestamp ?? 0).toLocaleDateString("en-GB", { dateStyle: "long" });

export default function SampleResult() {
  const [chosen, setChosen] = useState(-1);
  const goTo: GoTo = (line) => setChosen(line - 1);
  return (
    <section class="sample-result" aria-labelledby="sample-heading">
      <h2 id="sample-heading">A sample result</h2>
      <p>
        This is a real run of {sample.problem}, {sample.dtype}, on {DAY}. It ran on a CPU ({RUN.device?.title}): no GPU
        was needed, its times never rank, and other work on the machine may be why they are unstable. On an MI300X you
        see the same, and a roofline.
      </p>
      <div class="card">
        <LineList
          id="sample-line"
          label="The kernel"
          count={LINES.length}
          line={(at) => ({ mark: at + 1, text: LINES[at] ?? "" })}
          chosen={chosen}
          shown={chosen}
          onChoose={setChosen}
        />
      </div>
      <div class="card">
        <RunView run={RUN} isWhole goTo={goTo} />
      </div>
    </section>
  );
}
