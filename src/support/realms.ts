// Tells what a value is without `instanceof`, which compares with the classes of one realm only. A test runner such as
// Jest runs each file in a realm of its own (node:vm): errors of node:fs come from outside it, a caller's RegExp or
// promise from inside. The same happens to our own classes when a process loads two copies of this package.
// Nothing here throws, whatever it is given. Uses nothing of Node: policy/ imports this.

/** Every error of every realm, a DOMException included. */
export function isError(value: unknown): value is Error {
  return kindOf(value) === "[object Error]" || (hasString(value, "name") && hasString(value, "message"));
}

export function isErrorNamed(value: unknown, name: string): value is Error {
  return isError(value) && propertyOf(value, "name") === name;
}

export function isRegExp(value: unknown): value is RegExp {
  return kindOf(value) === "[object RegExp]";
}

/** Whatever `await` waits for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof propertyOf(value, "then") === "function";
}

/**
 * Makes `instanceof` true for the instances of this class of every copy of the package. They bear a symbol of the
 * registry that all realms share. Subclasses inherit the symbol and the check: for them the prototype decides, as always.
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

// The built-in kind of an object is known in every realm, unless the object names another kind itself.
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

/** Undefined where there is none, and where reading it throws: a getter or a proxy may. */
function propertyOf(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}
