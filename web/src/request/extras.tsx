// Which GPU to ask for, how much of it, which others will do; a launch plan, and a problem of one's own.

import { useEffect, useRef } from "preact/hooks";
import { type Form, hasExtras, withFallback, withGpu } from "./form";

const SIZES: [number, string][] = [
  [1, "1/8 of a GPU"],
  [2, "1/4 of a GPU"],
  [4, "1/2 of a GPU"],
  [8, "1 GPU"],
  [16, "2 GPUs"],
  [32, "4 GPUs"],
  [64, "8 GPUs"],
];

export function Extras({
  form,
  gpuTypes,
  onChange,
}: {
  form: Form;
  gpuTypes: string[];
  onChange: (changes: Partial<Form>) => void;
}) {
  const details = useRef<HTMLDetailsElement>(null);
  const asked = hasExtras(form);
  // What a submission asked for is seen; people may close it all the same.
  useEffect(() => {
    if (asked && details.current) details.current.open = true;
  }, [asked]);
  return (
    <details id="extras" class="extras" ref={details}>
      <summary>GPUs, launch plan, problem of your own</summary>
      <label class="field-label" for="gpu-select">
        GPU to ask for
      </label>
      <select
        id="gpu-select"
        value={form.gpuType}
        onChange={({ currentTarget }) => onChange(withGpu(form, currentTarget.value))}
      >
        {gpuTypes.map((type) => (
          <option value={type} key={type}>
            {type}
          </option>
        ))}
      </select>
      <label class="field-label" for="gpu-size">
        How much of one machine; times on a part of a GPU are unproven
      </label>
      <select
        id="gpu-size"
        value={String(form.eighths)}
        onChange={({ currentTarget }) => onChange({ eighths: Number(currentTarget.value) })}
      >
        {SIZES.map(([eighths, name]) => (
          <option value={String(eighths)} key={eighths}>
            {name}
          </option>
        ))}
      </select>
      <fieldset id="fallback-gpus" class="fallback-gpus">
        <legend class="field-label">
          Will do where none of it is free, the first before the next; you pay for what you get
        </legend>
        {gpuTypes.map((type) => (
          <label key={type}>
            <input
              type="checkbox"
              value={type}
              checked={form.fallbacks.includes(type)}
              disabled={type === form.gpuType}
              onChange={({ currentTarget }) => onChange(withFallback(form, type, currentTarget.checked))}
            />
            {type}
          </label>
        ))}
      </fieldset>
      <TextField
        id="launch-plan"
        label="Launch plan: JSON, for a source of kernels only"
        value={form.launchPlan}
        onInput={(launchPlan) => onChange({ launchPlan })}
      />
      <TextField
        id="problem-def"
        label="Problem definition: a Python class, in place of the catalogue's problem"
        value={form.definition}
        onInput={(definition) => onChange({ definition })}
      />
    </details>
  );
}

function TextField({
  id,
  label,
  value,
  onInput,
}: {
  id: string;
  label: string;
  value: string;
  onInput: (text: string) => void;
}) {
  return (
    <>
      <label class="field-label" for={id}>
        {label}
      </label>
      <textarea
        id={id}
        rows={6}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </>
  );
}
