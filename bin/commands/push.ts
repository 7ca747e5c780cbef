/** `logboom push FILE...`: pushes log files or standard input into the store. */
import { basename } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatByteSize, parseByteSize } from '../../shared/base/model/byte-size.ts';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { asAction, CommandError, EXIT_FAILED, UsageError } from '../cli/command-error.ts';
import { countText, entriesText } from '../cli/count-text.ts';
import { DRY_RUN_ENTRIES, dryRunImport } from '../cli/import/dry-run.ts';
import type { FormatName } from '../cli/import/formats.ts';
import type { ImportCounts } from '../cli/import/import-batch.ts';
import { addImportOptions, type ImportFlags, importPlanOf } from '../cli/import/import-options.ts';
import type { ImportPlan } from '../cli/import/import-plan.ts';
import type { InputContext } from '../cli/import/import-reader.ts';
import { inputBatches } from '../cli/import/input-batches.ts';
import { type InputText, inputFiles, type NamedFile, STDIN, textsOf } from '../cli/import/input-texts.ts';
import { ProgressLine } from '../cli/progress-line.ts';
import { type EncodedBatch, type PushPlan, type PushTotals, pushLines } from '../cli/push-lines.ts';
import { RESTART_RETRIES } from '../cli/retries.ts';
import { RetryNotes } from '../cli/retry-notes.ts';
import { isKeptQuiet, print, report, say } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { addTimeZoneOption } from '../cli/time-zone.ts';

interface PushFlags extends StoreFlags, ImportFlags {
  readonly label: Readonly<Record<string, string>>;
  readonly batchBytes: number;
  readonly follow?: boolean;
  readonly fromEnd?: boolean;
  readonly skipRefused?: boolean;
  readonly positions?: string;
}

/** Maximum number of followed files. Each has an open file and is polled four times per second. */
const MAX_FOLLOWED_FILES = 1000;
/** Default batch size: small enough to retry, and large enough that its bytes dominate its cost. */
const DEFAULT_BATCH_BYTES = 1_000_000;
/**
 * Maximum batch size. A body is held twice, as text and compressed, and stores refuse bodies over 100 MiB.
 */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;
/** Maximum time until a typed line, or a line of `tail -f`, is pushed. */
const MAX_WAIT_MS = 1000;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const NOTES = `
The format of an input is detected from its first lines. Entries that contain a time are stored with that time, so that repeating
a push stores nothing twice. Entries with equal times get timestamps 1 ns apart, in input order. Lines of an unknown format are
stored with the time at which they are read (--format plain).

Formats: json, logfmt, nginx, apache, syslog, csv, docker, cri, journald (journalctl -o json), and text, whose entries begin with a
time. Times without an offset are in --timezone (local). An entry of text includes all lines up to the next time, such as stack
traces.

gzip, zstd, xz and tar are unpacked, and UTF-16 is read if it begins with a byte order mark. Folders are read recursively, without hidden and binary files. Each file gets the label
filename (its name without folders) unless --label filename=... sets it. Standard input needs at least one --label.

If the store refuses a batch (4xx), the push ends with exit code 1 and the store's message. Earlier batches stay stored. With
--skip-refused, it reports the batch, continues, and ends with exit code 1. The store keeps the valid entries of a batch. Rate limits
(429), server errors (5xx) and broken connections are retried for about 30 seconds.

With --follow, files are read as they grow, until Ctrl-C. A file that was moved away is read to its end, then the new one of its
name. A truncated file is read from its start. Retries have no time limit. A refused batch (400, 413, 422) is reported and skipped.
With --positions, a restarted push continues at the last position.

Examples:
  logboom push app.log --label app=shop --label env=prod
  logboom push /var/log/app.log.*.gz --label app=shop
  logboom push app.jsonl --dry-run --label-field level --metadata-field user.id
  logboom push --format csv --time-field when --time-format '%d.%m.%Y %H:%M' -z Europe/Berlin orders.csv
  logboom push /var/log/nginx backup.tar.xz --label host=web1
  logboom push --follow '/var/log/app/*.log' --label app=shop --positions /var/lib/logboom/positions.json
  journalctl -f -o cat | logboom push - --label job=journal`;

export function register(program: Command): void {
  const command = program
    .command('push')
    .description('push log files or standard input')
    .argument('<files...>', 'text files, folders, file name patterns, archives, or - for standard input')
    .addOption(
      new Option('-l, --label <name=value>', 'label of the stream; repeatable')
        .argParser(addLabel)
        .default({}, 'filename=<name of the file>'),
    )
    .addOption(
      new Option('--batch-bytes <size>', 'request size before compression, for example 500KB')
        .argParser(parseBatchBytes)
        .default(DEFAULT_BATCH_BYTES, formatByteSize(DEFAULT_BATCH_BYTES)),
    )
    .addOption(
      new Option('--skip-refused', 'continue after a batch with entries that the store refuses').conflicts(
        'follow',
      ),
    )
    .addOption(new Option('-f, --follow', 'keep reading as the files grow'))
    .addOption(new Option('--from-end', 'with --follow, start at the ends of the files'))
    .addOption(
      new Option('--positions <file>', 'with --follow, file that stores the read positions').env(
        'LOGBOOM_POSITIONS',
      ),
    );
  addTimeZoneOption(addImportOptions(command));
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(push));
}

