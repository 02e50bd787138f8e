// Redirections: the input of a command, the files that it opens, and the output that is left for the pipe. Data on a
// file descriptor is recorded under the path /dev/fd/N, from which a later command or a shell may read it.

import type { HereDoc, HereString, Redirection as RedirectionNode } from "unbash";
import { POLICY_FOLDED_MAX_CHARS } from "../../support/limits.ts";
import { changeDirectory, locate, type Where } from "../paths/paths.ts";
import type { CommandContext, Field, Redirection } from "./command.ts";
import { type Frame, fieldsOf } from "./fields.ts";
import { type Flow, flowOf, joinOrigins, NO_FLOW } from "./flow.ts";
import { isCertain, UNKNOWN } from "./marks.ts";
import type { Scope } from "./script-scope.ts";
import type { WordContext } from "./word-context.ts";
import { evaluateQuoted, evaluateText } from "./words.ts";

export function evaluateRedirections(
  nodes: readonly RedirectionNode[],
  frame: Frame,
  context: WordContext,
): { readonly redirects: readonly Redirection[]; readonly stdin: Flow } {
  const redirects: Redirection[] = [];
  let stdin = frame.stdin;
  for (const node of nodes) {
    const descriptor = descriptorOf(node, frame.scope);
    if (node.type === "HereDoc" || node.type === "HereString") {
      const flow = node.type === "HereDoc" ? flowOf(bodyOf(node, context)) : hereString(node, context);
      if (descriptor === null || descriptor === 0) stdin = flow;
      else frame.scope.files.set(`/dev/fd/${descriptor}`, flow);
    } else if (node.target) {
      const fields = fieldsOf(node.target, frame, context).flat();
      context.budget.spend(fields.length);
      redirects.push(...fields.map((target) => ({ operator: node.operator, descriptor, target })));
      const flow = inputFrom(node.operator, fields[0], frame.scope);
      if (descriptor === null || descriptor === 0) stdin = flow ?? stdin;
      else keepOpen(descriptor, flow, fields[0], frame.scope);
    }
  }
  return { redirects, stdin };
}

/** For `{name}<file` bash chooses a descriptor of 10 or above. */
const CHOSEN_DESCRIPTOR = 10;

function descriptorOf({ descriptor }: RedirectionNode, scope: Scope): number | null {
  if (!descriptor) return null;
  if (descriptor.type === "FileDescriptor") return descriptor.value;
  scope.assign(descriptor.name, [String(CHOSEN_DESCRIPTOR)]);
  return CHOSEN_DESCRIPTOR;
}

/** The data that a redirection connects to stdin, or null. */
function inputFrom(operator: string, target: Field | undefined, scope: Scope): Flow | null {
  if (operator === "<" || operator === "<>") return readable(target, scope);
  if (operator !== "<&") return null;
  const known = scope.files.get(`/dev/fd/${target?.text}`);
  // The standard descriptors are unchanged; the data on any other descriptor is unknown.
  return known ?? (/^([0-2]|-)$/.test(target?.text ?? "") ? null : flowOf(null));
}

/** Records the data that a later command reads from a descriptor. Data on a socket comes from the other host. */
function keepOpen(descriptor: number, flow: Flow | null, target: Field | undefined, scope: Scope): void {
  if (descriptor < 3) return;
  if (/^\/dev\/(tcp|udp)\//.test(target?.text ?? ""))
    scope.files.set(`/dev/fd/${descriptor}`, flowOf(null, ["network", "socket"]));
  else if (flow) scope.files.set(`/dev/fd/${descriptor}`, flow);
}

function hereString(node: HereString, context: WordContext): Flow {
  const values = node.target ? evaluateText(node.target, context) : [UNKNOWN];
  return flowOf(values.length === 1 ? `${values[0] ?? ""}\n` : values.join("\n"));
}

function bodyOf(node: HereDoc, context: WordContext): string {
  return node.body.parts ? evaluateQuoted(node.body.parts, context) : node.body.text;
}

function readable(target: Field | undefined, scope: Scope): Flow {
  if (!target) return flowOf(null);
  if (target.flow) return target.flow;
  if (target.text === "/dev/null") return NO_FLOW;
  if (target.text.startsWith("/dev/tcp/")) return flowOf(null, ["network"]);
  const [cwd = UNKNOWN] = scope.cwds;
  const known = scope.files.get(changeDirectory(target.text, cwd));
  if (known) return known;
  return isCertain(target.text) && !/^\/(dev|proc)\//.test(target.text)
    ? flowOf(null, ["file"])
    : flowOf(null);
}

/** Records output that goes to files, and returns the output that is left for the pipe. */
export function writeFiles(flow: Flow, { redirects, scope }: CommandContext, where: Where): Flow {
  let left = flow;
  for (const { operator, descriptor, target } of redirects) {
    if (!/^(&?>>?|>\||>&)$/.test(operator) || (descriptor !== null && descriptor !== 1)) continue;
    if (/^(\d+|-)$/.test(target.text)) continue;
    for (const cwd of scope.cwds) {
      const { path, class: kind } = locate(target.text, cwd, where);
      if (kind === "unknown" || kind === "harmless-device") continue;
      const before = operator.endsWith(">>") ? scope.files.get(path) : undefined;
      scope.files.set(path, before ? appended(before, flow) : flow);
    }
    left = flowOf("");
  }
  return left;
}

function appended(before: Flow, after: Flow): Flow {
  const text = before.text === null || after.text === null ? null : before.text + after.text;
  return flowOf(
    text !== null && text.length > POLICY_FOLDED_MAX_CHARS ? null : text,
    joinOrigins(before.origins, after.origins),
  );
}
