// Runs one command in a preview: the real bash reads the real files, but every change goes to a separate layer.
//
//   runPreview
//     admit                refuses a denied command; admits any other without asking a person
//     PreviewStore.create  creates the layers of the overlay
//     start                starts a separate bash in the sandbox, with the session's state if there is a session
//     SizeWatch            ends the command if it writes too much
//     PreviewStore.conclude  finds what the command created, changed and deleted

import { plantHardLinks } from "../preview/hard-links.ts";
import type { PreviewRecord } from "../preview/preview-record.ts";
import type { Change } from "../preview/scan-changes.ts";
import { SizeWatch } from "../preview/size-watch.ts";
import { sweepPreviewsIfDue } from "../preview/sweep-previews.ts";
import { foreignFile, surveyWorkspace } from "../preview/workspace-survey.ts";
import type { CreateShellOptions } from "../shell/manager-options.ts";
import type { ShellProcess } from "../shell/shell-process.ts";
import { WORKSPACE_SURVEY_WAIT_MAX_MS } from "../support/limits.ts";
import { shownPath } from "../support/path-text.ts";
import { within } from "../support/timing.ts";
import type { Admitted } from "./admission.ts";
import { untilShellEnd } from "./foreground.ts";
import { scopeOf } from "./scope.ts";
import { startAlone, startInSession, takePlace } from "./start-command.ts";

export interface PreviewOptions extends Pick<CreateShellOptions, "timeoutMs" | "stdin"> {
  readonly onStart?: (shell: ShellProcess) => void;
}

export interface PreviewedCommand {
  readonly shell: ShellProcess;
  readonly record: PreviewRecord;
  readonly changes: readonly Change[];
  readonly notes: readonly string[];
}

/** `admitted` must be an admission for a preview. Throws if the command could not be previewed. */
export async function runPreview(
  admitted: Admitted,
  { onStart, ...start }: PreviewOptions = {},
): Promise<PreviewedCommand> {
  const { context, options, command, cwd, session, ask } = admitted;
  const manager = options.manager();
  const store = manager.previews;
  using _place = await takePlace(admitted);
  const workspace = manager.confiner.workspaceFor(cwd);
  sweepPreviewsIfDue(store);
  const created = store.create({ command, workspace, cwd, scope: scopeOf(context), session, ask });
  let isKept = false;
  try {
    const plan = { ...start, previewDir: store.dirOf(created.id), background: false };
    const survey = surveyWorkspace(workspace);
    const early = await within(WORKSPACE_SURVEY_WAIT_MAX_MS, survey, context.signal);
    if (early?.foreign !== undefined) throw foreignFile(early.foreign);
    const linked = await plantHardLinks({ dir: plan.previewDir, workspace }, early?.linked ?? []);
    store.markStart(created.id);
    const shell = await (session === null ? startAlone(admitted, plan) : startInSession(admitted, plan));
    onStart?.(shell);
    const exceeded = await untilMeasuredEnd(shell, store.dirOf(created.id), admitted);
    const { foreign } = await survey;
    if (foreign !== undefined) throw foreignFile(foreign);
    const end = { exitCode: shell.exitCode, notCaptured: notCaptured(admitted), linked };
    if (exceeded !== undefined) {
      const record = store.discard(created);
      isKept = true;
      return { shell, record, changes: [], notes: [exceeded] };
    }
    const { record, changes } = await store.conclude(created, end);
    isKept = true;
    return { shell, record, changes, notes: [] };
  } finally {
    if (!isKept) store.remove(created.id);
  }
}

/** Waits until the shell ends. Returns a message if the command exceeded the size limit. */
async function untilMeasuredEnd(
  shell: ShellProcess,
  dir: string,
  { context, options }: Admitted,
): Promise<string | undefined> {
  let exceeded: string | undefined;
  let ending: Promise<unknown> | undefined;
  const watch = new SizeWatch(dir, options.maxPreviewBytes, (what) => {
    exceeded = `The command wrote more than ${what}, the most that a preview may hold, and was ended. The workspace is untouched, and the preview is gone. Raise the limit with maxPreviewBytes (--max-preview-size).`;
    ending = shell.kill({ by: "the size limit of previews", graceMs: 0 }).catch(() => {});
  });
  try {
    await untilShellEnd(shell, context.signal);
    await ending;
    return exceeded;
  } finally {
    watch.stop();
  }
}

/** Effects outside the workspace, and effects that only the sandbox of the preview prevents. */
function notCaptured({ options }: Admitted): string[] {
  const { network, readOnlyPaths } = options.manager().confiner.previewRules;
  return [
    ...(network === "full" ? ["network: the command could use it, and what it sent stays sent"] : []),
    ...readOnlyPaths.map(
      (path) => `${shownPath(path)}: outside of the workspace, so writing there was refused`,
    ),
  ];
}
