/** `logboom export QUERY`: writes all entries of a log query as text, JSON lines, CSV or Parquet. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { floorDivide } from '../../shared/base/model/floor-divide.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { asAction, UsageError } from '../cli/command-error.ts';
import { type ExportJob, exportParts } from '../cli/export/export-parts.ts';
import { exportTogether } from '../cli/export/export-together.ts';
import { ENDINGS, type ExportFormat } from '../cli/export/part-target.ts';
import { ExportProgress } from '../cli/export/progress.ts';
import type { FileTarget, S3Prefix } from '../cli/export/s3-target.ts';
import type { TimeWindow } from '../cli/migrate/log-source.ts';
import { timeWindows } from '../cli/migrate/run-migration.ts';
import { needNewerNode } from '../cli/newer-node.ts';
import { PartState } from '../cli/part-state.ts';
import {
  addRangeOptions,
  checkTime,
  parsePositive,
  parseSince,
  type RangeFlags,
  rangeOfFlags,
  TIME_NOTE,
} from '../cli/range-options.ts';
import { endWithReader, report } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';

interface ExportFlags extends StoreFlags, Omit<RangeFlags, 'to'> {
  readonly to?: ExportTo;
  readonly format: ExportFormat;
  readonly output?: string;
  readonly partsDir?: string;
  readonly s3Endpoint?: string;
  readonly hive?: boolean;
  readonly part: bigint;
  readonly parallel: number;
  readonly batch: number;
  readonly state?: string;
}

/** Values of --to: the end of the time range, the destination of the files, or both if it is given twice. */
interface ExportTo {
  readonly time?: string;
  readonly s3?: S3Prefix;
}

/**
 * The heap is small, and V8 counts the buffers outside of it. By default it marks the whole heap for every 10 MB of buffers that are
 * dropped; with this growth, for every 50 MB.
 */
const HEAP_FLAG = '--heap-growing-percent=500';
/** Threads that compress pages, set before the first one starts. Four would take the processors from the thread that makes the pages. */
const COMPRESSING_THREADS = '2';
const MAX_PARALLEL = 64;
/** Each part needs at least one request. */
const MAX_PARTS = 100_000;

const NOTES = `
The time range is divided into parts (--part), with one file each. Without --parts-dir and --to s3://..., all entries go into one file
in time order: standard output or --output. With --parts-dir or --to s3://..., an interrupted export continues if you start it again
with the same time range, so give --from and --to as dates. --to can be given twice: a value that starts with s3:// is the target of
the files, any other value is the end of the time range.

Formats: text (lines alone), jsonl (timestamp, labels, metadata, line), csv (the same), and parquet, with the frequent fields of JSON and
logfmt lines as typed columns. --hive puts Parquet files into folders tenant=.../day=.../service=..., which DuckDB, Athena and
Spark read as columns.

${TIME_NOTE} Entries at the start are included, entries at the end are not.

Examples:
  logboom export '{app="shop"}' --since 1d --format jsonl > shop.jsonl
  logboom export '{app=~".+"}' --from 2026-01-05 --to 2026-01-06 --format parquet --hive --parts-dir lake
  logboom export '{app="shop"} |= "error"' --from 2026-01-05 --to 2026-01-06 --format csv --to s3://bucket/errors`;

export function register(program: Command): void {
  const command = program
    .command('export')
    .description('write all entries of a log query to files')
    .argument('<query>', 'log query')
    .addOption(
      new Option('--format <format>', 'format of the files').choices(Object.keys(ENDINGS)).default('text'),
    )
    .addOption(new Option('-O, --output <file>', 'one file for all entries (default: standard output)'))
    .addOption(new Option('--parts-dir <dir>', 'folder with one file per part').conflicts('output'))
    .addOption(
      new Option('--s3-endpoint <url>', 'with --to s3://..., an endpoint other than AWS').env(
        'LOGBOOM_ENDPOINT',
      ),
    )
    .addOption(new Option('--hive', 'with --format parquet, folders by tenant, day and service'))
    .addOption(
      new Option('--part <duration>', 'length of a part')
        .argParser(parsePart)
        .default(parseSince('1h'), '1h'),
    )
    .addOption(new Option('--parallel <count>', 'concurrent requests').argParser(parseParallel).default(3))
    .addOption(
      new Option('--batch <count>', 'entries per request to a store other than Logboom')
        .argParser(parsePositive)
        .default(5000),
    )
    .addOption(
      new Option(
        '--state <file>',
        'file that stores which parts are done (default: _export.jsonl in the folder, or here)',
      ),
    );
  const to = new Option('--to <time|url>', 'end (default: now), or s3://BUCKET/PREFIX for one file per part');
  addRangeOptions(command, '1h', to.argParser(parseTo));
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(exportEntries));
}

