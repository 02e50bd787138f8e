import { describe, expect, test } from "vitest";
import { buildEnvironment } from "../../src/environment/environment.ts";
import { NacreError } from "../../src/support/errors.ts";

const inherited = {
  PATH: "/usr/bin",
  HOME: "/home/dev",
  LANG: "en_US.UTF-8",
  EDITOR_THEME: "dark",
  GITHUB_TOKEN: "not-a-real-token",
  AWS_SECRET_ACCESS_KEY: "not-a-real-key",
  LD_PRELOAD: "/tmp/x.so",
  BASH_ENV: "/tmp/x.sh",
  "BASH_FUNC_ls%%": "() { echo x; }",
  GONE: undefined,
};

const DEFAULTS = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  TERM: "dumb",
  DEBIAN_FRONTEND: "noninteractive",
};

const thrownBy = (run: () => unknown): unknown => {
  try {
    run();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};

describe("the mode", () => {
  test("safe keeps ordinary variables, and reports each dropped variable with the reason", () => {
    const { env, dropped } = buildEnvironment({ inherited });
    expect(env).toEqual({
      PATH: "/usr/bin",
      HOME: "/home/dev",
      LANG: "en_US.UTF-8",
      EDITOR_THEME: "dark",
      ...DEFAULTS,
    });
    expect(dropped).toEqual([
      { name: "AWS_SECRET_ACCESS_KEY", reason: "secret" },
      { name: "BASH_ENV", reason: "injection" },
      { name: "BASH_FUNC_ls%%", reason: "injection" },
      { name: "GITHUB_TOKEN", reason: "secret" },
      { name: "LD_PRELOAD", reason: "injection" },
    ]);
  });

  test("all keeps secrets and loader variables, but drops variables that change bash itself", () => {
    const { env, dropped } = buildEnvironment({ inherited, mode: "all" });
    expect(env).toMatchObject({ GITHUB_TOKEN: "not-a-real-token", LD_PRELOAD: "/tmp/x.so" });
    expect(dropped.map(({ name }) => name)).toEqual(["BASH_ENV", "BASH_FUNC_ls%%"]);
  });

  test("core keeps the variables that every program expects", () => {
    const { env, dropped } = buildEnvironment({ inherited, mode: "core" });
    expect(env).toEqual({ PATH: "/usr/bin", HOME: "/home/dev", LANG: "en_US.UTF-8", ...DEFAULTS });
    expect(dropped).toContainEqual({ name: "EDITOR_THEME", reason: "mode" });
    expect(dropped).toContainEqual({ name: "GITHUB_TOKEN", reason: "secret" });
  });

  test("none keeps only PATH", () => {
    const { env } = buildEnvironment({ inherited, mode: "none", set: { A: "1" } });
    expect(env).toEqual({ PATH: "/usr/bin", LANG: "C.UTF-8", A: "1", ...DEFAULTS });
  });
});

describe("to prevent code injection", () => {
  test.each(
    `BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH GLOBIGNORE IFS POSIXLY_CORRECT BASH_XTRACEFD
    BASH_LOADABLES_PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH GIT_CONFIG_COUNT
    GIT_CONFIG_KEY_0 GIT_CONFIG_GLOBAL GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_SEQUENCE_EDITOR GIT_ASKPASS
    GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIR GIT_WORK_TREE GIT_PROXY_COMMAND NODE_OPTIONS PYTHONSTARTUP PYTHONPATH
    PYTHONHOME PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS LUA_INIT MANPAGER LESSOPEN LESSCLOSE
    EDITOR VISUAL BROWSER RIPGREP_CONFIG_PATH GREP_OPTIONS TAR_OPTIONS MAKEFLAGS RSYNC_RSH SSH_ASKPASS`.match(
      /\S+/g,
    ) ?? [],
  )("%s is not inherited", (name) => {
    const { env, dropped } = buildEnvironment({ inherited: { [name]: "/tmp/evil" } });
    expect(env).not.toHaveProperty(name);
    expect(dropped).toEqual([{ name, reason: "injection" }]);
  });

  test("a caller can set a variable that is not inherited", () => {
    const { env, dropped } = buildEnvironment({
      inherited: { NODE_OPTIONS: "--require /tmp/evil" },
      set: { NODE_OPTIONS: "--max-old-space-size=4096" },
    });
    expect(env).toMatchObject({ NODE_OPTIONS: "--max-old-space-size=4096" });
    expect(dropped).toEqual([]);
  });
});

describe("the option", () => {
  test("include keeps the variables that its names and globs match, in every mode", () => {
    const { env, dropped } = buildEnvironment({
      inherited,
      mode: "core",
      include: ["AWS_*", "LD_PRELOAD", "BASH_EN?"],
    });
    expect(env).toMatchObject({
      AWS_SECRET_ACCESS_KEY: "not-a-real-key",
      LD_PRELOAD: "/tmp/x.so",
      BASH_ENV: "/tmp/x.sh",
    });
    expect(dropped.map(({ name }) => name)).toEqual(["BASH_FUNC_ls%%", "EDITOR_THEME", "GITHUB_TOKEN"]);
  });

  test("include overrides the defaults if the host has the variable", () => {
    const options = { include: ["TERM", "PAGER"] };
    expect(buildEnvironment({ inherited: { TERM: "xterm" }, ...options }).env).toMatchObject({
      TERM: "xterm",
      PAGER: "cat",
    });
  });

  test("exclude overrides include and the defaults", () => {
    const { env, dropped } = buildEnvironment({ inherited, include: ["HOME"], exclude: ["HO*", "TERM"] });
    expect(env).not.toHaveProperty("HOME");
    expect(env).not.toHaveProperty("TERM");
    expect(dropped).toContainEqual({ name: "HOME", reason: "excluded" });
  });

  test("include and exclude read a pattern as a glob, not as a regular expression", () => {
    const { env } = buildEnvironment({ inherited: { AXB: "1", A_B: "1" }, exclude: ["A.B", "A[_]B"] });
    expect(env).toMatchObject({ AXB: "1", A_B: "1" });
  });

  test("set overrides everything else", () => {
    const { env } = buildEnvironment({
      inherited,
      exclude: ["*"],
      set: { PAGER: "less", GITHUB_TOKEN: "given on purpose", EMPTY: "" },
    });
    expect(env).toEqual({ PAGER: "less", GITHUB_TOKEN: "given on purpose", EMPTY: "" });
  });

  test.each(["", "1A", "A-B", "A=B", "A\nB", "A\0", "BASH_FUNC_x%%", "é"])(
    "the name %j cannot be set",
    (name) => {
      const thrown = thrownBy(() => buildEnvironment({ inherited: {}, set: { [name]: "x" } }));
      expect(thrown).toBeInstanceOf(NacreError);
      expect(thrown).toMatchObject({
        code: "invalid_input",
        message: expect.stringContaining(JSON.stringify(name)),
      });
    },
  );

  test("a value with NUL is refused with the variable and the offset", () => {
    expect(thrownBy(() => buildEnvironment({ inherited: {}, set: { GREETING: "hi\0" } }))).toMatchObject({
      code: "invalid_input",
      message: 'Environment variable "GREETING" has a NUL character at offset 2: no process can receive it.',
    });
  });

  test("a value that is not a string is refused", () => {
    const set: Record<string, string> = JSON.parse('{"PORT": 8080}');
    expect(thrownBy(() => buildEnvironment({ inherited: {}, set }))).toMatchObject({
      message: 'Environment variable "PORT" must be a string, got number.',
    });
  });
});

describe("names and values that bash cannot represent", () => {
  test("are dropped in every mode, even if `include` names them", () => {
    const odd = { "my.var": "1", "A=B": "1", "A\nB": "1", "": "1", NUL: "a\0b", "ProgramFiles(x86)": "C:" };
    const { env, dropped } = buildEnvironment({ inherited: odd, mode: "all", include: ["*"] });
    expect(Object.keys(env).sort()).toEqual([...Object.keys(DEFAULTS), "LANG"].sort());
    expect(dropped.map(({ reason }) => reason)).toEqual(Object.keys(odd).map(() => "unusable"));
  });

  test("__proto__ is a name like any other", () => {
    const { env } = buildEnvironment({ inherited: JSON.parse('{"__proto__": "x"}') });
    expect(Object.entries(env)).toContainEqual(["__proto__", "x"]);
  });
});

describe("locale", () => {
  test.each([
    [{ LANG: "de_DE.UTF-8" }, "de_DE.UTF-8"],
    [{ LANG: "C.utf8" }, "C.utf8"],
    [{ LC_ALL: "C.UTF-8" }, undefined],
    [{ LC_CTYPE: "en_US.UTF-8", LANG: "C" }, "C"],
    [{}, "C.UTF-8"],
    [{ LANG: "C" }, "C.UTF-8"],
    [{ LANG: "POSIX", LC_ALL: "" }, "C.UTF-8"],
  ])("%j gives LANG=%s", (locale: Record<string, string>, expected) => {
    const { LANG, LC_ALL } = buildEnvironment({ inherited: locale }).env;
    expect(LANG).toBe(expected);
    expect(LC_ALL).toBe({ LC_ALL: undefined, ...locale }.LC_ALL);
  });

  test("a locale that the caller sets is not changed", () => {
    expect(buildEnvironment({ inherited: {}, set: { LANG: "C" } }).env).toMatchObject({ LANG: "C" });
  });
});

describe("values for redaction", () => {
  test("are the values of all dropped secrets, and of no other variables", () => {
    const { droppedValues } = buildEnvironment({
      inherited: {
        GITHUB_TOKEN: "not-a-real-token",
        EXCLUDED_TOKEN: " padded-value\n",
        LD_LIBRARY_PATH: "/usr/local/lib",
        MY_HOME_PAGE: "https://example.com",
        "spring.datasource.password": "also-not-real",
      },
      exclude: ["EXCLUDED_*", "MY_*"],
    });
    expect(droppedValues).toEqual([
      { name: "EXCLUDED_TOKEN", value: "padded-value" },
      { name: "GITHUB_TOKEN", value: "not-a-real-token" },
      { name: "spring.datasource.password", value: "also-not-real" },
    ]);
  });

  test("do not include short values and common words", () => {
    const { droppedValues } = buildEnvironment({
      inherited: { POSTGRES_PASSWORD: "postgres", DB_PASSWORD: "short", A_SECRET: "Password" },
    });
    expect(droppedValues).toEqual([]);
  });

  test("include the password of a connection URL as a separate value", () => {
    const url = "postgres://app:hunter2hunter2@db/x";
    expect(buildEnvironment({ inherited: { DATABASE_URL: url } }).droppedValues).toEqual([
      { name: "DATABASE_URL", value: url },
      { name: "DATABASE_URL", value: "hunter2hunter2" },
    ]);
  });
});
