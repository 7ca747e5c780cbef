/**
 * Contexts: named sets of connection options in a file of the user. One of them may be current. Command-line
 * options and environment variables override them.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CommandError } from './command-error.ts';

/** Option values by their names, such as `addr` and `tenant`. */
export type ContextValues = Readonly<Record<string, string | boolean>>;

interface Contexts {
  readonly version: 1;
  readonly current?: string;
  readonly contexts: Readonly<Record<string, ContextValues>>;
}

const NONE: Contexts = { version: 1, contexts: {} };
/** The file may hold passwords and tokens. */
const OWNER_ONLY = 0o600;

function contextsFile(): string {
  const { LOGBOOM_CONTEXTS_FILE: file, XDG_CONFIG_HOME: folder } = process.env;
  return file || join(folder || join(homedir(), '.config'), 'logboom', 'contexts.json');
}

/** Empty without a file. Throws CommandError if the file holds something else. */
export function readContexts(): Contexts {
  const file = contextsFile();
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return NONE;
    throw new CommandError(`cannot read the contexts in ${file} (${code}); check its permissions`);
  }
  try {
    const read = JSON.parse(text) as Contexts;
    if (read.version === 1 && typeof read.contexts === 'object' && read.contexts !== null) return read;
  } catch {
    // The error below names the file.
  }
  throw new CommandError(`${file} is not a contexts file; move it away, or set LOGBOOM_CONTEXTS_FILE`);
}

/** Replaces the file in one step. */
export function writeContexts(contexts: Contexts): void {
  const file = contextsFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: OWNER_ONLY });
  chmodSync(next, OWNER_ONLY);
  renameSync(next, file);
}

/** The values of a context, or of the current one; undefined if none is named. Throws CommandError for an unknown name. */
export function contextValues(name: string | undefined): ContextValues | undefined {
  const { current, contexts } = readContexts();
  const wanted = name || current;
  if (wanted === undefined) return undefined;
  if (Object.hasOwn(contexts, wanted)) return contexts[wanted];
  const known = Object.keys(contexts).sort().join(', ') || 'none';
  throw new CommandError(
    `context ${wanted} does not exist (known: ${known}); create it with: logboom context set ${wanted} --addr URL`,
  );
}
