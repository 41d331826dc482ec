// Names a submission, and says who may see it.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, given, type Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { useAction } from "../page/action";

const CHOICES: [Schemas["Visibility"], string, string][] = [
  ["private", "Your account", "nobody else sees anything of it"],
  ["link", "Who has the link", "every signed-in user who knows its address"],
  ["public", "Everybody", "it is also listed, and rankings lead to it"],
];

export function seenBy(visibility: string): string {
  return CHOICES.find(([word]) => word === visibility)?.[1].toLowerCase() ?? visibility;
}

export function ChangeDialog({ submission, onClose }: { submission: Change | null; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [name, setName] = useState("");
  const [visibility, setVisibility] = useState<Schemas["Visibility"]>("private");
  const {
    refusal,
    act: save,
    forget,
  } = useAction(async (id: string) => {
    const path = { submission_id: id };
    await given(api.PATCH("/api/v1/submissions/{submission_id}", { params: { path }, body: { name, visibility } }));
    onClose();
    await queries.queries.invalidateQueries({ queryKey: queries.SUBMISSIONS });
    await queries.queries.invalidateQueries(queries.submission(id));
  });
  useEffect(() => {
    if (!submission) {
      dialog.current?.close();
      return;
    }
    setName(submission.name ?? "");
    setVisibility(submission.visibility);
    forget();
    dialog.current?.showModal();
  }, [submission]);

  return (
    <dialog class="dialog" aria-labelledby="change-heading" ref={dialog} onClose={onClose}>
      <form
        id="change-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (submission) void save(submission.id);
        }}
      >
        <h2 id="change-heading">Name and sharing</h2>
        <label class="field-label" for="change-name">
          Name
        </label>
        <input
          id="change-name"
          type="text"
          maxLength={100}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <fieldset class="choices">
          <legend class="field-label">Who may see its code, result, ISA and samples</legend>
          {CHOICES.map(([word, title, meaning]) => (
            <label key={word}>
              <input
                type="radio"
                name="visibility"
                value={word}
                checked={visibility === word}
                onChange={() => setVisibility(word)}
              />
              {title}: {meaning}
            </label>
          ))}
        </fieldset>
        <p class="hint">Others never see its cost, account or queue.</p>
        <p class="field-error" role="alert" hidden={!refusal}>
          {refusal}
        </p>
        <div class="dialog-actions">
          <button class="button" type="button" onClick={onClose}>
            Close
          </button>
          <button class="button primary" type="submit">
            Save
          </button>
        </div>
      </form>
    </dialog>
  );
}

type Change = Pick<Schemas["Submission"], "id" | "name" | "visibility">;
