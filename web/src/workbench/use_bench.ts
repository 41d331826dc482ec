// A bench as long as its page is shown: it follows the address, and hears the editor.

import { useQuery } from "@tanstack/preact-query";
import { useEffect, useMemo } from "preact/hooks";
import type { Editor } from "../editor/editor";
import * as queries from "../gateway/queries";
import { withOffered } from "../request/form";
import { Bench, type Place } from "./bench";

export function useBench(isProgram: boolean, { slug, submissionId }: Place) {
  const bench = useMemo(() => new Bench(isProgram), []);
  const calls = useMemo(
    () => ({
      onEditor: (editor: Editor | null) => {
        bench.source.editor = editor;
      },
      onChange: (code: string) => bench.source.remember(code),
      onSubmit: () => void bench.submit(),
      onSample: () => void bench.runSample(),
      onFile: (file: File) => void bench.source.openFile(file),
    }),
    [bench],
  );
  useEffect(() => () => bench.close(), [bench]);
  useEffect(() => void bench.arrive({ slug, submissionId }), [bench, slug, submissionId]);
  const gpuTypes = useQuery(queries.gpuTypes).data;
  useEffect(() => {
    if (gpuTypes) bench.change(withOffered(bench.form.value, gpuTypes));
  }, [bench, gpuTypes]);
  return { bench, calls, gpuTypes: gpuTypes ?? [] };
}
