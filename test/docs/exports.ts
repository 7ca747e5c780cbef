/** Exports that no other file imports. Import statements have one form in this project, so patterns find them. */
import { dirname, join } from 'node:path';

const IMPORT = /\b(?:import|export)\s+(?:type\s+)?([\w*\s{},$]+?)\s+from\s+'(\.[^']+)'/g;
/** Files that are loaded as a whole: their callers take any name. */
const WHOLE = /(?:\bimport\(\s*|\brequire\(\s*|new URL\(\s*|\bimport\s+)'(\.[^']+)'/g;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm;
const LIST = /^export (?:type )?\{([^}]*)\};/gm;

type Sources = readonly (readonly [path: string, text: string])[];

/** Names of a list such as `a, type b, c as d`, on the left or right side of `as`. */
function namesOf(list: string, side: 0 | -1): string[] {
  return list
    .split(',')
    .map(one => one.trim().replace(/^type /, ''))
    .filter(one => one !== '')
    .map(one => one.split(/\s+as\s+/).at(side)!);
}

/** Names that files import, by path; `*` stands for all of them. */
function importedNames(sources: Sources): ReadonlyMap<string, ReadonlySet<string>> {
  const imported = new Map<string, Set<string>>();
  const add = (from: string, path: string, names: readonly string[]): void => {
    const key = join(dirname(from), path);
    const known = imported.get(key) ?? new Set();
    for (const name of names) known.add(name);
    imported.set(key, known);
  };
  for (const [from, text] of sources) {
    for (const [, what, path] of text.matchAll(IMPORT)) {
      const list = /\{([^}]*)\}/.exec(what);
      if (what.includes('*')) add(from, path, ['*']);
      else if (list !== null) add(from, path, namesOf(list[1], 0));
    }
    for (const [, path] of text.matchAll(WHOLE)) add(from, path, ['*']);
  }
  return imported;
}

/** `path: name` of each export of the files that `isProduct` names, if no other file imports it. */
export function unusedExports(sources: Sources, isProduct: (path: string) => boolean): string[] {
  const imported = importedNames(sources);
  return sources.flatMap(([path, text]) => {
    const used = imported.get(path) ?? new Set();
    if (!isProduct(path) || used.has('*')) return [];
    const declared = [...text.matchAll(DECLARATION)].map(([, name]) => name);
    const listed = [...text.matchAll(LIST)].flatMap(([, list]) => namesOf(list, -1));
    return [...declared, ...listed].filter(name => !used.has(name)).map(name => `${path}: ${name}`);
  });
}
