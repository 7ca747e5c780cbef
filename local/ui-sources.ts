/**
 * Sources of the explorer page in a checkout: builds the page only if one of them changed. A build that finds
 * nothing to do takes 200 ms of CPU in a separate process; comparing sizes and times takes a few.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'ui';
const MANIFEST = 'dist/ui/manifest.json';
/** Files that a build reads in addition to the folder of sources and the modules in its manifest. */
const OTHERS = ['scripts/build-ui.mjs', 'scripts/merge-first-load.mjs', 'package-lock.json'];

/**
 * Path, size and modification time of each source. Synchronous, which takes 3 ms for 300 files: as tasks of the
 * thread pool they take three times as long, and the page waits for them.
 */
export function pageSources(root: string): string {
  const entries = readdirSync(join(root, FOLDER), { recursive: true, withFileTypes: true });
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  const modules = modulesOfStore(root);
  files.push(...[...OTHERS, ...(modules ?? [])].map(path => join(root, path)));
  const lines = files.map(path => {
    const found = statSync(path, { throwIfNoEntry: false });
    return `${path} ${found?.size} ${found?.mtimeMs}`;
  });
  return [`built: ${modules !== undefined}`, ...lines.sort()].join('\n');
}

/** Modules of the store that the page contains; undefined if there is no page. */
function modulesOfStore(root: string): readonly string[] | undefined {
  try {
    return (JSON.parse(readFileSync(join(root, MANIFEST), 'utf8')) as { inputs: string[] }).inputs;
  } catch {
    return undefined;
  }
}

/** Calls `build` if `sources` differ from those before its last success. */
export function buildIfChanged(sources: () => string, build: () => Promise<void>): () => Promise<void> {
  let built: string | undefined;
  return async () => {
    const now = sources();
    if (now === built) return;
    await build();
    // Taken before the build: a source that changes meanwhile is built next time.
    built = now;
  };
}
