// The file worker: runs inside a sandbox, reads requests from stdin and writes answers to the pipe of its host. The
// worker has no state and makes no decisions. The sandbox limits its access.
import { writeSync } from "node:fs";
import { messageOf } from "../../support/errors.ts";
import { FILE_WORKER_ANSWER_MAX_BYTES } from "../../support/limits/file-limits.ts";
import { systemCode } from "../../support/system-error.ts";
import type { StoreRequest } from "../disk/disk.ts";
import { LOCAL_DISK } from "../disk/local-disk.ts";
import { encodeFrame, FrameReader } from "./frames.ts";

/** The fd that the host reads (shell/confined-worker.ts). */
const ANSWER_FD = 9;

interface WorkerRequest {
  readonly id: number;
  readonly operation: "locate" | "load" | "store";
  readonly argument: unknown;
}

const reader = new FrameReader(FILE_WORKER_ANSWER_MAX_BYTES);
let last: Promise<void> = Promise.resolve();

process.stdin.on("data", (chunk: Buffer) => {
  for (const request of reader.push(chunk)) {
    last = last.then(() => answer(request as WorkerRequest));
  }
});
process.stdin.on("end", () => process.exit(0));

async function answer({ id, operation, argument }: WorkerRequest): Promise<void> {
  let message: unknown;
  try {
    message = { id, value: await perform(operation, argument) };
  } catch (error) {
    message = { id, error: { code: systemCode(error) ?? "EIO", message: messageOf(error) } };
  }
  writeWhole(encodeFrame(message));
}

async function perform(operation: WorkerRequest["operation"], argument: unknown): Promise<unknown> {
  if (operation === "locate") return await LOCAL_DISK.locate(argument as string);
  if (operation === "load") return await LOCAL_DISK.load(argument as string);
  const request = argument as Omit<StoreRequest, "bytes"> & { readonly bytes: string };
  return await LOCAL_DISK.store({ ...request, bytes: Buffer.from(request.bytes, "base64") });
}

function writeWhole(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(ANSWER_FD, bytes, at);
}
