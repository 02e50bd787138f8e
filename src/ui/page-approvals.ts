// The approval requests as the page shows them: each entry, and the summary of its preview as lines of text. The server
// writes these lines, so that the page, the terminal and MCP clients show the same summary.
import type { ApprovalEntry } from "../approvals/approval-record.ts";
import { summaryLines } from "../preview/summarize-preview.ts";
import type { PreviewSummary } from "../tool/context.ts";

export interface PageApproval extends ApprovalEntry {
  readonly preview?: PreviewSummary & { readonly lines?: readonly string[] };
}

export function pageApproval(entry: ApprovalEntry): PageApproval {
  const { preview } = entry;
  return preview ? { ...entry, preview: { ...preview, lines: summaryLines(preview) } } : entry;
}
