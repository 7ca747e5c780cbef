/**
 * Parts of the program outside of a function's bundle: a push needs no query engine, and a query no receivers. Each part
 * is a file next to the bundle, which is read and compiled on first use. The importing code does not change.
 * Modules that bundle and parts share are separate files, so that each module exists once in a process.
 *
 * Pitfall: importers of these modules may only call what they export, or create objects of it with `new`. They
 * get a function for each name, whatever the module has there (test/lib/parts-apart.test.ts).
 */
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin, PluginBuild } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HTTP = 'shared/server/http';
const handlers = (...names: readonly string[]) => names.map(name => `${HTTP}/handlers/${name}.ts`);

/** Modules of each part that the bundle imports. The part has everything that only they need. */
export const PARTS_APART: Readonly<Record<string, readonly string[]>> = {
  read: [`${HTTP}/assemble-read.ts`, 'shared/read/query/tasks/inline-invoker.ts', ...handlers('query')],
  template: ['shared/execution/pipeline/template/template.ts'],
  insight: [
    ...handlers('legacy-query', 'export', 'streams', 'detected-fields', 'detected-labels'),
    ...handlers('drilldown-limits', 'index-stats', 'volume', 'patterns'),
  ],
  write: [`${HTTP}/assemble-push.ts`, ...handlers('push', 'otlp', 'elastic', 'firehose', 'json-lines')],
  upkeep: [
    `${HTTP}/assemble-maintenance.ts`,
    `${HTTP}/assemble-rules.ts`,
    ...handlers('deletes', 'maintenance', 'maintenance-status', 'rules', 'rule-status'),
    'shared/upkeep/deletion/delete-service.ts',
    'shared/upkeep/maintenance/reclaim-job.ts',
  ],
  status: [`${HTTP}/api-docs/openapi.ts`, `${HTTP}/ring-page.ts`, ...handlers('config', 'tail')],
  'day-index': ['shared/storage/index/day-indexes.ts'],
};

const PART_OF = new Map(
  Object.entries(PARTS_APART).flatMap(([part, modules]) =>
    modules.map((module, number) => [module, { part, number }] as const),
  ),
);
const PART = 'part';
const APART = 'module-apart';
const PREFIX = `${PART}:`;

/** Entry points of the parts, for the same build as a function. */
export function partEntries(): { in: string; out: string }[] {
  return Object.keys(PARTS_APART).map(part => ({ in: PREFIX + part, out: nameOfPart(part) }));
}

function nameOfPart(part: string): string {
  return `part-${part}`;
}

/** Replaces imports of the modules with functions that load their part when they are called. */
export const PARTS_APART_PLUGIN: Plugin = {
  name: 'parts-apart',
  setup(build: PluginBuild) {
    build.onResolve({ filter: new RegExp(`^${PREFIX}`) }, ({ path }) => ({
      path: path.slice(PREFIX.length),
      namespace: PART,
    }));
    build.onLoad({ filter: /.*/, namespace: PART }, ({ path: part }) => ({
      contents: PARTS_APART[part]
        .map((module, number) => `export * as ${exportOf(number)} from './${module}';`)
        .join('\n'),
      resolveDir: ROOT,
      loader: 'ts',
    }));
    build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, namespace, resolveDir }) => {
      if (namespace === PART) return undefined;
      const module = relative(ROOT, resolve(resolveDir, path));
      return PART_OF.has(module) ? { path: module, namespace: APART } : undefined;
    });
    build.onResolve({ filter: /^\.\//, namespace: APART }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /.*/, namespace: APART }, ({ path }) => ({ contents: loaderOf(path) }));
  },
};

function exportOf(number: number): string {
  return `module${number}`;
}

/**
 * Module with a function for every name. esbuild gives importers an object with the prototype of the module,
 * so the prototype answers for every name.
 */
function loaderOf(module: string): string {
  const { part, number } = PART_OF.get(module)!;
  return `
    const load = () => require('./${nameOfPart(part)}.js').${exportOf(number)};
    const functionOf = name => new Proxy(function () {}, {
      apply: (_, self, given) => Reflect.apply(load()[name], self, given),
      construct: (_, given) => new (load()[name])(...given),
    });
    const values = { get: (_, name) => functionOf(name) };
    module.exports = { __proto__: new Proxy({}, values), __esModule: true };`;
}
