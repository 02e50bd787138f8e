// Scans code in other languages for calls with literal arguments that run or destroy something. It does not parse the
// languages, so it misses code that hides its intent. Only the sandbox confines such code.

import {
  POLICY_FOLDED_MAX_CHARS,
  POLICY_LITERAL_MAX_CHARS,
  POLICY_LITERALS_MAX_COUNT,
  POLICY_OWN_NAMES_MAX_COUNT,
} from "../../../support/limits.ts";
import { decodeEscapes } from "../../shell-model/decode-text.ts";
import { STAR, UNKNOWN } from "../../shell-model/marks.ts";
import { pathsNamed, pathsOfUnknownUse } from "./code-paths.ts";
import { foldedCode } from "./fold-code.ts";

export interface CodeScan {
  /** Shell texts that the code runs. */
  readonly texts: readonly string[];
  /** Its effects, as equivalent shell commands. */
  readonly argvs: readonly (readonly string[])[];
  readonly forks: "certain" | "maybe" | null;
  readonly reverseShell: boolean;
  /** Whether it downloads code and evaluates this code. */
  readonly isFetched: boolean;
  /** Whether it runs its input, its arguments or a file. */
  readonly isHidden: boolean;
  /** Whether it sends something over the network. */
  readonly sends: boolean;
  /** Whether it sends data, not only a request. */
  readonly posts: boolean;
  /** String literals that are absolute paths. */
  readonly literals: readonly string[];
  /** Whether it deletes or overwrites something. */
  readonly destroys: boolean;
  /** Paths whose use is not known to be harmless. */
  readonly paths: readonly string[];
}

