// The options of fleets and of their engines, in the form of option-schemas.ts. Their types are in remote/fleet, which
// this folder must not import; test/remote/fleet.test.ts compares the two.
import { z } from "zod";
import { count, kind, listOf, object, text } from "./option-kinds.ts";

const engine = kind(
  "an engine, such as docker({ image })",
  (value) =>
    object.safeParse(value).success &&
    ["lease", "list", "release"].every(
      (name) => typeof (value as Record<string, unknown>)[name] === "function",
    ),
);

const programArguments = listOf(z.string(), "strings");

export const CREATE_FLEET = { engine, deadlineSeconds: count(1) };

export const DOCKER = { image: text, args: programArguments };

export const KUBERNETES = {
  namespace: text,
  image: text,
  podTemplate: object,
};

export const SLURM = { partition: text, args: programArguments };
