/**
 * Resolves the inputs of `logboom push` to texts: files, folders, name patterns, archives and standard input.
 */
import { createReadStream } from 'node:fs';
import { glob, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { NS_OF_SECOND } from '../../../shared/base/model/time-units.ts';
import { CommandError } from '../command-error.ts';
import { needNewerNode } from '../newer-node.ts';
import type { PushInput } from '../push-lines.ts';
import { peek } from './first-bytes.ts';
import { isTar, tarMembers } from './tar.ts';
import { unpacked } from './unpack.ts';

export const STDIN = '-';
/** Maximum number of files. More is likely a mistake, such as the root of a disk. */
const MAX_FILES = 10_000;
const MAX_FOLDER_DEPTH = 20;
const READ_BYTES = 256 * 1024;

export interface InputText {
  /** Undefined for standard input. */
  readonly name: string | undefined;
  /** Modification time. */
  readonly fileNs: bigint | undefined;
  /** Size on disk; undefined if the file's bytes are not the text itself. */
  readonly bytes: number | undefined;
  /** Content; read it before requesting the next text. */
  readonly content: PushInput;
}

export interface NamedFile {
  readonly path: string;
  /** True if the file was named directly, not found in a folder or by a pattern. */
  readonly isNamed: boolean;
}

/**
 * Files of all arguments without duplicates. Files of a folder or pattern are sorted by name. Throws
 * CommandError.
 */
export async function inputFiles(given: readonly string[]): Promise<readonly NamedFile[]> {
  const files = new Map<string, NamedFile>();
  const add = (path: string, isNamed: boolean) => {
    if (!files.has(path)) files.set(path, { path, isNamed });
    if (files.size > MAX_FILES) throw new CommandError(`over ${MAX_FILES} files; name fewer at a time`);
  };
  for (const each of given) {
    if (each === STDIN) add(each, true);
    else if ((await kindOf(each)) === 'folder') await addFolder(each, path => add(path, false));
    else if (/[*?[{]/.test(each) && (await kindOf(each)) === undefined)
      await addMatches(each, path => add(path, false));
    else add(each, true);
  }
  return [...files.values()];
}

async function addMatches(pattern: string, add: (path: string) => void): Promise<void> {
  await needNewerNode();
  const found: string[] = [];
  for await (const path of glob(pattern)) {
    if ((await kindOf(path)) === 'file') found.push(path);
    if (found.length > MAX_FILES) break;
  }
  if (found.length === 0) throw new CommandError(`no file matches ${pattern}`);
  for (const path of found.sort()) add(path);
}

/** Adds the files of a folder. Skips hidden files and links to folders. */
async function addFolder(folder: string, add: (path: string) => void, depth = 0): Promise<void> {
  if (depth > MAX_FOLDER_DEPTH)
    throw new CommandError(`${folder} is nested more than ${MAX_FOLDER_DEPTH} folders deep`);
  const members = await readdir(folder, { withFileTypes: true });
  for (const member of members.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (member.name.startsWith('.')) continue;
    const path = join(folder, member.name);
    if (member.isDirectory()) await addFolder(path, add, depth + 1);
    else if ((await kindOf(path)) === 'file') add(path);
  }
}

/** Kind of a path; undefined if it does not exist. */
async function kindOf(path: string): Promise<'folder' | 'file' | 'other' | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other';
}

/** Texts of a file: one, or several for an archive. Skips binary files unless they were named directly. */
export async function* textsOf(
  { path, isNamed }: NamedFile,
  skipped: (name: string) => void,
): AsyncGenerator<InputText> {
  const status = path === STDIN ? undefined : await stat(path, { bigint: true });
  const source: Readable =
    path === STDIN ? process.stdin : createReadStream(path, { highWaterMark: READ_BYTES });
  const packed = await peek(source);
  const { first, all } = await peek(unpacked(packed.all));
  try {
    if (isTar(first)) {
      yield* archiveTexts(all, source, skipped);
      return;
    }
    const name = path === STDIN ? undefined : basename(path);
    if (!isNamed && isBinary(first)) {
      skipped(path);
      return;
    }
    const isPlain = status?.isFile() === true && first !== undefined && packed.first === first;
    const bytes = isPlain || status?.size === 0n ? Number(status.size) : undefined;
    yield {
      name,
      fileNs: status?.isFile() ? status.mtimeNs : undefined,
      bytes,
      content: contentOf(all, source),
    };
  } finally {
    await all.return(undefined);
  }
}

async function* archiveTexts(
  archive: AsyncIterable<Buffer>,
  source: Readable,
  skipped: (name: string) => void,
): AsyncGenerator<InputText> {
  for await (const { name, modifiedSeconds, content } of tarMembers(archive)) {
    const { first, all } = await peek(unpacked(content));
    if (isBinary(first)) skipped(name);
    else {
      const fileNs = BigInt(Math.trunc(modifiedSeconds * 1000)) * BigInt(NS_OF_SECOND / 1000);
      yield { name: basename(name), fileNs, bytes: undefined, content: contentOf(all, source) };
    }
    await all.return(undefined);
  }
}

/**
 * Content of a text. A failure destroys the source, which may wait for bytes that never come. A text that was
 * read leaves the source open for the texts that follow.
 */
function contentOf(text: AsyncGenerator<Buffer>, source: Readable): PushInput {
  return {
    [Symbol.asyncIterator]: () => text,
    destroy: error => {
      if (error !== undefined) source.destroy(error);
    },
  };
}

/** Detects binary files by zero bytes, which text does not have. */
function isBinary(first: Buffer | undefined): boolean {
  return first?.includes(0) === true;
}
