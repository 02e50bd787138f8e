// The shells of one remote machine: when its rows count as current, and how many are hidden.
import { afterEach, expect, test } from "vitest";
import { RemoteShells } from "../../src/ui/remote-shells.ts";
import { eventually } from "../fixtures/eventually.ts";
import { useLeakProof } from "../fixtures/leak-proof.ts";
import { scriptedMachine } from "./scripted-machine.ts";

const directory = useLeakProof();
const watched: RemoteShells[] = [];

afterEach(() => {
  for (const shells of watched.splice(0)) shells.watch(false);
});

function machine(changes: readonly unknown[]): RemoteShells {
  const url = scriptedMachine(directory(), { changes });
  const shells = new RemoteShells("m1", { url, control: false });
  watched.push(shells);
  return shells;
}

const rows = (from: number, to: number, status = "running") =>
  Array.from({ length: to - from }, (_, at) => ({ id: idOf(from + at), status }));

const idOf = (number: number) => `shell_${number.toString(16).padStart(8, "0")}`;

test("the rows of an earlier connection do not count as current", async () => {
  const shells = machine([{ shells: rows(0, 1), gone: [] }]);
  shells.watch(true);
  await eventually(() => expect(shells.state.state).toBe("connected"));
  shells.watch(false);
  shells.watch(true);
  expect([shells.state, shells.rows()]).toMatchObject([
    { state: "connecting", cause: null },
    [{ id: idOf(0) }],
  ]);
  await eventually(() => expect(shells.state.state).toBe("connected"));
});

test("the number of hidden rows is correct after every kind of change", async () => {
  const shells = machine([
    { shells: rows(0, 1_100), gone: [] },
    // Thirty new rows, and ten that are already hidden.
    { shells: [...rows(1_100, 1_130), ...rows(1_000, 1_010, "completed")], gone: [] },
    { shells: [], gone: rows(1_050, 1_070).map(({ id }) => id) },
    // Two visible rows are removed, so that two hidden rows can become visible.
    { shells: [], gone: [idOf(0), idOf(1)] },
    { shells: rows(1_000, 1_002), gone: [] },
    { shells: [...rows(1, 2), ...rows(5, 6, "last")], gone: [] },
  ]);
  shells.watch(true);
  await eventually(() => expect(shells.rows()).toContainEqual(expect.objectContaining({ status: "last" })));
  expect([shells.rows().length, shells.state.hidden_count]).toEqual([1_000, 109]);
});
