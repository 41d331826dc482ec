// What to do with the source, and the button that does it.

import type { ComponentChildren } from "preact";
import { type Form, isProfiled, isTimed, type Mode, type Timing } from "./form";

const MODES: Record<Mode, { name: string; title: string }> = {
  full: { name: "Full", title: "Check every test, then measure" },
  check: { name: "Check", title: "Compile and check every test" },
  benchmark: { name: "Benchmark", title: "Check, then measure" },
  sample: { name: "Sample", title: "Show one small case" },
  sandbox: { name: "Sandbox", title: "Run a whole program with its own main" },
};
const TIMINGS: Record<Timing | "", string> = {
  "": "The device's own way",
  cold: "Cold caches",
  hot: "Hot caches",
  "first-call": "First call of a process",
};

export function RequestBar({
  form,
  canSubmit,
  onChange,
  onSubmit,
  children,
}: {
  form: Form;
  canSubmit: boolean;
  onChange: (changes: Partial<Form>) => void;
  onSubmit: () => void;
  children: ComponentChildren;
}) {
  return (
    <form
      id="submit-form"
      class="submit-bar"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <fieldset class="modes">
        <legend>What to do</legend>
        {entries(MODES).map(([mode, { name, title }]) => (
          <label title={title} key={mode}>
            <input
              type="radio"
              name="mode"
              value={mode}
              checked={form.mode === mode}
              onChange={() => onChange({ mode })}
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      {/* Only what is measured can be timed in one way or another. */}
      <div id="timing" class="timing" hidden={!isTimed(form)}>
        <label for="timing-select">Timing</label>
        <select
          id="timing-select"
          value={form.timing}
          onChange={({ currentTarget }) => onChange({ timing: currentTarget.value as Timing | "" })}
        >
          {entries(TIMINGS).map(([timing, name]) => (
            <option value={timing} key={timing}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <label
        id="profile"
        class="profile-choice"
        title="Then show how long each kernel takes, by the GPU's profiler; that time is charged, too"
        hidden={!isProfiled(form)}
      >
        <input
          id="profile-asked"
          type="checkbox"
          checked={form.profile}
          onChange={({ currentTarget }) => onChange({ profile: currentTarget.checked })}
        />
        <span>Profile</span>
      </label>
      {children}
      <button id="submit-button" class="button primary" type="submit" disabled={!canSubmit}>
        Submit
      </button>
    </form>
  );
}

function entries<Name extends string, Value>(table: Record<Name, Value>): [Name, Value][] {
  return Object.entries(table) as [Name, Value][];
}
