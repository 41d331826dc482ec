// The button that runs the source, with the most that it costs, and why it was refused.

import { useQuery } from "@tanstack/preact-query";
import * as queries from "../gateway/queries";
import { useSettled } from "../page/settled";
import type { Form } from "./form";
import type { Refusal } from "./refusal";
import { MODES, missingCredit, mostWords } from "./words";

const QUOTE_AFTER_MS = 250;

export function RunBar({
  form,
  canSubmit,
  trying,
  refusal,
  onSubmit,
}: {
  form: Form;
  canSubmit: boolean;
  trying: string;
  refusal: Refusal | null;
  onSubmit: () => void;
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
      <button id="submit-button" class="button primary" type="submit" disabled={!canSubmit}>
        {MODES[form.mode].run}
      </button>
      <Most form={form} />
      <p id="trying" class="hint" role="status" hidden={!trying}>
        {trying}
      </p>
      <div id="refusal" class="alert" role="alert" hidden={!refusal}>
        {refusal?.text}
        {refusal?.fields.length ? (
          <ul>
            {refusal.fields.map((field) => (
              <li key={field}>{field}</li>
            ))}
          </ul>
        ) : null}
      </div>
    </form>
  );
}

function Most({ form }: { form: Form }) {
  const asked = useSettled(form, QUOTE_AFTER_MS);
  const { data } = useQuery(queries.quote(asked));
  const credit = useQuery(queries.costs).data?.available_usd;
  const missing = data && credit !== undefined ? missingCredit(data, credit) : "";
  return (
    <>
      <span id="quote" class="hint" title="What a submission puts on hold; you pay for the time that it takes">
        {data ? mostWords(data, asked) : ""}
      </span>
      <p id="missing-credit" class="warning" role="status" hidden={!missing}>
        {missing}
      </p>
    </>
  );
}
