// Type checks that work across realms. `instanceof` recognizes only the classes of one realm. A test runner such as Jest
// runs each file in its own realm (node:vm). In such a realm, errors of node:fs come from outside the realm, and a
// caller's RegExp or promise comes from inside it. nacre's own classes have the same problem if a process loads two
// copies of the package. No function here throws. This file imports no Node module, because policy/ uses it.

/**
 * The key of the method that `using` calls. A realm of node:vm has no Symbol.dispose, and compiled `using` then uses
 * this key.
 */
export const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

/** Errors of every realm, including DOMException. */
export function isError(value: unknown): value is Error {
  return kindOf(value) === "[object Error]" || (hasString(value, "name") && hasString(value, "message"));
}

export function isErrorNamed(value: unknown, name: string): value is Error {
  return isError(value) && propertyOf(value, "name") === name;
}

export function isRegExp(value: unknown): value is RegExp {
  return kindOf(value) === "[object RegExp]";
}

/** Everything that `await` waits for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof propertyOf(value, "then") === "function";
}

/**
 * Makes `instanceof` accept the instances of every copy of this class. Each instance has a symbol from the registry
 * that all realms share. A subclass inherits the symbol and the check. For `instanceof` with the subclass itself, the
 * check uses the prototype chain, as usual.
 */
export function recognizeCopies(owner: { readonly prototype: object }, name: string): void {
  const brand = Symbol.for(name);
  Object.defineProperty(owner.prototype, brand, { value: true });
  Object.defineProperty(owner, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this === owner) return propertyOf(value, brand) === true;
      return Function.prototype[Symbol.hasInstance].call(this as () => void, value);
    },
  });
}

// Object.prototype.toString works in every realm, unless the object overrides its tag.
function kindOf(value: unknown): string | undefined {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return undefined;
  }
}

function hasString(value: unknown, key: string): boolean {
  return typeof propertyOf(value, key) === "string";
}

/** undefined if the property is missing or cannot be read: a getter or a proxy can throw. */
function propertyOf(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
