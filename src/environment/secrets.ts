// Decides which variables are secrets, by the words of the name and by the shape of the value. Variables that only
// have similar names (MAX_TOKENS, SSH_AUTH_SOCK, PWD) do not count as secrets.
import { PEM_HEADER, TOKEN_SHAPES, URL_PASSWORD } from "./token-shapes.ts";

export function isSecret(name: string, value: string): boolean {
  // A switch such as SKIP_AUTH=true is not a secret.
  if (SWITCH.test(value)) return false;
  if (hasSecretName(name)) return !isPathToSecret(name, value);
  return hasSecretValue(name, value);
}

/**
 * Whether the name contains a word that marks a secret. Some words count anywhere in the name, others only at its
 * end.
 */
export function hasSecretName(name: string): boolean {
  if (ORDINARY.has(name)) return false;
  const words = wordsOf(name);
  const joined = words.join("_");
  if (ANYWHERE.test(joined)) return true;
  const core = withoutQualifiers(words);
  const last = core.at(-1) ?? "";
  const before = core.at(-2) ?? "";
  if (last === "KEY") return !HARMLESS_KEYS.has(before);
  if (last === "KEYS" || last === "TOKENS") return SECRET_PLURALS.has(before);
  if (last === "URL" || last === "URI") return core.some((word) => URL_OWNERS.has(word));
  return LAST_WORDS.has(last) || LAST_COMPOUND.test(core.join("_"));
}

/**
 * Whether the value looks like a secret. The address of a proxy does not count, even if it contains a password:
 * programs may need the proxy to reach the network.
 */
function hasSecretValue(name: string, value: string): boolean {
  if (ORDINARY.has(name)) return false;
  return SHAPES.test(value) || (!PROXY.test(name) && URL_CREDENTIALS.test(value));
}

// A path to a file with a secret is not a secret itself: POSTGRES_PASSWORD_FILE=/run/secrets/db.
function isPathToSecret(name: string, value: string): boolean {
  return POINTER.test(name) && /^(?:~|\.{0,2}\/)/.test(value) && !SHAPES.test(value);
}

/** The words of a name, in capitals. Works for `clientAuthToken`, `npm_config__auth` and `API_KEY`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== "");
}

// Drops a number, stage or encoding at the end of a name: API_KEY_2, TOKEN_PROD, SIGNING_KEY_BASE64.
function withoutQualifiers(words: readonly string[]): readonly string[] {
  const end = words.findLastIndex((word) => !/^\d+$/.test(word) && !QUALIFIERS.has(word));
  return words.slice(0, end + 1);
}

const SWITCH = /^(?:|true|false)$/i;

const ORDINARY = new Set(["PATH", "PWD", "OLDPWD", "INIT_CWD", "SSH_AUTH_SOCK", "XAUTHORITY"]);

const ANYWHERE =
  /PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|CONNECTION_?STRING|CONNSTR|(?:^|_)CREDS(?:_|$)|KUBE_?CONFIG_(?:DATA|BASE64|B64)|^TF_TOKEN_/;

const LAST_WORDS = new Set([
  ...["TOKEN", "PASS", "PWD", "PW", "PASSCODE", "PAT", "JWT", "AUTH", "AUTHORIZATION", "BEARER", "CRED"],
  ...["DSN", "COOKIE", "WEBHOOK", "SAS", "MNEMONIC", "SALT", "P12", "PFX"],
]);

// Compounds without a separator, and words that only together mark a secret.
const LAST_COMPOUND =
  /(?:API|ACCESS|PRIVATE|AUTH|SIGNING|ENCRYPTION|MASTER)(?:KEY|TOKEN)$|(?:SSH|STORE|KEY)PASS$|(?:^|_)(?:ACCESS_KEY_ID|AUTH_CONFIG|CONN_STR|SEED_PHRASE)$/;

const HARMLESS_KEYS = new Set([
  ...["PUBLIC", "PUBLISHABLE", "PUB", "CACHE", "SORT", "PRIMARY", "PARTITION", "FOREIGN"],
]);

const SECRET_PLURALS = new Set(["API", "ACCESS", "AUTH", "PRIVATE", "REFRESH", "SIGNING", "ENCRYPTION"]);

const URL_OWNERS = new Set([
  ...["DATABASE", "DB", "POSTGRES", "POSTGRESQL", "PG", "MYSQL", "MARIADB", "MONGO", "MONGODB", "REDIS"],
  ...["AMQP", "RABBITMQ", "CLOUDAMQP", "BROKER", "ELASTICSEARCH", "CLICKHOUSE", "JDBC", "DATASOURCE"],
  ...["SMTP", "CLOUDINARY", "WEBHOOK", "HOOK", "MEMCACHED", "NEO4J", "COCKROACH"],
]);

const QUALIFIERS = new Set([
  ...["BASE64", "B64", "PEM", "JSON", "HEX", "DATA", "RAW", "STR", "VALUE", "OLD", "NEW"],
  ...["DEV", "PROD", "PRODUCTION", "STAGING", "TEST", "LOCAL", "CI"],
]);

const POINTER = /_(?:FILE|PATH|DIR)$/i;

const PROXY = /(?:^|_)(?:https?_?|ftp_?|all_?|no_?)?proxy$/i;

const SHAPES = new RegExp([PEM_HEADER, ...TOKEN_SHAPES.map((shape) => shape.source)].join("|"));

const URL_CREDENTIALS = new RegExp(URL_PASSWORD);
