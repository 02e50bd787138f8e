// Listens on a port of the loopback interface. The error for a port in use names the process that listens there.
import type { Server } from "node:http";
import { findHolder, ownListeners } from "../engine/sockets.ts";
import { messageOf, NacreError } from "../support/errors.ts";
import { systemCode } from "../support/system-error.ts";
import type { HttpAddress } from "./http-address.ts";

/** Returns the port. */
export async function listenOnLoopback(http: Server, { host, port }: HttpAddress): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      http.once("error", reject);
      http.listen(port, host, () => {
        http.removeListener("error", reject);
        resolve();
      });
    });
  } catch (error) {
    throw await explain(error, port);
  }
  const address = http.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function explain(cause: unknown, port: number): Promise<NacreError> {
  const fail = (message: string) => new NacreError("spawn_failed", message, { cause });
  switch (systemCode(cause)) {
    case "EADDRINUSE":
      return fail(
        `Port ${port} is in use${await holderOf(port)}. End the program that listens there, or use another port (0 for any free one).`,
      );
    case "EACCES":
      return fail(`Port ${port} requires privileges. Use a port from 1024 up.`);
    default:
      return fail(`The server cannot listen on port ${port}: ${messageOf(cause)}`);
  }
}

async function holderOf(port: number): Promise<string> {
  const rows = ownListeners(port);
  const holder = rows.length === 0 ? undefined : await findHolder(rows);
  if (holder) return ` by PID ${holder.pid} (${holder.command})`;
  const [first] = rows;
  return first ? ` by a process of the user with ID ${first.uid}` : "";
}
