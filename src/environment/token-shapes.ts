// What well-known secrets look like, wherever they appear: in the value of a variable or in output.
// Every repetition is bounded and every shape starts at a word's edge, so that matching is linear and
// nothing longer than REDACT_HOLD_MAX_CHARS has to be seen at once.

export interface TokenShape {
  readonly label: string;
  /** Source of a regular expression without capturing groups. */
  readonly source: string;
}

const EDGE = "(?<![A-Za-z0-9_-])";

export const TOKEN_SHAPES: readonly TokenShape[] = [
  { label: "github-token", source: `${EDGE}gh[pousr]_[A-Za-z0-9]{30,255}` },
  { label: "github-token", source: `${EDGE}github_pat_[A-Za-z0-9_]{22,255}` },
  { label: "gitlab-token", source: `${EDGE}glpat-[A-Za-z0-9_.-]{20,255}` },
  { label: "aws-access-key", source: `${EDGE}A(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])` },
  { label: "google-api-key", source: `${EDGE}AIza[A-Za-z0-9_-]{35}` },
  { label: "api-key", source: `${EDGE}sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,512}` },
  { label: "api-key", source: `${EDGE}sk-[A-Za-z0-9]{20,255}` },
  { label: "stripe-key", source: `${EDGE}[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}` },
  { label: "slack-token", source: `${EDGE}xox[abeoprs]-[A-Za-z0-9-]{10,255}` },
  { label: "slack-webhook", source: "https://hooks\\.slack\\.com/services/[A-Za-z0-9_/]{16,255}" },
  { label: "npm-token", source: `${EDGE}npm_[A-Za-z0-9]{36,255}` },
  { label: "pypi-token", source: `${EDGE}pypi-[A-Za-z0-9_-]{50,512}` },
  { label: "hugging-face-token", source: `${EDGE}hf_[A-Za-z0-9]{30,255}` },
  { label: "sendgrid-key", source: `${EDGE}SG\\.[A-Za-z0-9_-]{16,128}\\.[A-Za-z0-9_-]{16,128}` },
  {
    label: "jwt",
    source: `${EDGE}eyJ[A-Za-z0-9_-]{8,2048}\\.eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8,2048}`,
  },
];

/**
 * `scheme://user:password@`; a reference such as `$PASSWORD` or `<password>` in its place is no secret.
 * With capturing groups, for what comes before the password and for the password.
 */
export const URL_PASSWORD = String.raw`((?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,19}://[^\s/:@]{0,256}:)(?![$<{*])([^\s/@]{1,256})(?=@)`;

export const PEM_HEADER = "-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----";

/** The end of any PEM block; no longer than PEM_FOOTER_MAX_CHARS. */
export const PEM_FOOTER = "-----END [A-Z0-9 ]{0,40}-----";
export const PEM_FOOTER_MAX_CHARS = 64;

/** A whole block; or, where its end is missing, the header and the lines of base64 that follow it. */
export const PRIVATE_KEY = [
  // `--` ends the search for the footer: a text full of headers is not scanned again from each of them.
  `${PEM_HEADER}(?:[^-]|-(?!-)){0,16384}${PEM_FOOTER}`,
  `${PEM_HEADER}(?:(?:\\r?\\n|\\\\n)[ \\t]{0,8}[A-Za-z0-9+/=]{16,76}){0,200}`,
].join("|");
