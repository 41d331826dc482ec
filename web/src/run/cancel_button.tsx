// The button that ends a run, which asks first.

import { useRef } from "preact/hooks";
import { dollars } from "../page/format";

export function CancelButton({ costUsd, onCancel }: { costUsd: number | null; onCancel: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button id="cancel-button" class="button small danger" type="button" onClick={() => dialog.current?.showModal()}>
        Cancel
      </button>
      <dialog id="cancel-dialog" class="dialog" aria-labelledby="cancel-heading" ref={dialog}>
        <form
          method="dialog"
          onSubmit={({ submitter }) => {
            if ((submitter as HTMLButtonElement | null)?.value === "cancel") onCancel();
          }}
        >
          <h2 id="cancel-heading">Cancel this run?</h2>
          <p>
            {costUsd
              ? `${dollars(costUsd)} is charged so far. What it has used stays charged; nothing is added after it ends.`
              : "Nothing is charged so far."}{" "}
            Your text stays.
          </p>
          <div class="dialog-actions">
            <button class="button" type="submit" value="">
              Let it run
            </button>
            <button id="cancel-confirm" class="button danger" type="submit" value="cancel">
              Cancel the run
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
