// Checks the shape of the file worker's answers. The content stays untrusted: a sandboxed command may be able to forge
// an answer.
import { z } from "zod";
import { FILE_MAX_BYTES, NEAREST_NAMES_MAX_COUNT } from "../../support/limits.ts";
import {
  ENTRY_KINDS,
  IN_PLACE_REASONS,
  type LoadAnswer,
  type Located,
  type StoreAnswer,
} from "../disk/disk.ts";

const path = z.string().startsWith("/");
const count = z.int().min(0);
const digits = z.string().regex(/^\d{1,20}$/);

const identity = z.object({
  dev: digits,
  ino: digits,
  size: count,
  mtimeNs: z.string().regex(/^-?\d{1,20}$/),
});

const bytes = z
  .string()
  .max(Math.ceil((FILE_MAX_BYTES * 4) / 3) + 4)
  .transform((text) => Buffer.from(text, "base64"));

const loaded = z.object({ identity, hardLinks: count, bytes });

const located = z.object({
  real: path,
  kind: z.enum(ENTRY_KINDS).optional(),
  missingDirs: count,
  nearest: z.array(z.string().max(255)).max(NEAREST_NAMES_MAX_COUNT),
});

const load = z.discriminatedUnion("kind", [
  loaded.extend({ kind: z.literal("loaded") }),
  z.object({ kind: z.literal("moved") }),
  z.object({ kind: z.literal("not a file"), entry: z.enum(ENTRY_KINDS) }),
  z.object({ kind: z.literal("too large"), size: count }),
  z.object({ kind: z.literal("busy") }),
]);

const store = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("stored"),
    identity,
    hardLinks: count,
    inPlace: z.enum(IN_PLACE_REASONS).optional(),
    mayLackAttributes: z.boolean(),
  }),
  z.object({ kind: z.literal("moved") }),
  z.object({ kind: z.literal("stale"), current: loaded.optional() }),
]);

const message = z.object({
  id: count,
  value: z.unknown().optional(),
  error: z
    .object({ code: z.string().regex(/^E[A-Z0-9]{1,20}$/), message: z.string().max(10_000) })
    .optional(),
});

export const readMessage = (given: unknown) => message.parse(given);
export const readLocated = (given: unknown): Located => {
  const { kind, ...rest } = located.parse(given);
  return { ...rest, kind };
};
export const readLoadAnswer = (given: unknown): LoadAnswer => load.parse(given);
export const readStoreAnswer = (given: unknown): StoreAnswer => {
  const answer = store.parse(given);
  if (answer.kind === "stored") return { ...answer, inPlace: answer.inPlace };
  return answer.kind === "stale" ? { kind: "stale", current: answer.current } : answer;
};
