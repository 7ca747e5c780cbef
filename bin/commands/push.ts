/** `logboom push FILE...`: text files, or standard input, to the store: a stream for each, a line an entry. */
import { basename } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatByteSize, parseByteSize } from '../../shared/base/model/byte-size.ts';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { systemClock } from '../../shared/base/runtime/system-clock.ts';
import { asAction, UsageError } from '../cli/command-error.ts';
import { inputSize, isPacked, openText } from '../cli/input-file.ts';
import { ProgressLine } from '../cli/progress-line.ts';
import { pushFollowed } from '../cli/push-follow.ts';
import { PUSH_RETRIES, type PushPlan, pushLines } from '../cli/push-lines.ts';
import { isKeptQuiet, print, say } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';

export interface PushFlags extends StoreFlags {
  readonly label: Readonly<Record<string, string>>;
  readonly batchBytes: number;
  readonly follow?: boolean;
  readonly fromEnd?: boolean;
  readonly positions?: string;
}

const STDIN = '-';
/** Small enough to try again, large enough that a batch's cost is its bytes. */
const DEFAULT_BATCH_BYTES = 1_000_000;
/** A body is held twice, as text and compressed, and stores refuse bodies over 100 MiB. */
const MAX_BATCH_BYTES = 64 * 1024 * 1024;
/** A line that somebody types, or `tail -f` prints, is in the store after this time. */
const MAX_WAIT_MS = 1000;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const NOTES = `
Each line becomes an entry; LF and CR LF end a line. Timestamps start now and rise by a nanosecond or more, so equal
lines stay apart and keep their order. Bytes that are not UTF-8 become U+FFFD. Files that end in .gz or .zst are unpacked.

A file gets the label filename (its name without folders) unless --label filename=... says otherwise; standard input
needs at least one --label.

Refused batches (4xx) end the push with exit code 1 and the store's message; what is stored by then stays. Too many
requests (429), server errors (5xx) and broken connections are tried again, for half a minute.

With --follow the file is read on as it grows, until Ctrl-C: one that was moved away is read to its end, then the new one of
its name; one that was cut from its start. The store is tried again for as long as it takes; a batch that it refuses (400,
413, 422) is told and left out. --positions remembers how far it is, so that a push that starts again goes on there.

Examples:
  logboom push app.log --label app=shop --label env=prod
  logboom push /var/log/app.log.*.gz --label app=shop
  logboom push --follow /var/log/app.log --label app=shop --positions /var/lib/logboom/positions.json
  journalctl -f -o cat | logboom push - --label job=journal`;

export function register(program: Command): void {
  const command = program
    .command('push')
    .description('push the lines of text files')
    .argument('<files...>', 'text files, or - for standard input')
    .addOption(
      new Option('-l, --label <name=value>', 'label of the stream, may be given several times')
        .argParser(addLabel)
        .default({}, 'filename=<name of the file>'),
    )
    .addOption(
      new Option('--batch-bytes <size>', 'size of one request before compression, for example 500KB')
        .argParser(parseBatchBytes)
        .default(DEFAULT_BATCH_BYTES, formatByteSize(DEFAULT_BATCH_BYTES)),
    )
    .addOption(new Option('-f, --follow', 'go on with what is added to the file, until it is stopped'))
    .addOption(new Option('--from-end', 'with --follow: leave out what is in the file already'))
    .addOption(
      new Option('--positions <file>', 'with --follow: remembers how far it is').env('LOGBOOM_POSITIONS'),
    );
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(push));
}

async function push(files: readonly string[], flags: PushFlags): Promise<void> {
  const [first, ...others] = files;
  if (!flags.follow) {
    if (flags.fromEnd) throw new UsageError('--from-end is for --follow');
    for (const file of files) await pushOne(file, flags);
    return;
  }
  if (others.length > 0) throw new UsageError('--follow takes one file; start another push for each');
  if (first === STDIN)
    throw new UsageError('--follow takes a file; standard input is followed to its end anyway');
  await pushOne(first, flags);
}

async function pushOne(file: string, flags: PushFlags): Promise<void> {
  const labels = streamLabels(file, flags.label);
  const isFollowed = flags.follow === true;
  const fileBytes = isFollowed || file === STDIN ? undefined : await inputSize(file);
  const progress =
    process.stderr.isTTY && !isKeptQuiet()
      ? new ProgressLine(process.stderr, isPacked(file) ? undefined : fileBytes)
      : undefined;
  const note = (message: string) => {
    progress?.clear();
    say(`logboom: ${message}\n`);
  };
  const plan: PushPlan = {
    store: flags,
    labels,
    batching: { batchBytes: flags.batchBytes, maxWaitMs: MAX_WAIT_MS, nowNs: systemClock.nowNs },
    retries: PUSH_RETRIES,
    onStored: totals => progress?.show(totals),
    onRetry: note,
  };
  const startMs = performance.now();
  try {
    const { positions, fromEnd } = flags;
    const { lines, bytes } = isFollowed
      ? await pushFollowed(file, plan, { positions, fromEnd, clock: systemClock, note })
      : await pushLines(file === STDIN ? process.stdin : openText(file), plan);
    const seconds = (performance.now() - startMs) / 1000;
    progress?.clear();
    await print(`${summary({ lines, bytes, seconds })} as ${formatLabels(labelsOf(labels))}\n`);
  } finally {
    progress?.clear();
  }
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
  return `pushed ${lines} ${lines === 1 ? 'line' : 'lines'}, ${bytes} bytes in ${seconds.toFixed(2)} s (${rate}/s)`;
}

/** The labels of the stream. Throws UsageError where there are none. */
export function streamLabels(
  file: string,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (file !== STDIN) return { filename: basename(file), ...given };
  if (Object.keys(given).length > 0) return given;
  throw new UsageError('a stream needs at least one label; for standard input give one: --label app=NAME');
}

/** One more `name=value`. */
export function addLabel(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 0) throw new InvalidArgumentError('A label is written name=value, for example app=shop.');
  const name = text.slice(0, at);
  const value = text.slice(at + 1);
  if (!LABEL_NAME.test(name)) {
    throw new InvalidArgumentError(
      `A label's name has letters, digits and underscores and no digit in front; "${name}" is none.`,
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
    // Told below, with what is allowed.
  }
  if (bytes < 1 || bytes > MAX_BATCH_BYTES) {
    throw new InvalidArgumentError(
      `A size from 1 to ${MAX_BATCH_BYTES} bytes is written like 1000000, 500KB or 2MiB.`,
    );
  }
  return bytes;
}
