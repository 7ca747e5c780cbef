/** `logboom export QUERY`: all entries of a log query, in parallel parts, as text, JSON lines, CSV or Parquet. */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { mapAhead, mapAtOnce } from '../../shared/base/model/at-once.ts';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { asAction, UsageError } from '../cli/command-error.ts';
import { exportedBytes } from '../cli/export/export-source.ts';
import {
  CSV_HEADING,
  ENDINGS,
  type ExportFormat,
  type PartSource,
  type WrittenPart,
  writePart,
} from '../cli/export/part-files.ts';
import type { PutFile, S3Place } from '../cli/export/s3-target.ts';
import { entryPages, type TimeWindow } from '../cli/migrate/log-source.ts';
import { windowsOf } from '../cli/migrate/run-migration.ts';
import { PartState } from '../cli/part-state.ts';
import {
  addRangeOptions,
  parsePositive,
  parseSince,
  type RangeFlags,
  rangeOfFlags,
  TIME_NOTE,
} from '../cli/range-options.ts';
import { endWithReader, print, tell } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { nanosecondText } from '../cli/time-text.ts';
import { startWaiting } from '../cli/waiting-line.ts';

interface ExportFlags extends StoreFlags, RangeFlags {
  readonly format: ExportFormat;
  readonly output?: string;
  readonly partsDir?: string;
  readonly s3?: S3Place;
  readonly s3Endpoint?: string;
  readonly hive: boolean;
  readonly part: bigint;
  readonly parallel: number;
  readonly batch: number;
  readonly state?: string;
}

const MAX_PARALLEL = 64;
/** Each is a request at least. */
const MAX_PARTS = 100_000;

const NOTES = `
The time range is read in parts (--part), several at once, and each part is a file. Without --parts-dir and --s3, the files are
put together in the order of time, on standard output or in --output. With --parts-dir or --s3, an export that was stopped goes on
where it was if it is started again with the same time range, so give --from and --to as dates.

Formats: text (lines alone), jsonl (timestamp, labels, metadata, line), csv (the same), and parquet, with the frequent fields of JSON and
logfmt lines as typed columns. --hive puts Parquet files into folders tenant=.../day=.../service=..., which DuckDB, Athena and
Spark read as columns.

${TIME_NOTE} Entries at the start are included, entries at the end are not.

Examples:
  logboom export '{app="shop"}' --since 1d --format jsonl > shop.jsonl
  logboom export '{app=~".+"}' --from 2026-01-05 --to 2026-01-06 --format parquet --hive --parts-dir lake
  logboom export '{app="shop"} |= "error"' --from 2026-01-05 --to 2026-01-06 --format csv --s3 s3://bucket/errors`;

export function register(program: Command): void {
  const command = program
    .command('export')
    .description('write all entries of a log query to files')
    .argument('<query>', 'log query')
    .addOption(
      new Option('--format <format>', 'format of the files').choices(Object.keys(ENDINGS)).default('text'),
    )
    .addOption(new Option('-O, --output <file>', 'one file for all entries (default: standard output)'))
    .addOption(new Option('--parts-dir <dir>', 'folder for a file of each part').conflicts('output'))
    .addOption(
      new Option('--s3 <url>', 'bucket for a file of each part: s3://BUCKET/PREFIX')
        .argParser(parsePlace)
        .conflicts(['output', 'partsDir']),
    )
    .addOption(new Option('--s3-endpoint <url>', 'with --s3, another place than AWS').env('LOGBOOM_ENDPOINT'))
    .addOption(
      new Option('--hive', 'with --format parquet, folders for tenant, day and service').default(false),
    )
    .addOption(
      new Option('--part <duration>', 'length of a part')
        .argParser(parsePart)
        .default(parseSince('1h'), '1h'),
    )
    .addOption(
      new Option('--parallel <count>', 'parts that are read at once').argParser(parseParallel).default(4),
    )
    .addOption(
      new Option('--batch <count>', 'entries of one request to a store other than Logboom')
        .argParser(parsePositive)
        .default(5000),
    )
    .addOption(
      new Option(
        '--state <file>',
        'file that stores which parts are done (default: _export.jsonl in the folder, or here)',
      ),
    );
  addRangeOptions(command);
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(exportEntries));
}