async function push(given: readonly string[], flags: PushFlags): Promise<void> {
  const plan = importPlanOf(flags);
  if (!flags.follow && flags.fromEnd) throw new UsageError('--from-end needs --follow');
  if (flags.follow && flags.dryRun)
    throw new UsageError('--dry-run reads files to their end; remove --follow');
  // Reports missing labels before reading any input.
  if (given.includes(STDIN)) streamLabels(STDIN, flags.label);
  const files = await inputFiles(given);
  if (flags.follow) return followAll(files, flags, plan);
  let shown = 0;
  for (const file of files) {
    for await (const text of textsOf(file, name =>
      report(`logboom: skipping ${name}: it is not a text file\n`),
    )) {
      if (flags.dryRun) shown += await showEntries(text, flags, plan, DRY_RUN_ENTRIES - shown);
      else await pushText(text, flags, plan);
      if (flags.dryRun && shown >= DRY_RUN_ENTRIES) return;
    }
  }
}

async function showEntries(
  text: InputText,
  flags: PushFlags,
  plan: ImportPlan,
  limit: number,
): Promise<number> {
  const context = contextOf(text, flags);
  const onFormat = (format: FormatName) => reportFormat(text.name, format, plan);
  return dryRunImport(text.content, { plan, context, limit, onFormat });
}

function pushText(text: InputText, flags: PushFlags, plan: ImportPlan): Promise<void> {
  const job = new PushJob(text.name, contextOf(text, flags), flags, plan, text.bytes);
  return job.run(pushPlan => pushLines(text.content, pushPlan));
}

