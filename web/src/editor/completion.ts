// What the editor offers while somebody types: words of the problem, of HIP, and of the text itself.

import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completeAnyWord,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { distinct, HIP_WORDS, wordsOfProblem } from "./hip_words";

const NO_CODE = /Comment|String|Char/;
const BEGUN = /<<?<?|\w+$/;

export function completion(signature: () => string): Extension {
  const offered = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const begun = context.matchBefore(BEGUN);
    if ((!begun || begun.from === begun.to) && !context.explicit) return null;
    if (NO_CODE.test(syntaxTree(context.state).resolveInner(context.pos, -1).name)) return null;
    const local = await completeAnyWord(context);
    return {
      from: begun?.from ?? context.pos,
      options: distinct(wordsOfProblem(signature()), HIP_WORDS, local?.options ?? []),
      validFor: /^(\w*|<+)$/,
    };
  };
  return autocompletion({ override: [offered], icons: false });
}
