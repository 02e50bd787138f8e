// Starts a server, waits until it listens, uses it, and ends it, without polling or sleeping.
import { createToolkit } from "nacre";

const kit = await createToolkit({ workingDir: process.cwd() });
try {
  const session = kit.session("dev");
  await session.run("export GREETING='it works'");
  // The server inherits the session's directory, variables and functions.
  const server = await session.start(`node -e '
    const server = require("node:http").createServer((_, response) => response.end(process.env.GREETING));
    server.listen(0, "127.0.0.1", () => console.log("listening on " + server.address().port));
  '`);
  // Resolves as soon as the line appears; throws if the server ends first or the timeout passes.
  const { line } = await server.waitFor({ pattern: /listening on \d+/, timeoutMs: 10_000 });
  const response = await fetch(`http://127.0.0.1:${line.match(/\d+/)[0]}`);
  console.log(`The server says: ${await response.text()}`);
  const { signalled, survivors } = await server.kill();
  console.log(`Ended ${signalled.length} process(es); still there: ${survivors.length}`);
} finally {
  await kit.dispose();
}