async function followAll(files: readonly NamedFile[], flags: PushFlags, plan: ImportPlan): Promise<void> {
  if (files.some(({ path }) => path === STDIN))
    throw new UsageError('--follow needs files; standard input is always read to its end');
  if (files.length > MAX_FOLLOWED_FILES)
    throw new UsageError(`--follow accepts up to ${MAX_FOLLOWED_FILES} files, got ${files.length}`);
  if (plan.format === 'csv' && plan.csvColumns === undefined)
    throw new UsageError(
      '--follow with --format csv needs --csv-columns, because a restarted push does not read the header line again',
    );
  const { pushFollowed } = await import('../cli/push-follow.ts');
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const { positions, fromEnd } = flags;
  const following = files.map(({ path }) => {
    const context = contextOf({ name: basename(path), fileNs: undefined }, flags);
    const job = new PushJob(files.length > 1 ? path : basename(path), context, flags, plan);
    const note = (message: string) => job.note(message);
    return job.run(pushPlan =>
      pushFollowed(path, pushPlan, { positions, fromEnd, clock: SYSTEM_CLOCK, stopping, note }),
    );
  });
  try {
    await Promise.all(following);
  } finally {
    await Promise.allSettled(following);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
}

function contextOf({ name, fileNs }: Pick<InputText, 'name' | 'fileNs'>, flags: PushFlags): InputContext {
  return { labels: streamLabels(name ?? STDIN, flags.label), fileNs, nowNs: SYSTEM_CLOCK.nowNs };
}

/** Reports the detected format. Silent for plain lines and for a format that was named. */
function reportFormat(name: string | undefined, format: FormatName, plan: ImportPlan): void {
  if (plan.format !== 'auto' || format === 'plain') return;
  report(
    `logboom: detected format of ${name ?? 'standard input'}: ${format} (to push the lines unchanged: --format plain)\n`,
  );
}

/** Pushes one input and reports its progress and result. */
class PushJob {
  readonly #name: string | undefined;
  readonly #context: InputContext;
  readonly #flags: PushFlags;
  readonly #plan: ImportPlan;
  readonly #progress: ProgressLine | undefined;
  #counts: ImportCounts | undefined;
  #format: FormatName = 'plain';

  constructor(
    name: string | undefined,
    context: InputContext,
    flags: PushFlags,
    plan: ImportPlan,
    totalBytes?: number,
  ) {
    this.#name = name;
    this.#context = context;
    this.#flags = flags;
    this.#plan = plan;
    const isShown = process.stderr.isTTY && !isKeptQuiet();
    this.#progress = isShown ? new ProgressLine(process.stderr, totalBytes) : undefined;
  }

  note(message: string): void {
    this.#progress?.clear();
    say(`logboom: ${message}\n`);
  }

  /** Throws CommandError. */
  async run(pushAll: (plan: PushPlan) => Promise<PushTotals>): Promise<void> {
    const context = this.#context;
    const flags = this.#flags;
    const progress = this.#progress;
    const retries = new RetryNotes(progress, message => this.note(message));
    const startMs = performance.now();
    try {
      const { lines, bytes } = await pushAll({
        store: flags,
        batches: input => this.#batches(input),
        retries: RESTART_RETRIES,
        onStored: totals => progress?.show(totals),
        onRetry: (problem, again) => retries.retry(problem, again),
        ...(flags.skipRefused && { onRefused: (problem, name) => this.#refused(problem, name) }),
      });
      const seconds = (performance.now() - startMs) / 1000;
      progress?.clear();
      retries.end();
      this.#reportCounts();
      const made = this.#counts === undefined ? '' : `: ${countsText(this.#counts, this.#format)}`;
      await print(
        `${summary({ lines, bytes, seconds })} as ${formatLabels(labelsOf(context.labels))}${made}\n`,
      );
    } catch (error) {
      throw isTooOld(error) ? new CommandError(`${(error as Error).message}${TOO_OLD_ADVICE}`) : error;
    } finally {
      progress?.clear();
    }
  }

  #batches(input: AsyncIterable<Buffer>): AsyncGenerator<EncodedBatch> {
    const context = this.#context;
    const flags = this.#flags;
    const plan = this.#plan;
    return inputBatches(input, {
      plan,
      context,
      batching: {
        batchBytes: flags.batchBytes,
        maxWaitMs: MAX_WAIT_MS,
        nowNs: SYSTEM_CLOCK.nowNs,
        // The next start reads the whole line.
        leavesOpenLine: flags.follow && flags.positions !== undefined,
      },
      onFormat: format => {
        this.#format = format;
        reportFormat(this.#name, format, plan);
      },
      onCounts: counts => {
        this.#counts = counts;
      },
    });
  }

  #refused(problem: string, name: string): void {
    process.exitCode = EXIT_FAILED;
    this.note(`${name} refused in whole or in part: ${problem}`);
  }

  #reportCounts(): void {
    const { unrecognized = 0, withoutTime = 0, skipped = 0 } = this.#counts ?? {};
    if (this.#format === 'plain') return;
    const of = this.#name === undefined ? '' : ` of ${this.#name}`;
    if (unrecognized > 0)
      report(`logboom: entries${of} that do not match the format ${this.#format}: ${unrecognized}\n`);
    if (skipped > 0) report(`logboom: entries${of} without a timestamp, skipped: ${skipped}\n`);
    else if (withoutTime > 0) {
      const rule = this.#plan.timeFallback ?? 'previous';
      report(`logboom: entries${of} without a timestamp (set by --time-fallback ${rule}): ${withoutTime}\n`);
    }
  }
}

const TOO_OLD_ADVICE =
  '; raise reject_old_samples_max_age for the tenant, or push with --format plain, which uses the time of reading';

function isTooOld(error: unknown): boolean {
  return error instanceof CommandError && /has timestamp too old/.test(error.message);
}

/** For example `98 entries, 2 streams, format json`. */
function countsText({ entries, streams }: ImportCounts, format: FormatName): string {
  return `${entriesText(entries)}, ${countText(streams, 'stream')}, format ${format}`;
}

/** For example `pushed 1200 lines, 96000 bytes in 0.25 s (384kB/s)`. */
export function summary({
  lines,
  bytes,
  seconds,
}: {
  lines: number;
  bytes: number;
  seconds: number;
}): string {
  const rate = formatByteSize(Math.round(bytes / Math.max(seconds, 0.001)));
  return `pushed ${countText(lines, 'line')}, ${bytes} bytes in ${seconds.toFixed(2)} s (${rate}/s)`;
}

/** Labels of the stream. Throws UsageError if there are none. */
export function streamLabels(
  file: string,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (file !== STDIN) return { filename: basename(file), ...given };
  if (Object.keys(given).length > 0) return given;
  throw new UsageError('a stream needs at least one label; for standard input, set one: --label app=NAME');
}

/** Adds one `name=value`. */
export function addLabel(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 0) throw new InvalidArgumentError('A label is written name=value, for example app=shop.');
  const name = text.slice(0, at);
  const value = text.slice(at + 1);
  if (!LABEL_NAME.test(name)) {
    throw new InvalidArgumentError(
      `A label name has letters, digits and underscores, and does not start with a digit; "${name}" is invalid.`,
    );
  }
  if (value === '') throw new InvalidArgumentError(`Label ${name} has no value.`);
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`Label ${name} is given twice.`);
  return { ...before, [name]: value };
}

export function parseBatchBytes(text: string): number {
  let bytes = 0;
  try {
    bytes = parseByteSize(text);
  } catch {
    // The error below lists the allowed values.
  }
  if (bytes < 1 || bytes > MAX_BATCH_BYTES) {
    throw new InvalidArgumentError(
      `A size is 1 to ${MAX_BATCH_BYTES} bytes, written like 1000000, 500KB or 2MiB.`,
    );
  }
  return bytes;
}
