// All that can be chosen beside the source, in one panel whose head says what is.

import { useQuery } from "@tanstack/preact-query";
import { useEffect, useRef } from "preact/hooks";
import * as queries from "../gateway/queries";
import {
  type Form,
  hasExtras,
  isProfiled,
  isProgram,
  isTimed,
  KERNEL_MODES,
  type Timing,
  withFallback,
  withGpu,
} from "./form";
import { chosen, isMissing, MODES, SIZES, TIMINGS } from "./words";

interface Part {
  form: Form;
  onChange: (changes: Partial<Form>) => void;
}

export function Options({ form, gpuTypes, onChange }: Part & { gpuTypes: string[] }) {
  const details = useRef<HTMLDetailsElement>(null);
  const asked = hasExtras(form);
  // What a submission asked for is seen; people may close it all the same.
  useEffect(() => {
    if (asked && details.current) details.current.open = true;
  }, [asked]);
  return (
    <details id="extras" class="extras" ref={details}>
      <summary>
        Options: <span id="chosen">{chosen(form)}</span>
      </summary>
      <div class="extras-content">
        {isProgram(form) ? null : (
          <>
            <Modes form={form} onChange={onChange} />
            <Measuring form={form} onChange={onChange} />
          </>
        )}
        <Gpus form={form} gpuTypes={gpuTypes} onChange={onChange} />
        {isProgram(form) ? null : <Texts form={form} onChange={onChange} />}
      </div>
    </details>
  );
}

function Texts({ form, onChange }: Part) {
  return (
    <>
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
    </>
  );
}

function Modes({ form, onChange }: Part) {
  return (
    <fieldset class="modes">
      <legend>What to do</legend>
      {KERNEL_MODES.map((mode) => (
        <label title={MODES[mode].title} key={mode}>
          <input
            type="radio"
            name="mode"
            value={mode}
            checked={form.mode === mode}
            onChange={() => onChange({ mode })}
          />
          <span>{MODES[mode].name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Measuring({ form, onChange }: Part) {
  return (
    <div class="measuring">
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
    </div>
  );
}

function Gpus({ form, gpuTypes, onChange }: Part & { gpuTypes: string[] }) {
  const pool = useQuery(queries.availability).data;
  const name = (type: string) => (isMissing(type, pool) ? `${type} (none here, and no provider has it)` : type);
  return (
    <>
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
            {name(type)}
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
        {SIZES.map(([eighths, size]) => (
          <option value={String(eighths)} key={eighths}>
            {size}
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
            {name(type)}
          </label>
        ))}
      </fieldset>
    </>
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

function entries<Name extends string, Value>(table: Record<Name, Value>): [Name, Value][] {
  return Object.entries(table) as [Name, Value][];
}
