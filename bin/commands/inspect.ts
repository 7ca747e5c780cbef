/** `logboom inspect FILE`: shows the contents of a chunk object and verifies every checksum. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { firstBroken, reportChunk, rowsOfPage } from '../cli/chunk-report.ts';
import { chunkText, rowTexts } from '../cli/chunk-text.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { inputSize } from '../cli/input-file.ts';
import { endWithReader, print } from '../cli/standard-output.ts';

interface InspectFlags {
  readonly json?: boolean;
  readonly page?: number;
}

/**
 * Maximum object size, because the object is read whole. Compaction targets 256 MB, so no chunk comes near.
 */
const MAX_OBJECT_BYTES = 1024 * 1024 * 1024;

const NOTES = `
The local store keeps its objects in DATA_DIR/objects/TENANT/chunks. Small chunks are stored in the catalog instead and
have no file. For the format, see docs/dev/format.md.

Exit codes:
  0  the chunk is intact
  1  the chunk is corrupt

Examples:
  logboom inspect data/objects/fake/chunks/20000/0/0123456789abcdef0123456789abcdef
  logboom inspect CHUNK --page 0           rows of its first page
  logboom inspect CHUNK --json`;

export function register(program: Command): void {
  program
    .command('inspect')
    .description('show the contents of a chunk and verify its checksums')
    .argument('<file>', 'chunk object')
    .option('--json', 'print JSON')
    .addOption(new Option('--page <number>', 'page whose rows to print, from 0').argParser(parsePage))
    .addHelpText('after', NOTES)
    .action(asAction(inspect));
}

async function inspect(file: string, { json = false, page }: InspectFlags): Promise<void> {
  endWithReader();
  const size = await inputSize(file);
  if (size === undefined) throw new CommandError(`${file} is not a regular file`);
  if (size > MAX_OBJECT_BYTES)
    throw new CommandError(`${file} has ${size} bytes, which is too large for a chunk`);
  const object = await readFile(file);
  if (page !== undefined) {
    for (const text of rowTexts(rowsOfPage(object, page, file), json)) await print(text);
    return;
  }
  const report = reportChunk(object, file);
  await print(json ? `${JSON.stringify(report, undefined, 2)}\n` : chunkText(report));
  const broken = firstBroken(report);
  if (broken !== undefined) throw new CommandError(broken);
}

function parsePage(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('A page is a whole number from 0.');
  return Number(text);
}
