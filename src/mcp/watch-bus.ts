// Publishes changes of a scope's shells to the SDK, which manages the HTTP subscriptions of the newer protocol era.
import { InMemoryServerEventBus, type ServerEvent, type ServerEventBus } from "@modelcontextprotocol/server";
import { uriOf } from "./shell-resources.ts";
import type { ShellWatch } from "./shell-watch.ts";

export class WatchBus implements ServerEventBus {
  readonly #bus = new InMemoryServerEventBus();
  readonly #watch: ShellWatch;

  constructor(watch: ShellWatch) {
    this.#watch = watch;
  }

  publish(event: ServerEvent): void {
    this.#bus.publish(event);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const unsubscribe = this.#bus.subscribe(listener);
    const stop = this.#watch.add({
      onList: () => listener({ kind: "resources_list_changed" }),
      onChange: (id) => listener({ kind: "resource_updated", uri: uriOf(id) }),
    });
    return () => {
      stop();
      unsubscribe();
    };
  }
}
