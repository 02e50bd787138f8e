// The server of the page: requests that it refuses, secrets that it never reveals, and the content of its answers.
import { readFileSync, statSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { eventually } from "../fixtures/eventually.ts";
import { type UiProgram, useUi } from "./ui-program.ts";

const create = useUi();

/** Sends a request with arbitrary headers, which fetch does not allow. */
function raw({ port }: UiProgram, path: string, headers: Record<string, string>, method = "GET") {
  return new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      response.resume();
      resolve(response);
    })
      .on("error", reject)
      .end();
  });
}

const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

describe("the address", () => {
  test("is printed with a private file that redirects to it", async () => {
    const { ui } = create();
    const page = await ui();
    expect(page.url).toBe(`http://127.0.0.1:${page.port}/`);
    expect(page.token).toMatch(/^[\w-]{32,}$/);
    expect(page.redirectFile).toMatch(/\.html$/);
    expect(statSync(page.redirectFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(page.redirectFile, "utf8")).toContain(`${page.url}#token=${page.token}`);
  });

  test("keeps its token after a restart on the same port", async () => {
    const { ui } = create();
    const first = await ui();
    await first.stop();
    const second = await ui("--port", String(first.port));
    expect(second.token).toBe(first.token);
    const other = await ui();
    expect(other.token).not.toBe(first.token);
  });

  test("is refused if its port is in use, and the error names the process that uses the port", async () => {
    const { nacre } = create();
    const server = createServer().listen(0, "127.0.0.1");
    await eventually(() => expect(server.listening).toBe(true));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const answer = JSON.parse(nacre("ui", "--json", "--no-open", "--port", String(port)));
    server.close();
    expect(answer.error).toContain(`Port ${port} is in use by PID ${process.pid} (`);
  });
});

describe("a request", () => {
  test("under /api/ needs the token; static files do not", async () => {
    const page = await create().ui();
    for (const path of ["/", "/page.js", "/page.css", "/icon.svg"])
      expect([path, (await raw(page, path, { Host: `127.0.0.1:${page.port}` })).statusCode]).toEqual([
        path,
        200,
      ]);
    for (const path of ["/api/shells", "/api/events", "/api/approvals", "/api/nothing"]) {
      expect((await raw(page, path, {})).statusCode).toBe(401);
      expect((await raw(page, path, { Authorization: "Bearer wrong" })).statusCode).toBe(401);
      expect((await raw(page, `${path}?token=${page.token}`, {})).statusCode).toBe(401);
    }
    expect((await page.api("/api/shells")).status).toBe(200);
    expect((await page.api("/api/nothing")).status).toBe(404);
    expect((await page.api("/../../etc/passwd")).status).toBe(404);
  });

  test.each([
    ["another Host", { Host: "evil.test" }],
    ["a rebound Host", { Host: "127.0.0.1.evil.test:80" }],
    ["another Origin", { Origin: "http://evil.test" }],
    ["the Origin null", { Origin: "null" }],
  ])("with %s is refused, with and without the token", async (_, headers) => {
    const page = await create().ui();
    const token = { Authorization: `Bearer ${page.token}` };
    for (const path of ["/", "/api/shells"]) {
      expect((await raw(page, path, headers)).statusCode).toBe(403);
      expect((await raw(page, path, { ...token, ...headers })).statusCode).toBe(403);
    }
  });

  test("that changes state is refused by a read-only server", async () => {
    const { ui, start, request, nacre } = create();
    const page = await ui();
    const shell = start("sleep 1000");
    const approval = request();
    for (const path of [`shells/${shell}/kill`, `approvals/${approval}`, "remembered/rem_00000000/forget"]) {
      const response = await page.api(`/api/${path}`, post({ answer: "approve" }));
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ error: expect.stringContaining("nacre ui --control") });
    }
    expect(JSON.parse(nacre("approvals", "--json"))).toMatchObject([{ id: approval, status: "open" }]);
    expect(JSON.parse(nacre("ps", "--json")).shells).toMatchObject([{ id: shell, status: "running" }]);
  });

  test("with a content type that a form can send is refused", async () => {
    const { ui, request } = create();
    const page = await ui("--control");
    const body = JSON.stringify({ answer: "approve" });
    const headers = { "Content-Type": "text/plain" };
    const response = await page.api(`/api/approvals/${request()}`, { method: "POST", headers, body });
    expect(response.status).toBe(400);
  });
});

test("every answer has a strict content security policy", async () => {
  const page = await create().ui();
  for (const path of ["/", "/page.js", "/api/shells", "/missing"]) {
    const { headers } = await page.api(path);
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(headers.get("content-security-policy")).not.toMatch(/unsafe|https?:|\*/);
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

test("the token appears in no argument list, environment or log", async () => {
  const page = await create().ui();
  await raw(page, "/api/shells", {});
  for (const file of ["cmdline", "environ"])
    expect(readFileSync(`/proc/${page.pid}/${file}`, "latin1")).not.toContain(page.token);
  expect(page.printed().split(page.token)).toHaveLength(2);
});

describe("the server with --control", () => {
  test("approves a request, and refuses a second answer with an error that names the first", async () => {
    const { ui, request, nacre } = create();
    const page = await ui("--control");
    const id = request();
    const approved = await page.api(`/api/approvals/${id}`, post({ answer: "approve" }));
    expect(await approved.json()).toMatchObject({ id, status: "approved", answer: { by: "the page" } });
    const late = await page.api(`/api/approvals/${id}`, post({ answer: "deny" }));
    expect(late.status).toBe(409);
    expect(await late.json()).toMatchObject({
      error: expect.stringContaining("was approved by the page at"),
    });
    const unknown = await page.api("/api/approvals/ask_00000000", post({ answer: "deny" }));
    expect(await unknown.json()).toMatchObject({ error: expect.stringContaining("There is no approval") });
    expect(JSON.parse(nacre("run", "--json", "git clean -fdx"))).not.toHaveProperty("approval_id");
  });

  test("kills a shell, and returns the ended processes and an empty list of survivors", async () => {
    const { ui, start } = create();
    const page = await ui("--control");
    const id = start("sleep 1000 & sleep 1000");
    const response = await page.api(`/api/shells/${id}/kill`, post({}));
    const killed = (await response.json()) as { signalled: unknown[] };
    expect(killed).toMatchObject({ id, status: "killed", survivors: [] });
    expect(killed.signalled.length).toBeGreaterThanOrEqual(2);
  });
});

test("a row contains the name, directory, status and last line of a shell", async () => {
  const { ui, start, dir } = create();
  const page = await ui();
  const id = start("echo first; echo last; exec sleep 1000", "--name", "dev");
  await eventually(async () => {
    const { shells } = (await (await page.api("/api/shells")).json()) as { shells: unknown[] };
    expect(shells).toMatchObject([
      { id, name: "dev", cwd: dir, status: "running", attention: "running", last_line: "last", ended: null },
    ]);
  });
});

test("the event stream sends changes, and redacts secrets", async () => {
  const { ui, start } = create();
  const page = await ui();
  const ending = new AbortController();
  const response = await page.api("/api/events", { signal: ending.signal });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const id = start("echo ghp_$(printf 0123456789abcdefghijklmnopqrstuvwxyz); exec sleep 1000");
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(id) && text.includes("redacted")) break;
  }
  ending.abort();
  expect(text).not.toContain("ghp_0123");
});
