// Requests to nacre's own page that answer an approval request or type into a terminal. A command that sends such a
// request makes a decision that belongs to the user.

import type { EffectiveCommand } from "../../shell-model/command.ts";
import { BRACKET } from "../../shell-model/marks.ts";
import { hasFlag, type Options, readOptions, valuesOf } from "../read-options.ts";

/** The addresses of this machine. BRACKET is among them because bash reads `[::1]` as a glob. */
const LOOPBACK = `(?:localhost|[\\w.-]+\\.localhost|127(?:\\.\\d+){1,3}|\\[::1\\]|\\[::ffff:127[^\\]]*\\]|${BRACKET}|0\\.0\\.0\\.0|0|2130706433)`;
/** The paths of the page that change something. Other paths below /api may belong to other programs. */
const PATH = "/+(?:\\.{1,2}/+)*api/+(?:approvals|shells)(?![\\w-])";
/** httpie reads `:3000/path` as an address on this machine. */
const ADDRESS = new RegExp(`^(?:https?://)?(?:[^/@]*@)?(?:${LOOPBACK}(?::[^/]*)?|:[^/]*)${PATH}`, "i");

const OWN_HOST = new RegExp(`^(?:${LOOPBACK})\\.?$`, "i");
const OWN_PATH = new RegExp(`^${PATH}`, "i");

/** Whether a URL without unknown parts names the page. URL() also resolves other forms of an address: `0x7f000001`. */
function isPage(text: string): boolean {
  const full = /^https?:/i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(full)) return false;
  const { hostname, pathname } = new URL(full);
  return OWN_HOST.test(hostname) && OWN_PATH.test(pathname);
}

const ACTS =
  "sends a request to what may be the page of nacre, which answers approval requests that the user must answer";

const CLIENT = /^(curl|wget|https?|xh|xhs|httpie)$/;
const READS = /^(GET|HEAD|OPTIONS)$/i;

/**
 * Describes a command that sends nacre's page a request to answer an approval or to type into a terminal. Returns
 * null for any other command.
 */
export function describeApprovalPageRequest(command: EffectiveCommand): string | null {
  const { program, args } = command;
  if (!CLIENT.test(program)) return null;
  const url = args.some(({ text }) => isAddress(text.replace(/^--url=/, "")));
  if (!url || !changesSomething(command)) return null;
  return `${program} ${ACTS}`;
}

const isAddress = (text: string): boolean => ADDRESS.test(text) || isPage(text);

function changesSomething(command: EffectiveCommand): boolean {
  if (command.program === "curl") return curlChanges(readOptions(command.args, CURL));
  if (command.program === "wget") return wgetChanges(readOptions(command.args));
  return command.stdin.connected || command.args.some(({ text }) => isHttpieBody(text));
}

const CURL = {
  values: "-HXduAeTFbxCKmro header request data json form user upload-file url",
  flags: "get head data-raw data-binary data-ascii data-urlencode form-string",
};

function curlChanges(options: Options): boolean {
  const methods = valuesOf(options, "-X request");
  if (methods.length > 0) return methods.some(({ text }) => !READS.test(text));
  if (hasFlag(options, "-GI get head")) return false;
  return hasFlag(
    options,
    "-dFT data json form upload-file data-raw data-binary data-ascii data-urlencode form-string",
  );
}

function wgetChanges(options: Options): boolean {
  if (hasFlag(options, "post-data post-file body-data body-file")) return true;
  const methods = valuesOf(options, "method");
  return hasFlag(options, "method") && !methods.some(({ text }) => READS.test(text));
}

/**
 * Whether the argument is a method, or an item of the body: `name=value`, `name:=json`, `name@file`. `name==value` is
 * part of the URL.
 */
const isHttpieBody = (text: string): boolean =>
  /^(POST|PUT|PATCH|DELETE)$/i.test(text) || /^[\w.[\]-]+(:?=(?!=)|:?=?@)/.test(text) || /^--raw/.test(text);

const IN_CODE = new RegExp(`//${LOOPBACK}(?::[^/"'\`\\s]*)?${PATH}`, "i");
const URLS = /https?:\/\/[^"'`\s]{1,400}/gi;
/**
 * Matches code that sends a request with a body: the code names the method, or has the body as a key of an object or
 * as a keyword argument.
 */
const SENDS =
  /\b(POST|PUT|PATCH)\b|\.(post|put|patch)\s*\(|\b(data|json|body)\s*:|[(,]\s*(data|json|body)\s*=(?![=>])/;

/** Describes code in another language that sends such a request. Returns null for any other code. */
export function describeApprovalPageCode(code: string): string | null {
  if (!SENDS.test(code)) return null;
  const isToPage = IN_CODE.test(code) || (code.match(URLS) ?? []).some(isPage);
  return isToPage ? ACTS : null;
}
