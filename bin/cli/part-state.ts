/**
 * State file that records the finished parts of a migration or export: one JSON line with the scope, then one
 * for each part. A line that a crash truncated is ignored. Its part is copied again, which changes nothing.
 *
 * Parts whose file names depend on their contents also have lines with these names, written before the files. If
 * such a part is copied again, its old files are deleted first, or they would contain entries a second time.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { CommandError } from './command-error.ts';
import type { TimeWindow } from './migrate/log-source.ts';

const VERSION = 1;

/** Scope of the copy, as the options define it. */
type CopyScope = Readonly<Record<string, string | readonly string[]>>;

interface DonePart {
  readonly tenant: string;
  readonly selector: string;
  /** Start, Unix ns. */
  readonly start: string;
  readonly entries: number;
}

/** Files of a part that is not finished. */
interface BegunPart extends Omit<DonePart, 'entries'> {
  readonly files: readonly string[];
}

interface Header {
  readonly version: number;
  readonly scope: CopyScope;
  readonly start: string;
  readonly end: string;
}

export class PartState {
  readonly window: TimeWindow;
  readonly #descriptor: number;
  readonly #done = new Map<string, number>();
  readonly #begun = new Map<string, readonly string[]>();

  private constructor(descriptor: number, window: TimeWindow, parts: readonly (DonePart | BegunPart)[]) {
    this.#descriptor = descriptor;
    this.window = window;
    for (const part of parts) {
      const key = keyOf(part);
      if ('files' in part) this.#begun.set(key, [...(this.#begun.get(key) ?? []), ...part.files]);
      else this.#done.set(key, part.entries);
    }
  }

  /**
   * Opens the state with its time window, or creates it. Throws CommandError if the file is of another scope.
   */
  static open(file: string, scope: CopyScope, window: TimeWindow): PartState {
    const known = read(file);
    const descriptor = openSync(file, 'a');
    if (known === undefined) {
      const header: Header = { version: VERSION, scope, start: `${window.startNs}`, end: `${window.endNs}` };
      writeSync(descriptor, `${JSON.stringify(header)}\n`);
      return new PartState(descriptor, window, []);
    }
    const { header, parts } = known;
    if (JSON.stringify(header.scope) !== JSON.stringify(scope)) {
      closeSync(descriptor);
      throw new CommandError(
        `${file} belongs to another copy (${JSON.stringify(header.scope)}); name another file with --state`,
      );
    }
    // Ends a line that a crash truncated.
    writeSync(descriptor, '\n');
    return new PartState(descriptor, { startNs: BigInt(header.start), endNs: BigInt(header.end) }, parts);
  }

  /** Number of entries of a finished part; undefined if it is not finished. */
  doneEntries(part: Omit<DonePart, 'entries'>): number | undefined {
    return this.#done.get(keyOf(part));
  }

  /** Files that earlier runs may have written for a part. */
  begunFiles(part: Omit<DonePart, 'entries'>): readonly string[] {
    return this.#begun.get(keyOf(part)) ?? [];
  }

  /** Call it before these files get their names. */
  begin(part: BegunPart): void {
    writeSync(this.#descriptor, `${JSON.stringify(part)}\n`);
  }

  add(part: DonePart): void {
    this.#done.set(keyOf(part), part.entries);
    writeSync(this.#descriptor, `${JSON.stringify(part)}\n`);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function keyOf({ tenant, selector, start }: Omit<DonePart, 'entries'>): string {
  return JSON.stringify([tenant, selector, start]);
}

function read(
  file: string,
): { readonly header: Header; readonly parts: readonly (DonePart | BegunPart)[] } | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (text === '') return undefined;
  const [header, ...parts] = text.split('\n').map(parsed);
  if ((header as Header | undefined)?.version !== VERSION)
    throw new CommandError(`${file} is not a state file; name another file with --state`);
  return {
    header: header as Header,
    parts: parts.filter(part => part !== undefined) as (DonePart | BegunPart)[],
  };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
