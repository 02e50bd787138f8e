// A helper process of nacre inside the sandbox of a workspace. It answers requests while its host lives. A sandboxed
// command can take control of the helper, so the caller must not trust anything that the helper sends.
//
//   host   --stdin-->   worker    requests
//   host   <--fd 9---   worker    answers, through the report pipe of its shim
import { Socket } from "node:net";
import { PassThrough } from "node:stream";
import type { Engine } from "../engine/engine.ts";
import { ownMeta } from "../engine/meta.ts";
import { openPipe, REPORT_FD } from "../engine/process-pipe.ts";
import { NacreError } from "../support/errors.ts";
import type { Confiner } from "./confiner.ts";

export interface WorkerPlan {
  readonly workspace: string;
  readonly scope: string;
  /** The text of a CommonJS program. Its first line names the worker in a list of shells. */
  readonly program: string;
  readonly capBytes: number;
  readonly onAnswer: (bytes: Buffer) => void;
  /** Called once, when the worker has ended. */
  readonly onEnd: () => void;
}

export class ConfinedWorker {
  readonly #input: PassThrough;
  readonly #answers: Socket;

  private constructor(input: PassThrough, answers: Socket) {
    this.#input = input;
    this.#answers = answers;
  }

  static async start(
    { engine, confiner }: { readonly engine: Engine; readonly confiner: Confiner },
    plan: WorkerPlan,
  ): Promise<ConfinedWorker> {
    const { workspace, scope, capBytes, onAnswer, onEnd } = plan;
    const confined = await confiner.forWorker(workspace);
    const input = new PassThrough();
    let answers: Socket | undefined;
    const started = await engine.start({
      command: plan.program,
      workingDir: workspace,
      // Node would read options from NODE_OPTIONS.
      variables: { NODE_OPTIONS: "" },
      stdin: input,
      capBytes,
      streams: "split",
      startScript: confined.startScript,
      meta: (id) => ({
        ...ownMeta({ id, role: "worker", workingDir: workspace, scope, session: null, capBytes }),
        ...confined.meta(),
      }),
      onExit: () => {
        answers?.destroy();
        onEnd();
      },
    });
    const fd = openPipe({ pid: started.shimPid, startTime: started.shimStart }, REPORT_FD, "both");
    if (fd === undefined) {
      input.end();
      throw new NacreError(
        "spawn_failed",
        "The file worker was killed before it could begin. Stop the program that kills it, then try again.",
      );
    }
    answers = new Socket({ fd, readable: true, writable: false });
    answers.on("data", onAnswer);
    answers.on("error", () => {});
    // Only a call that waits for an answer may keep this process alive.
    answers.unref();
    return new ConfinedWorker(input, answers);
  }

  send(bytes: Buffer): void {
    this.#input.write(bytes);
  }

  /** The worker reads end-of-file and ends. */
  end(): void {
    this.#input.end();
    this.#answers.destroy();
  }
}
