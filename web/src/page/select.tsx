// A choice with a name above it. A value that is none of its options is kept and shown.

export function Select({
  name,
  value,
  options,
  names = {},
  anyway = "Any",
  onChange,
}: {
  name: string;
  value: string;
  options: readonly string[];
  // Of options that are called otherwise than their value; one that has none is shown as it is.
  names?: Record<string, string>;
  // What no choice is called; empty if there is always one.
  anyway?: string;
  onChange: (value: string) => void;
}) {
  return (
    <label>
      <span class="field-label">{name}</span>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {anyway ? <option value="">{anyway}</option> : null}
        {[...new Set([...options, ...(value ? [value] : [])])].map((option) => (
          <option value={option} key={option}>
            {names[option] ?? option}
          </option>
        ))}
      </select>
    </label>
  );
}
