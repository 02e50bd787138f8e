// A copy of plain data that cannot be changed: objects and arrays are copied and frozen all the way down,
// anything else (dates, functions, class instances) is kept as it is.

export function frozenCopy<T>(value: T): T {
  return copy(value, new Set()) as T;
}

function copy(value: unknown, ancestors: ReadonlySet<unknown>): unknown {
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  // Results travel as JSON, which has no way to say a cycle: better an error here than at the wire.
  if (ancestors.has(value)) throw new TypeError("The data of a result must not contain a cycle");
  const inside = new Set(ancestors).add(value);
  if (Array.isArray(value)) return Object.freeze(value.map((item) => copy(item, inside)));
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([k, v]) => [k, copy(v, inside)])));
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