async function exportEntries(query: string, flags: ExportFlags): Promise<void> {
  const { format, partsDir, output, hive, to = {} } = flags;
  const { s3 } = to;
  if (s3 !== undefined && (partsDir ?? output) !== undefined)
    throw new UsageError('--to s3://... cannot be used with --output or --parts-dir');
  if (format === 'parquet' && partsDir === undefined && s3 === undefined)
    throw new UsageError(
      '--format parquet needs --parts-dir or --to s3://..., because Parquet files cannot be joined',
    );
  if (hive && format !== 'parquet') throw new UsageError('--hive needs --format parquet');
  if (format === 'parquet' || s3 !== undefined) await needNewerNode();
  if (format === 'parquet') {
    setFlagsFromString(HEAP_FLAG);
    process.env.UV_THREADPOOL_SIZE ??= COMPRESSING_THREADS;
  }
  endWithReader();
  if (s3 !== undefined) {
    const folder = await mkdtemp(join(tmpdir(), 'logboom-export-'));
    try {
      const { s3Target } = await import('../cli/export/s3-target.ts');
      const remote = s3Target(s3, flags.s3Endpoint);
      const target = `s3://${s3.bucket}/${s3.prefix}`;
      await exportIntoParts(query, flags, { target, folder, state: flags.state ?? '_export.jsonl', remote });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } else if (partsDir !== undefined) {
    await mkdir(partsDir, { recursive: true });
    const state = flags.state ?? join(partsDir, '_export.jsonl');
    await exportIntoParts(query, flags, { target: 'folder', folder: partsDir, state });
  } else await exportIntoOne(query, flags);
}

interface PartsDestination {
  /** Name in the state file. */
  readonly target: string;
  readonly folder: string;
  readonly state: string;
  readonly remote?: FileTarget;
}

async function exportIntoParts(
  query: string,
  flags: ExportFlags,
  { target, folder, state: file, remote }: PartsDestination,
): Promise<void> {
  const { format, hive = false, tenant = '', part, addr } = flags;
  const scope = { from: addr.origin, query, format, tenant, to: target, part: `${part}`, hive: `${hive}` };
  const state = PartState.open(file, scope, wholeMs(rangeOf(flags)));
  const job = jobOf(query, flags, state.window);
  try {
    const { entries, files, earlier } = await exportParts(job, partsOf(state.window, part), {
      folder,
      state,
      ...(remote && { remote }),
    });
    job.progress.stop();
    const before = earlier > 0 ? `; ${earlier} entries were already exported` : '';
    report(`logboom: exported ${entries} entries in ${files} files${before}\n`);
  } finally {
    job.progress.stop();
    state.close();
  }
}

async function exportIntoOne(query: string, flags: ExportFlags): Promise<void> {
  const { output, part } = flags;
  const window = wholeMs(rangeOf(flags));
  const job = jobOf(query, flags, window);
  try {
    const entries = await exportTogether(job, partsOf(window, part), output);
    job.progress.stop();
    if (output !== undefined) report(`logboom: exported ${entries} entries\n`);
  } finally {
    job.progress.stop();
  }
}

function jobOf(query: string, flags: ExportFlags, window: TimeWindow): ExportJob {
  const { format, parallel, batch, hive, tenant } = flags;
  const hiveTenant = hive ? tenant || DEFAULT_TENANT : undefined;
  return { store: flags, query, format, parallel, batch, hiveTenant, progress: new ExportProgress(window) };
}

/** Tenant of a store without tenants. */
const DEFAULT_TENANT = 'fake';

function partsOf(window: TimeWindow, part: bigint): readonly TimeWindow[] {
  if ((window.endNs - window.startNs) / part >= BigInt(MAX_PARTS))
    throw new UsageError(`the time range has over ${MAX_PARTS} parts; make them longer with --part`);
  return timeWindows(window, part);
}

function rangeOf({ since, from, to }: ExportFlags): TimeWindow {
  return rangeOfFlags({ since, ...(from && { from }), ...(to?.time && { to: to.time }) });
}

/** Rounds the start to milliseconds, because names of parts have milliseconds. */
function wholeMs({ startNs, endNs }: TimeWindow): TimeWindow {
  return { startNs: floorDivide(startNs, NS_PER_MS) * NS_PER_MS, endNs };
}

function parseTo(text: string, before: ExportTo = {}): ExportTo {
  return text.startsWith('s3://')
    ? { ...before, s3: parsePrefix(text) }
    : { ...before, time: checkTime(text) };
}

function parsePrefix(text: string): S3Prefix {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('A bucket is written like s3://BUCKET/PREFIX.');
  const prefix = (match[2] ?? '').replace(/\/+$/, '');
  return { bucket: match[1], prefix: prefix === '' ? '' : `${prefix}/` };
}

const MIN_PART_NS = NS_PER_SECOND;

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
