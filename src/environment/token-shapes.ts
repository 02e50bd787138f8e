// The shapes of well-known secrets. redact.ts finds them in output; secrets.ts joins the sources of TOKEN_SHAPES into
// one pattern and tests the values of variables. Every repetition is bounded and every shape starts at a word boundary,
// so matching takes linear time, and no match is longer than REDACT_HOLD_MAX_CHARS. Only a private key contains white
// space. A shape reads at most REDACT_LOOKBEHIND_MAX_CHARS characters before its match.

export interface TokenShape {
  readonly label: string;
  /**
   * A regular expression without a capturing group: if it had one, redact.ts would leave the text up to the end of
   * the group visible.
   */
  readonly source: string;
  /**
   * `source` without the check of the preceding character: a secret may follow an escape such as `\n`, which ends in
   * a letter.
   */
  readonly body: string;
}

const shape = (label: string, body: string): TokenShape => ({
  label,
  source: `(?<![A-Za-z0-9_-])${body}`,
  body,
});

/** The order matters: the first shape that matches determines the match and its label. */
export const TOKEN_SHAPES: readonly TokenShape[] = [
  shape("github-token", "gh[pousr]_[A-Za-z0-9]{30,255}"),
  shape("github-token", "github_pat_[A-Za-z0-9_]{22,255}"),
  shape("gitlab-token", "gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[A-Za-z0-9_.-]{20,255}"),
  shape("aws-access-key", "A(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
  shape("google-api-key", "AIza[A-Za-z0-9_-]{35}"),
  shape("google-oauth-secret", "GOCSPX-[A-Za-z0-9_-]{20,64}"),
  shape("api-key", "sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,512}"),
  shape("api-key", "sk-[A-Za-z0-9]{20,255}"),
  shape("stripe-key", "[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
  shape("slack-token", "x(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,255}"),
  shape("slack-webhook", String.raw`https://hooks\.slack\.com/services/[A-Za-z0-9_/]{16,255}`),
  shape("npm-token", "npm_[A-Za-z0-9]{36,255}"),
  shape("pypi-token", "pypi-[A-Za-z0-9_-]{50,512}"),
  shape("docker-token", "dckr_pat_[A-Za-z0-9_-]{20,255}"),
  shape("vault-token", String.raw`hvs\.[A-Za-z0-9_-]{24,255}`),
  shape("hugging-face-token", "hf_[A-Za-z0-9]{30,255}"),
  shape("sendgrid-key", String.raw`SG\.[A-Za-z0-9_-]{16,128}\.[A-Za-z0-9_-]{16,128}`),
  shape("jwt", String.raw`eyJ[A-Za-z0-9_-]{8,2048}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,2048}`),
];

/** An escape that ends in a letter or digit but is not part of the next word: `\n`, `\u003d`, `%3D`. */
export const ESCAPE = String.raw`(?:\\(?:[nrtbfv]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|%[0-9A-Fa-f]{2})`;

/** A header with credentials. The capturing group is the text before the credentials. */
export const AUTHORIZATION = [
  String.raw`([Aa](?:uthorization|UTHORIZATION)\\{0,3}["']?[ \t]{0,2}[:=][ \t]{0,2}\\{0,3}["']?`,
  // A word in capitals, such as YOUR_ACCESS_TOKEN, is a placeholder.
  String.raw`(?:[Bb](?:asic|ASIC|earer|EARER)|[Tt]oken)[ \t]{1,2})(?![A-Z_-]{1,64}(?![A-Za-z0-9+/=]))[A-Za-z0-9._~+/=-]{8,4096}`,
].join("");

/**
 * `scheme://user:password@`. A reference such as `$PASSWORD` or `<password>` is not a secret. The capturing groups are
 * the text before the password, and the password.
 */
export const URL_PASSWORD = [
  // JSON can escape the slashes.
  String.raw`((?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,19}:\\{0,3}/\\{0,3}/`,
  // A user name does not start like an IPv6 address, and does not contain the quote that ends the URL.
  String.raw`(?!\[)[^\s/:@"'<>\\\x60]{0,256}:)`,
  // The password is not a reference, and not a port: digits before a query or before the quote that ends the URL.
  String.raw`(?![$<{*]|\d{1,5}[?#"',;)\]}\\])`,
  // If the password contains @, it extends to the last @.
  String.raw`([^\s/@"<>\x60]{1,256}(?:@[^\s/@?#:"',;&<>\x60]{1,256}){0,3})`,
  // After the @, a host must follow, not the digest of an image or the version of a package.
  String.raw`(?=@(?!(?:md5|sha\d{1,3})(?![\w.-])|v?\d{1,9}\.\d{1,9}(?:\.\d{1,9})?(?:[-+][\w.+-]{0,64})?(?![\w.:/-])|[\^~*=>]))`,
].join("");

export const PEM_HEADER = "-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----";

/** The end of any PEM block; no longer than PEM_FOOTER_MAX_CHARS. */
export const PEM_FOOTER = "-----END [A-Z0-9 ]{0,40}-----";

/** A whole block, or a header with the following base64 lines if the end is missing. */
export const PRIVATE_KEY = [
  // `--` ends the search for the footer, so that a text with many headers is not scanned again from each header.
  `${PEM_HEADER}(?:[^-]|-(?!-)){0,16384}${PEM_FOOTER}`,
  `${PEM_HEADER}(?:(?:\\r?\\n|\\\\n)[ \\t]{0,8}[A-Za-z0-9+/=]{16,76}){0,200}`,
].join("|");
