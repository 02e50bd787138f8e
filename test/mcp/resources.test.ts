import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../fixtures/shells.ts";
import { type Connection, dataOf, ERAS, type Era, useMcp } from "./mcp-clients.ts";

const mcp = useMcp();

const START = "echo first; until [ -e go ]; do sleep 0.02; done; echo second";

async function start({ call }: Connection, command = START): Promise<{ id: string; uri: string }> {
  const id = String(dataOf(await call("Bash", { command, run_in_background: true }))["bash_id"]);
  return { id, uri: `shell://${id}/output` };
}

async function read({ client }: Connection, uri: string): Promise<unknown> {
  const [content] = (await client.readResource({ uri })).contents;
  return content && "text" in content ? content.text : undefined;
}

/** Subscribes to a resource and to the list. Returns the notifications so far, and a function that unsubscribes. */
async function listen({ client }: Connection, era: Era, uri: string) {
  const notifications: unknown[] = [];
  client.setNotificationHandler(
    "notifications/resources/updated",
    ({ params }) => void notifications.push(params.uri),
  );
  client.setNotificationHandler(
    "notifications/resources/list_changed",
    () => void notifications.push("list"),
  );
  if (era === "legacy") {
    await client.subscribeResource({ uri });
    return { notifications, stop: async () => void (await client.unsubscribeResource({ uri })) };
  }
  const subscription = await client.listen({ resourceSubscriptions: [uri], resourcesListChanged: true });
  return { notifications, stop: async () => await subscription.close() };
}

describe.each(ERAS)("a client of the %s era", (era) => {
  test("finds the output of every shell in the list of resources, and reading a resource moves no cursor", async () => {
    const connection = await mcp.inProcess({ era });
    const { client, call, dir } = connection;
    expect((await client.listResources()).resources).toEqual([]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: "shell://{id}/output" },
    ]);
    const { id, uri } = await start(connection);
    await eventually(async () => expect(await read(connection, uri)).toBe("first\n"));
    expect((await client.listResources()).resources).toMatchObject([
      {
        uri,
        name: id,
        title: START,
        mimeType: "text/plain",
        description: expect.stringContaining("running"),
      },
    ]);
    writeFileSync(join(dir, "go"), "");
    const output = await call("BashOutput", { bash_id: id, wait_for: "exit" });
    expect(dataOf(output)["output"]).toContain("first\nsecond\n");
    expect(await read(connection, uri)).toBe("first\nsecond\n");
  });

  test("gets nacre's message about a shell that does not exist", async () => {
    const { client } = await mcp.inProcess({ era });
    await expect(client.readResource({ uri: "shell://shell_00000000/output" })).rejects.toThrow(
      "Shell not found: shell_00000000",
    );
    await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow();
  });

  test("is notified of new output and of new shells while it is subscribed", async () => {
    const connection = await mcp.inProcess({ era });
    const { dir } = connection;
    const { uri } = await start(connection);
    const { notifications, stop } = await listen(connection, era, uri);
    writeFileSync(join(dir, "go"), "");
    await eventually(() => expect(notifications).toContain(uri));
    await start(connection, "true");
    await eventually(() => expect(notifications).toContain("list"));
    await stop();
    const before = notifications.length;
    await start(connection, "echo unheard");
    const again = await listen(connection, era, uri);
    await start(connection, "true");
    await eventually(() => expect(again.notifications).toContain("list"));
    expect(notifications).toHaveLength(before);
  });
});

test("a subscription to a shell that does not exist is refused", async () => {
  const connection = await mcp.inProcess({ era: "legacy" });
  const { client } = connection;
  for (const uri of ["shell://undefined/output", "shell://shell_00000000/output"])
    await expect(client.subscribeResource({ uri })).rejects.toThrow("Shell not found");
  for (const uri of ["file:///etc/passwd", "no uri"])
    await expect(client.subscribeResource({ uri })).rejects.toThrow();
  const { uri } = await start(connection);
  await client.subscribeResource({ uri });
  // A client may also unsubscribe from a shell that does not exist.
  await client.unsubscribeResource({ uri: "shell://shell_00000000/output" });
});

test("shells of another scope are neither listed nor readable", async () => {
  const stateRoot = mcp.directory();
  const owner = await mcp.inProcess({ stateRoot });
  const other = await mcp.inProcess({ stateRoot });
  const { uri } = await start(owner, "echo mine");
  await eventually(async () => expect(await read(owner, uri)).toBe("mine\n"));
  expect((await other.client.listResources()).resources).toEqual([]);
  await expect(other.client.readResource({ uri })).rejects.toThrow("Shell not found");
});

test("connections that share a scope see each other's shells", async () => {
  const stateRoot = mcp.directory();
  const owner = await mcp.inProcess({ stateRoot, scope: "team" });
  const other = await mcp.inProcess({ stateRoot, scope: "team" });
  const { uri } = await start(owner, "echo ours");
  await eventually(async () => expect(await read(other, uri)).toBe("ours\n"));
  expect((await other.client.listResources()).resources).toMatchObject([{ uri }]);
});
