// Refuses to write a redaction mark where the file itself has none. The model has copied the mark from output, and
// writing the mark would destroy the secret that it stands for.
import { REDACTION_MARK } from "../environment/redact.ts";
import { NacreError } from "../support/errors.ts";

/** For an edit: the replaced text must contain every mark of the new text. */
export function checkMarksInEdit(replaced: string, written: string): void {
  check(marksIn(written), marksIn(replaced), "new_string");
}

/** For a whole file: every line of the new content that has a mark must also be in the old file, unchanged. */
export function checkMarksInContent(before: string | undefined, content: string): void {
  check(markedLines(content), markedLines(before ?? ""), "content");
}

function check(written: readonly string[], existing: readonly string[], parameter: string): void {
  const left = [...existing];
  for (const mark of written) {
    const at = left.indexOf(mark);
    if (at >= 0) left.splice(at, 1);
    else {
      throw new NacreError(
        "invalid_input",
        `Parameter ${parameter} contains the redaction mark ${marksIn(mark)[0] ?? mark}, which stands for a secret that you were not shown. Writing it would destroy the secret: leave that part of the file out of the change. Nothing was changed.`,
      );
    }
  }
}

function marksIn(text: string): string[] {
  return text.match(REDACTION_MARK) ?? [];
}

function markedLines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => marksIn(line).length > 0);
}