async function exportEntries(query: string, flags: ExportFlags): Promise<void> {
  const { format, partsDir, s3, hive } = flags;
  if (format === 'parquet' && partsDir === undefined && s3 === undefined)
    throw new UsageError(
      '--format parquet needs --parts-dir or --s3, because Parquet files cannot be joined',
    );
  if (hive && format !== 'parquet') throw new UsageError('--hive needs --format parquet');
  endWithReader();
  if (partsDir !== undefined) {
    await mkdir(partsDir, { recursive: true });
    await exportParts(query, flags, {
      folder: partsDir,
      state: flags.state ?? join(partsDir, '_export.jsonl'),
    });
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'logboom-export-'));
  try {
    if (s3 === undefined) await exportTogether(query, flags, folder);
    else {
      const { s3Target } = await import('../cli/export/s3-target.ts');
      const put = s3Target(s3, flags.s3Endpoint);
      await exportParts(query, flags, { folder, state: flags.state ?? '_export.jsonl', put });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface PartsPlan {
  readonly folder: string;
  readonly state: string;
  /** Sends a file away, which is then removed here. */
  readonly put?: PutFile;
}

async function exportParts(
  query: string,
  flags: ExportFlags,
  { folder, state: file, put }: PartsPlan,
): Promise<void> {
  const { format, hive, tenant = '', part, s3 } = flags;
  const to = s3 === undefined ? 'folder' : `s3://${s3.bucket}/${s3.prefix}`;
  const scope = { from: flags.addr.origin, query, format, tenant, to, part: `${part}`, hive: `${hive}` };
  const state = PartState.open(file, scope, wholeMs(rangeOfFlags(flags)));
  const waiting = startWaiting(process.stderr);
  let entries = 0;
  let files = 0;
  let earlier = 0;
  try {
    const parts = partsOf(state.window, part);
    await mapAtOnce(parts, flags.parallel, async window => {
      const id = { tenant, selector: query, start: `${window.startNs}` };
      const known = state.doneEntries(id);
      if (known !== undefined) {
        earlier += known;
        return;
      }
      const written = await readPart(query, flags, window, folder);
      if (put !== undefined) {
        for (const each of written.files) {
          await put(folder, each);
          await rm(join(folder, each));
        }
      }
      state.add({ ...id, entries: written.entries });
      entries += written.entries;
      files += written.files.length;
      waiting.say(`${entries + earlier} entries`);
    });
  } finally {
    waiting.stop();
    state.close();
  }
  const before = earlier > 0 ? `; ${earlier} entries were there already` : '';
  tell(`logboom: exported ${entries} entries in ${files} files${before}\n`);
}

/** The files one after the other, each removed when it is copied. */
async function exportTogether(query: string, flags: ExportFlags, folder: string): Promise<void> {
  const { output, format, parallel, part } = flags;
  const parts = partsOf(wholeMs(rangeOfFlags(flags)), part);
  const target = output === undefined ? undefined : createWriteStream(output);
  const waiting = startWaiting(process.stderr);
  let entries = 0;
  try {
    for await (const written of mapAhead(parts, { width: parallel }, window =>
      readPart(query, flags, window, folder),
    )) {
      for (const file of written.files) {
        const start = format === 'csv' && entries > 0 ? CSV_HEADING.length : 0;
        await copyInto(createReadStream(join(folder, file), { start }), target);
        await rm(join(folder, file));
      }
      entries += written.entries;
      waiting.say(`${entries} entries`);
    }
    if (target !== undefined) await finish(target);
  } finally {
    waiting.stop();
  }
  if (output !== undefined) tell(`logboom: exported ${entries} entries\n`);
}

/** Without a file to standard output, where a terminal must not obey what clients wrote. */
async function copyInto(source: Readable, target: Writable | undefined): Promise<void> {
  if (target === undefined && process.stdout.isTTY) source.setEncoding('utf8');
  for await (const piece of source) {
    if (typeof piece === 'string') await print(piece);
    else if (!(target ?? process.stdout).write(piece)) await once(target ?? process.stdout, 'drain');
  }
}

async function finish(target: Writable): Promise<void> {
  target.end();
  await finished(target);
}

function readPart(
  query: string,
  flags: ExportFlags,
  window: TimeWindow,
  folder: string,
): Promise<WrittenPart> {
  const { batch, parallel } = flags;
  const source: PartSource = {
    bytes: format => exportedBytes(flags, { query, window, format, parallel }),
    pages: () => entryPages(flags, { query, window, batch }),
  };
  const hiveTenant = flags.hive ? flags.tenant || DEFAULT_TENANT : undefined;
  return writePart(source, { folder, name: partName(window), format: flags.format, hiveTenant });
}

/** What a store without tenants calls its one. */
const DEFAULT_TENANT = 'fake';

/** Names in the order of time, without characters that file systems refuse: `2026-01-05T100000.000Z`. */
function partName({ startNs }: TimeWindow): string {
  return nanosecondText(startNs)
    .replace(/(\.\d{3})\d{6}Z$/, '$1Z')
    .replaceAll(':', '');
}

function partsOf(window: TimeWindow, part: bigint): readonly TimeWindow[] {
  if ((window.endNs - window.startNs) / part >= BigInt(MAX_PARTS))
    throw new UsageError(`the time range has over ${MAX_PARTS} parts; make them longer with --part`);
  return windowsOf(window, part);
}

/** Parts have names with milliseconds. */
function wholeMs({ startNs, endNs }: TimeWindow): TimeWindow {
  const before = ((startNs % NS_PER_MS) + NS_PER_MS) % NS_PER_MS;
  return { startNs: startNs - before, endNs };
}

function parsePlace(text: string): S3Place {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('A bucket is written like s3://BUCKET/PREFIX.');
  const prefix = (match[2] ?? '').replace(/\/+$/, '');
  return { bucket: match[1], prefix: prefix === '' ? '' : `${prefix}/` };
}

const MIN_PART_NS = 1_000_000_000n;

function parsePart(text: string): bigint {
  const part = parseSince(text);
  if (part < MIN_PART_NS) throw new InvalidArgumentError('A part must be at least 1s.');
  return part;
}

function parseParallel(text: string): number {
  const count = parsePositive(text);
  if (count > MAX_PARALLEL) throw new InvalidArgumentError(`The maximum is ${MAX_PARALLEL} parts at a time.`);
  return count;
}
