/** Writes the Parquet files of one part of an export, whose rows must fit into memory: with --hive, one for each folder. */
import { isUtf8 } from 'node:buffer';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DecodedColumns } from '../../../shared/server/open-data/entry-columns.ts';
import { EntryTable, ROW_GROUP_ROWS } from '../../../shared/server/open-data/entry-table.ts';
import { HivePaths } from '../../../shared/server/open-data/hive-path.ts';
import { buildParquetFile, FileMemory } from '../../../shared/server/open-data/parquet-file.ts';
import type { MigratedEntry } from '../migrate/log-source.ts';
import type { PartTarget, WrittenPart } from './part-target.ts';

/** Maximum rows and bytes of lines in memory before files are written. */
const MAX_HELD_ROWS = 2 * ROW_GROUP_ROWS;
const MAX_HELD_BYTES = 32_000_000;

/** Memory of a part, which the next one uses again: its pages cost more to get than to fill. */
class PartMemory {
  /** For the file that is built. */
  file = new FileMemory();
  /** For the file that is written. */
  spareFile = new FileMemory(this.file.finder);
  readonly table = new EntryTable();
}

const SPARE_MEMORIES: PartMemory[] = [];
/** Ends with the last file that is built. Parts of other stores are read in parallel, and a thread makes one file at a time. */
let building: Promise<unknown> = Promise.resolve();

/** Makes a file after those of other parts. */
function built(table: EntryTable, memory: FileMemory): ReturnType<typeof buildParquetFile> {
  const file = building.then(() => buildParquetFile(table, memory));
  building = file.catch(() => undefined);
  return file;
}

export class ParquetParts {
  readonly #target: PartTarget;
  readonly #paths: HivePaths | undefined;
  readonly #files: string[] = [];
  readonly #memory = SPARE_MEMORIES.pop() ?? new PartMemory();
  /** The last file, whose last pages are compressed and which is written while the next one is built. */
  #writing: Promise<void> = Promise.resolve();
  #entries = 0;
  #tables = new Map<string, EntryTable>();
  #heldRows = 0;
  #heldBytes = 0;
  #number = 0;

  constructor(target: PartTarget) {
    this.#target = target;
    this.#paths = target.hiveTenant === undefined ? undefined : new HivePaths(target.hiveTenant);
  }

  async addColumns(columns: DecodedColumns): Promise<void> {
    const { times, labels, ends, dayStartNs, sets, lines } = columns;
    const areTexts = isUtf8(lines);
    const pathOf = sets.map(set => this.#pathOf(dayStartNs, set.labels));
    let from = 0;
    for (let row = 0; row < times.length; row++) {
      const path = pathOf[labels[row]];
      const next = row + 1;
      const bytes = ends[row] + 1 - (from === 0 ? 0 : ends[from - 1] + 1);
      const isFull =
        this.#heldRows + next - from >= MAX_HELD_ROWS || this.#heldBytes + bytes >= MAX_HELD_BYTES;
      if (!isFull && next < times.length && pathOf[labels[next]] === path) continue;
      this.#tableOf(path).addRows(columns, from, next, areTexts);
      if (this.#isFullWith(next - from, bytes)) await this.#write();
      from = next;
    }
  }

  async addEntries(entries: readonly MigratedEntry[]): Promise<void> {
    for (const { timeNs, line, labels, metadata } of entries) {
      this.#tableOf(this.#pathOf(timeNs, labels)).add(timeNs, line, { labels, metadata });
      if (this.#isFullWith(1, line.length)) await this.#write();
    }
  }

  /** Writes the last files. */
  async end(): Promise<WrittenPart> {
    await this.#write();
    await this.#writing;
    SPARE_MEMORIES.push(this.#memory);
    return { entries: this.#entries, files: this.#files };
  }

  #pathOf(timeNs: bigint, labels: Readonly<Record<string, string>>): string {
    return this.#paths?.of({ timeNs, labels }) ?? '';
  }

  #tableOf(path: string): EntryTable {
    let table = this.#tables.get(path);
    if (table === undefined) {
      table = this.#tables.size === 0 ? this.#memory.table : new EntryTable();
      this.#tables.set(path, table);
    }
    return table;
  }

  /** Counts rows that were added. */
  #isFullWith(rows: number, bytes: number): boolean {
    this.#entries += rows;
    this.#heldRows += rows;
    this.#heldBytes += bytes;
    return this.#heldRows >= MAX_HELD_ROWS || this.#heldBytes >= MAX_HELD_BYTES;
  }

  async #write(): Promise<void> {
    const { folder, name, onFiles } = this.#target;
    const suffix = this.#number === 0 ? '' : `-${this.#number}`;
    const named = [...this.#tables]
      .filter(([, { count }]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, table]) => ({ file: join(path, `${name}${suffix}.parquet`), table }));
    if (named.length > 0) onFiles?.(named.map(({ file }) => file));
    for (const { file, table } of named) {
      const memory = this.#memory;
      const { contents } = await built(table, memory.file);
      await this.#writing;
      this.#writing = contents.then(bytes => writeComplete(join(folder, file), bytes));
      // Thrown by the next file, or at the end.
      this.#writing.catch(() => undefined);
      [memory.file, memory.spareFile] = [memory.spareFile, memory.file];
      this.#files.push(file);
    }
    // Several tables together would hold several times the bytes of one.
    this.#tables = new Map();
    this.#memory.table.clear();
    this.#number++;
    this.#heldRows = 0;
    this.#heldBytes = 0;
  }
}

/** A complete file gets its final name. */
async function writeComplete(path: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.unfinished`;
  await writeFile(unfinished, contents);
  await rename(unfinished, path);
}