export function scanCode(code: string, home: string): CodeScan {
  const source = withOwnNames(foldedCode(withLists(code.slice(0, POLICY_FOLDED_MAX_CHARS)), home));
  const { texts, argvs } = callsIn(source);
  argvs.push(...callsWithoutLiterals(source));
  texts.push(...shellTexts(source));
  const isFetched =
    (/(?<![.\w])(exec|eval|Function)\b/.test(source) && FETCHES.test(source)) ||
    /\b(source|import|require|load|include)\s*\(?\s*["']https?:|\binclude\(\s*[\w.]*download\(|\b(iwr|irm|Invoke-WebRequest|Invoke-RestMethod|DownloadString)\b[\s\S]{0,300}\b(iex|Invoke-Expression)\b|\biex\b[\s\S]{0,60}(DownloadString|iwr|irm)|\bsource\s+<\(curl/.test(
      source,
    );
  if ((SENDS.test(source) && ENVIRONMENT.test(source)) || NAMED_AFTER_ENVIRONMENT.test(source))
    argvs.push(["curl", "-T", "environment", "https://unknown.example"]);
  if (/\b(listen|bind|createServer|serve\w*|run)\b/.test(source) && /["'](0\.0\.0\.0|::)["']/.test(source))
    argvs.push(["serve", "--host=0.0.0.0"]);
  if (SERVERS.test(source))
    argvs.push(...[...source.matchAll(STATEMENTS)].map(([, text = ""]) => ["psql", "-c", text]));
  const forks = forksForEver(source);
  const sends = SENDS.test(source);
  const destroys = DESTROYS.test(source);
  return {
    texts,
    argvs,
    forks,
    reverseShell: opensShell(source),
    isFetched,
    isHidden: HIDDEN.test(source) || BUILT_NAMES.test(source),
    sends,
    posts: sends && POSTS.test(source),
    literals: sends ? pathsNamed(source).map((path) => path.replaceAll("*", STAR)) : [],
    destroys,
    paths: pathsOfUnknownUse(source, destroys),
  };
}

function callsIn(source: string): { readonly texts: string[]; readonly argvs: (readonly string[])[] } {
  const texts: string[] = [];
  const argvs: (readonly string[])[] = [];
  for (const match of source.matchAll(CALLS)) {
    const [call, name = ""] = match;
    const { strings, isList } = literalsAt(source, match.index + call.length);
    const [first] = strings;
    if (first === undefined) continue;
    if (EXECUTES.test(name)) {
      // The arguments of exec and spawn name the program twice: as the file to run, and as argv[0].
      if (/^(exec|spawn)[lv]/.test(name) && strings.length > 1) argvs.push([first, ...strings.slice(2)]);
      else if (isList || strings.length > 1) argvs.push(strings);
      else texts.push(first);
    } else if (name === "open" && strings.some((text) => /^-?\||\|-?$/.test(text)))
      texts.push(...strings.map((text) => text.replace(/^-?\||\|-?$/g, "")));
    else argvs.push(...sameAs(name, strings));
  }
  return { texts, argvs };
}

const SENDS =
  /requests\.(post|put|request|get)|urlopen|urlretrieve|http\.client|httpx\.|aiohttp|\bfetch\s*\(|axios|https?["']?\)?\.(request|get)|Net::HTTP|URI\.open|open-uri|socket|TCPSocket|LWP|curl_exec|IO::Socket|smtplib|ftplib|file_get_contents\(["']https?:|fsockopen|getaddrinfo|gethostbyname|dns\.(lookup|resolve)/i;
/** Matches code that uses all environment variables. */
const ENVIRONMENT =
  /process\.env(?!\s*[.[\w])|os\.environ(?!\s*(\.get|\.setdefault|\[))|\bENV\.(to_h|to_a|inspect|to_s|map|each)|\$_ENV(?!\[)|System\.getenv\(\)|%ENV\b|getenv\(\)/;
/** Database clients, and the statements that code passes to them. */
const SERVERS =
  /\b(?:create_(?:async_)?engine\((?!\s*["']sqlite)|psycopg|asyncpg|pymysql|MySQLdb|mysql\.connector|mysqli|DriverManager|createPool|createConnection|new\s+(?:pg\.)?(?:Client|Pool|PDO)\()/;
const STATEMENTS = /["'`]\s*((?:drop|truncate|delete\s+from|alter\s+table)\s[^"'`\n]{1,400})["'`]/gi;
/** A DNS lookup of a host name that contains an environment variable. */
const NAMED_AFTER_ENVIRONMENT =
  /\b(?:gethostby\w+|getaddrinfo|dns\.(?:promises\.)?(?:lookup|resolve\w*)|getaddress\w*)\s*\(\s*[^;\n]{0,80}(?:environ|getenv|process\.env|\bENV\b)(?![^;\n]{0,20}HOST)/;
const POSTS =
  /requests\.(post|put)|\.(post|put)\(|smtplib|ftplib|storbinary|sendall|\.send\(|["'](POST|PUT)["']|TCPSocket|fsockopen|curl_exec|data\s*=|body\s*:/;
const HIDDEN =
  /(?<![.\w])(?:exec|eval)\s*\(?\s*(?:input\s*\(|sys\.stdin|open\s*\(|raw_input|STDIN|gets\b|ARGF|process\.argv|<STDIN>)|\b(?:system|os\.system|popen|exec|execSync)\s*\(?\s*(?:\$_|ARGV\[|input\s*\(|open\s*\(|sys\.argv|sys\.stdin|process\.argv|gets\b)/;

/** Names of functions and modules that are known only at run time. */
const BUILT_NAMES =
  /\bgetattr\(\s*[\w.]+\s*,\s*(?!["']\w+["']\s*[,)])|__import__\(\s*(?!["'])|\brequire\(\s*(?!["'`]|path\b|resolve\b|file\b|\w+\s*\))[^)]*[+.]|(?<![.\w])(?:exec|eval)\(\s*(?:zlib|gzip|codecs|marshal|bytes|bytearray|base64|b64decode|''\.join|""\.join|compile\(|chr|String\.fromCharCode|atob|Buffer|decodeURI|unescape|str_rot13|gzinflate|base64_decode)|\bnew Function\(\s*(?!["'`])|\b(?:marshal|pickle|cPickle|dill)\.loads|yaml\.unsafe_load|memfd_create|\bctypes\.|\bconst_get\(\s*(?![:"'])|&\{\s*["']|&\$\{|\bglobals\(\)\[|globalThis\[(?!["']\w+["']\])/;
const DESTROYS =
  /\b(rm|rmtree|rm_rf|rm_r|rmdir\w*|unlink\w*|remove\w*|delete\w*|del_\w+|rmSync|shred|wipe|erase|truncate|rimraf|Remove-Item|RemoveAll|del|deltree|kill|overwrite|writefile|write\w*|rename\w*|move\w*|chmod|chown|symlink\w*|outfile|dumpfile|backup|output|once|copy|save\w*|dump)\b/i;

/** Replaces Perl's lists of bare words with strings. */
function withLists(code: string): string {
  if (!code.includes("qw")) return code;
  return code.replace(
    /\bqw\s*(?:\(([^)]{0,400})\)|\[([^\]]{0,400})\]|\{([^}]{0,400})\}|\/([^/]{0,400})\/(?=\s*[);]))/g,
    (_all, ...groups) =>
      groups
        .slice(0, 4)
        .find((group) => group !== undefined)
        .trim()
        .split(/\s+/)
        .map((word: string) => JSON.stringify(word))
        .join(","),
  );
}

/** Effects of calls without a literal at the start of their arguments. */
function callsWithoutLiterals(source: string): readonly (readonly string[])[] {
  const found: string[][] = KILLS_ALL.test(source) ? [["kill", "-9", "--", "-1"]] : [];
  found.push(...[...source.matchAll(PATH_WRITES)].map(([, path = ""]) => ["tee", "--", path]));
  for (const [, path = "", kind = "", target = ""] of source.matchAll(PATH_LINKS))
    found.push(["ln", ...(kind === "sym" ? ["-s"] : []), "--", target, path]);
  if (GIVEN_TREES.test(source)) found.push(["rm", "-rf", "--", UNKNOWN]);
  if (!/\b(remove|unlink|rmtree|rm_rf|rm_r|rmdir)\b/.test(source)) return found;
  const listed = [...source.matchAll(LISTS)].map(([, walked, path, searched]) =>
    (walked ?? path ?? searched ?? "").replaceAll("*", STAR),
  );
  return [...found, ...listed.map((path) => ["rm", "-rf", "--", path])];
}

/** Shell texts in special quotes: backticks, %x, qx, Groovy's execute. */
function shellTexts(source: string): readonly string[] {
  const texts = [...source.matchAll(/["']([^"'\n]{1,400})["'](?:\s*\])?\.execute\(\)/g)].map(
    ([, text = ""]) => text,
  );
  texts.push(...[...source.matchAll(/(?<![\w.])\$`([^`\n]{1,400})`/g)].map(([, text = ""]) => text));
  // In JavaScript, backticks quote an ordinary string.
  if (/\b(require|import|const|let|=>)\b/.test(source)) return texts;
  const marked = source.matchAll(/`([^`\n]{1,400})`|(?:%x|qx)[({[]([^)}\]\n]{1,400})/g);
  return [...texts, ...[...marked].map(([, quoted = "", percent = ""]) => quoted || percent)];
}

/** Directories whose entries are listed. */
const LISTS =
  /(?:Path\s*\(\s*)?["']([^"'\n]{1,400})["']\s*\)?\s*\.\s*(?:rglob|iterdir|glob)\b|\b(?:i?glob|listdir|scandir|walk|Path|readdirSync)\s*\(\s*["']([^"'\n]{1,400})["']\s*\)|\bfind(?:depth)?\s*\(\s*(?:\\?&?\w+|sub\s*\{[^}]{0,200}\})\s*,\s*["']([^"'\n]{1,400})["']/g;
/** Files that pathlib writes. */
const PATH_WRITES =
  /\bPath\s*\(\s*["']([^"'\n]{1,400})["']\s*\)\s*\.\s*(?:write_(?:text|bytes)|open\s*\(\s*["'][wa])/g;
/** Links that pathlib creates. */
const PATH_LINKS =
  /\bPath\s*\(\s*["']([^"'\n]{1,400})["']\s*\)\s*\.\s*(sym|hard)?link_to\s*\(\s*(?:[\w.]*Path\s*\(\s*)?["']([^"'\n]{1,400})["']/g;
/** Matches the deletion of a directory whose name comes from arguments or variables. */
const GIVEN_TREES =
  /\b(?:rmtree|rmSync|rm_rf|rm_r|RemoveAll|remove_tree|rimraf)\s*\(\s*(?:process\.(?:env|argv)|os\.environ|os\.getenv|sys\.argv|ENV\b|ARGV\b|\$ENV|\$ARGV)/;
const KILLS_ALL =
  /\b(?:os|process|Process)\.kill(?:pg)?\s*\(?\s*(?:["']?(?:SIG)?[A-Z]+["']?,\s*|9,\s*)?-?1\b(?!\s*,\s*0)|\bkill\s*\(?\s*(?:9|["']?(?:SIG)?KILL["']?|["']-9["'])\s*(?:,|=>)\s*-1\b/;
const FETCHES =
  /urlopen|urllib|URI\.open|\bget\s*\(?\s*["']https?:|requests\.get|http\.client|httpx|\bfetch\s*\(|Net::HTTP|open-uri|LWP|file_get_contents\(["']https?:/;

const CALLS =
  /\b(system|popen[234]?|Popen|exec[lv]?[pe]{0,2}|execSync|execFile|execFileSync|spawn[lv]?[pe]{0,2}|spawnSync|check_call|check_output|getoutput|getstatusoutput|subprocess\.(?:run|call)|do shell script|shell-command(?:-to-string)?|pty\.spawn|shell_exec|passthru|proc_open|os\.execute|io\.popen|Command(?:::new)?|ProcessBuilder|callCommand|run-program|run-shell-command|Sys\.command|Process\.(?:run|start|spawn)|shell(?=\s*\(\s*["'])|sh(?=\s*[(\s]["'])|syscmd|esyscmd|Shell|System\.cmd|os:cmd|rmtree|remove_tree|remove_dir|remove_entry(?:_secure)?|rm_rf|rm_r|rm_f|rmSync|rmdirSync|unlinkSync|rimraf|removedirs|RemoveAll|unlink|rmdir|os\.remove|fs\.(?:promises\.)?rm|Deno\.remove(?:Sync)?|deleteDir|deleteRecursively|delete_dir|delete(?=\s*\(\s*["'])|rm(?=\s*\()|File\.delete|open|writeFileSync|writeFile|appendFileSync|truncateSync|truncate|File\.write|file_put_contents|Path|shutil\.move|rename|renameSync|copy(?=\s*\(\s*["']https?:)|copyfile|copytree|shutil\.copy|chmod|chmodSync|symlink(?:Sync)?|ln_sf?|linkSync|os\.link|File\.link|link(?=\s*\()|readFileSync|readFile|File\.read|file_get_contents)\b!?\s*\(?/g;

const EXECUTES =
  /^(system|System\.cmd|os:cmd|popen|Popen|exec|spawn|check_|get(status)?output|subprocess|shell_exec|passthru|proc_open|os\.execute|io\.popen|Command|do shell script|shell-command|pty\.spawn|ProcessBuilder|callCommand|run-|Sys\.command|Process\.|shell|sh$|syscmd|esyscmd|Shell)/;
const REMOVES_TREES =
  /^(rmtree|remove_tree|remove_dir|remove_entry|rm_rf|rm_r|rmSync|rmdirSync|rimraf|removedirs|RemoveAll|fs\.|Deno\.remove|delete|rm$)/;
const REMOVES = /^(rm_f|unlink|rmdir|os\.remove|File\.delete)/;
const WRITES = /^(writeFile|File\.write|file_put_contents|truncate)/;
const MOVES = /^(shutil\.move|rename)/;
const LINKS = /^(symlink|ln_s|linkSync|os\.link|File\.link|link$)/;
const READS = /^(readFile|File\.read|file_get_contents)/;

function sameAs(name: string, strings: readonly string[]): readonly (readonly string[])[] {
  const [first = "", second = ""] = strings;
  const globbed = strings.map((text) => text.replaceAll("*", STAR));
  if (REMOVES_TREES.test(name)) return [["rm", "-rf", "--", ...globbed]];
  if (REMOVES.test(name)) return [["rm", "-f", "--", ...globbed]];
  if (WRITES.test(name)) return [["tee", "--", first]];
  if (name === "appendFileSync") return [["tee", "-a", "--", first]];
  if (MOVES.test(name) && second !== "") return [["mv", "--", first, second]];
  if (/^copy$/.test(name) && /^https?:/.test(first) && second !== "") return [["curl", "-o", second, first]];
  if (/^(copy|shutil\.copy)/.test(name) && second !== "") return [["cp", "-r", "--", first, second]];
  if (LINKS.test(name) && second !== "")
    return [["ln", ...(/^(symlink|ln_s)/.test(name) ? ["-s"] : []), "--", first, second]];
  if (name.startsWith("chmod")) return [["chmod", "777", first]];
  if (READS.test(name)) return [["cat", "--", first]];
  return name === "open" ? opened(first, second) : [];
}

/** Shell commands equivalent to `open(path, "w")` of most languages and to Perl's `open(F, ">path")`. */
function opened(first: string, second: string): readonly (readonly string[])[] {
  if (/^[rwaxbt+]{1,3}$/.test(second))
    return [
      /[wx+]/.test(second)
        ? ["tee", "--", first]
        : second.includes("a")
          ? ["tee", "-a", "--", first]
          : ["cat", "--", first],
    ];
  if (/^\+?>{1,2}$/.test(first)) return [["tee", "--", second]];
  if (first.startsWith(">")) return [["tee", "--", first.replace(/^>+\s*/, "")]];
  return second === "" ? [["cat", "--", first]] : [];
}

/** Replaces aliases with the names they stand for: `import os as s`, `const {execSync: e}`, `c = "…"`. */
function withOwnNames(code: string): string {
  let named = /from\s+subprocess\s+import/.test(code)
    ? code.replace(/(?<![\w.])(run|call)(?=\s*\()/g, "subprocess.$1")
    : code;
  for (const [, name = "", own = ""] of [...code.matchAll(RENAMES)].slice(0, POLICY_OWN_NAMES_MAX_COUNT)) {
    const at = name === "subprocess" ? /\.(?=(?:run|call)\b)/ : /\s*\(/;
    named = named.replace(new RegExp(`(?<![\\w.$])${own}(?=${at.source})`, "g"), name);
  }
  for (const [, own = "", text = ""] of [...code.matchAll(CONSTANTS)].slice(0, POLICY_OWN_NAMES_MAX_COUNT)) {
    const escaped = own.replace("$", "\\$");
    named = named.replace(new RegExp(`(?<=[(,[]\\s*)${escaped}(?=\\s*[),\\]])`, "g"), () => text);
  }
  return named;
}

const RENAMES =
  /\b(subprocess|system|popen|exec|execSync|execFileSync|spawn|spawnSync|rmtree|rmSync|run|call)\s*(?::|\bas\b)\s*([A-Za-z_]\w{0,40})/g;
const CONSTANTS = /(\$?\b[A-Za-z_]\w{0,40})\s*=\s*("[^"\n]{1,400}"|'[^'\n]{1,400}')/g;

/** The string literals at the start of a call's arguments. */
function literalsAt(
  source: string,
  start: number,
): { readonly strings: readonly string[]; readonly isList: boolean } {
  const strings: string[] = [];
  let isList = false;
  let at = start;
  while (strings.length < POLICY_LITERALS_MAX_COUNT) {
    const gap =
      /(?:[\s,[({]|args\s*:|(?:my\s+)?\$\w+\s*,|[A-Z][A-Z0-9_]*\s*,|0o?\d+\s*,|\b(?:glob|Path|pathlib\.Path|Dir\.glob|Dir|str)\b)*/y;
    gap.lastIndex = at;
    const between = gap.exec(source)?.[0] ?? "";
    if (between.includes("[")) isList = true;
    at += between.length;
    const literal = LITERAL.exec(source.slice(at, at + POLICY_LITERAL_MAX_CHARS));
    if (!literal) break;
    strings.push(decodeEscapes(literal[1] ?? literal[2] ?? literal[3] ?? ""));
    at += literal[0].length;
  }
  return { strings, isList };
}

const LITERAL = /^[rbfu]{0,2}(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`)/s;

function forksForEver(code: string): CodeScan["forks"] {
  if (
    /\b(spawn|fork|exec\w*)\s*\(\s*(process\.(execPath|argv)|sys\.(executable|argv)|__FILE__|\$0)/.test(code)
  )
    return "maybe";
  if (/\bwhile\b/.test(code) && /\b(system|os\.execute)\s*\(\s*["'][^"'\n]{0,200}&\s*["']/.test(code))
    return "maybe";
  if (!/\b(pcntl_)?fork\b/.test(code)) return null;
  if (/\b(while|until|loop|forever|itertools)\b|\biter\s*\(|for\s*\(\s*;\s*;/.test(code)) return "certain";
  return /\bfor\b/.test(code) ? "maybe" : null;
}

function opensShell(code: string): boolean {
  return (
    /socket|fsockopen|net['"]\)|net\.(connect|createConnection|Socket)|\/inet\/tcp/i.test(code) &&
    /connect|TCPSocket|fsockopen|IO::Socket|\/inet\/tcp/.test(code) &&
    /popen\s*\(\s*[$\w]+\s*[,)]|system\s*\(?\s*\$_|dup2|pty\.spawn|\/bin\/(ba|da|z)?sh|["'](ba|da|z)?sh["'\s]|cmd\.exe/.test(
      code,
    )
  );
}
