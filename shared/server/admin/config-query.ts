/** Selects parts of the configuration by path: the parameter `q` of `/config` (docs/dev/wire-format.md#configuration). */
import { BadRequestError } from '../../base/model/errors.ts';

const MAX_CONFIG_PATHS = 20;
const MAX_CONFIG_PATH_CHARACTERS = 512;

const PATH = /^[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*$/;

export type Tree = Readonly<Record<string, unknown>>;

/** Returns the same paths. Throws BadRequestError if a path is invalid or there are too many. */
export function checkConfigPaths(paths: readonly string[]): readonly string[] {
  if (paths.length > MAX_CONFIG_PATHS) {
    throw new BadRequestError(`too many q parameters: ${paths.length}, limit: ${MAX_CONFIG_PATHS}`);
  }
  for (const path of paths) {
    if (path.length > MAX_CONFIG_PATH_CHARACTERS) {
      throw new BadRequestError(`q parameter longer than ${MAX_CONFIG_PATH_CHARACTERS} characters`);
    }
    if (!PATH.test(path)) {
      throw new BadRequestError(
        `malformed q parameter ${JSON.stringify(path)}: use names of letters, digits and underscores, separated by dots`,
      );
    }
  }
  return paths;
}

/** Value at a path, with `known: false` if the tree has none. */
export function valueAt(tree: Tree, path: string): { readonly known: boolean; readonly value: unknown } {
  let value: unknown = tree;
  for (const name of path.split('.')) {
    if (!isTree(value) || !Object.hasOwn(value, name)) return { known: false, value: undefined };
    value = value[name];
  }
  return { known: true, value };
}

/** Returns a new tree with the values at the paths. Omits paths that the tree does not have. */
export function pickPaths(tree: Tree, paths: readonly string[]): Tree {
  const picked: Record<string, unknown> = {};
  // Sets longer paths first: after a shorter one they would cut down its complete value.
  for (const path of paths.toSorted((a, b) => b.length - a.length)) {
    const { known, value } = valueAt(tree, path);
    if (known) put(picked, path.split('.'), value);
  }
  return picked;
}

function put(into: Record<string, unknown>, names: readonly string[], value: unknown): void {
  let at = into;
  for (const name of names.slice(0, -1)) {
    if (!Object.hasOwn(at, name)) define(at, name, {});
    at = at[name] as Record<string, unknown>;
  }
  define(at, names[names.length - 1], value);
}

/** Defines any name as an ordinary property, even `__proto__`. */
function define(into: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
