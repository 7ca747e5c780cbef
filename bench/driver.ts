/**
 * Runs the given driver (drive.mjs, see its README) against a new store, and shows its figures next to its
 * measurements of the reference. The calibration shows if the machine had the same speed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';

/** Shown fields of the driver's result. */
interface DriverResult {
  readonly ingest: {
    readonly corpus: { readonly rawBytes: number };
    readonly MBps: number;
    readonly linesPerSec: number;
    readonly pushMs: { readonly p50: number; readonly p95: number; readonly p99: number };
    readonly cpuSeconds: { readonly perGB: number } | null;
    readonly peakRssMB: { readonly vmHwm: number } | null;
    readonly failedPushes: number;
    readonly otherWorkCores: number | null;
    readonly diskRightAfter: { readonly MB: number } | null;
    readonly calibration: Calibration | null;
  };
  readonly queryRightAfterIngest: SuiteResult;
  /** Measured after a flush. */
  readonly query?: SuiteResult;
  readonly flush?: {
    readonly cpuPerGB: number | null;
    readonly peakRssMB: number | null;
    readonly disk: { readonly MB: number } | null;
  };
}

interface Calibration {
  readonly gunzip: { readonly best: number };
  readonly indexOf: { readonly best: number };
  readonly jsonParse: { readonly best: number };
  readonly fsyncMs: { readonly p50: number };
}

interface SuiteResult {
  readonly queries: Readonly<Record<string, QueryFigures>>;
  readonly concurrency?: { readonly perSecond: number; readonly p50Ms: number; readonly p95Ms: number };
  readonly peakRssMB?: number;
}

interface QueryFigures {
  readonly firstMs: number | null;
  readonly medianMs: number | null;
  readonly cpuMs: number | null;
  readonly digest: Readonly<Record<string, number | string>>;
  /** True if the response matches the corpus. */
  readonly expected: boolean | null;
  readonly error?: string;
}

const HEAD = ['', 'Logboom', 'reference', 'ratio', ''];
const QUERY_HEAD = [
  '',
  'first ms',
  'median ms',
  'cpu ms',
  'reference',
  'ratio',
  'flushed',
  'reference',
  'ratio',
  'answer',
];
const OTHER_DATA =
  'The reference was measured with another amount of data, so the figures cannot be compared.';
/** Maximum relative difference of equal numbers in digests. */
const DIGEST_TOLERANCE = 1e-6;
const EXACT_BY_SPEC = new Set(['index_stats', 'index_volume']);

interface MeasuredRun {
  readonly result: unknown;
  readonly table: string;
}

/** @param folder folder of the driver; @param flags passed to it */
export async function runDriver(folder: string, mb: number, flags: readonly string[]): Promise<MeasuredRun> {
  const result = await withStore(async ({ server, dataDir, folder: files }) => {
    const [out, meta] = [join(files, 'result.json'), join(files, 'meta.json')];
    const common = ['--url', server.url, '--pid', `${server.pid}`, '--meta', meta, '--out', out, ...flags];
    const like = ['--like', join(folder, 'corpus-512.json'), '--mb', `${mb}`];
    const ingest = ['--format', 'proto', '--connections', '4', '--data-dir', dataDir, '--name', 'Logboom'];
    await drive(folder, ['ingest', ...common, ...like, ...ingest]);
    await drive(folder, ['query', ...common, '--section', 'queryRightAfterIngest']);
    await drive(folder, ['flush', ...common, '--data-dir', dataDir, '--flush']);
    await drive(folder, ['query', ...common]);
    return JSON.parse(readFileSync(out, 'utf8')) as DriverResult;
  });
  const reference = JSON.parse(readFileSync(join(folder, 'reference-figures.json'), 'utf8')) as DriverResult;
  const tables = [mainTable(result, reference), queryTable(result, reference)];
  if (!isSameData(result, reference)) tables.push(OTHER_DATA);
  return { result, table: tables.join('\n\n') };
}

async function drive(folder: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [join(folder, 'drive.mjs'), ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the driver ended with ${code}`);
}

function mainTable(result: DriverResult, reference: DriverResult): string {
  const rows: [string, (from: DriverResult) => number | null | undefined, string][] = [
    ['ingest MB/s', from => from.ingest.MBps, 'higher is better'],
    ['ingest lines/s', from => from.ingest.linesPerSec, ''],
    ['push p50 ms', from => from.ingest.pushMs.p50, ''],
    ['push p95 ms', from => from.ingest.pushMs.p95, ''],
    ['push p99 ms', from => from.ingest.pushMs.p99, ''],
    ['ingest CPU s/GB', from => from.ingest.cpuSeconds?.perGB, ''],
    ['peak RSS MB, ingest', from => from.ingest.peakRssMB?.vmHwm, ''],
    ['peak RSS MB, queries', from => from.queryRightAfterIngest.peakRssMB, ''],
    ['disk MB right after', from => from.ingest.diskRightAfter?.MB, ''],
    ['disk MB after flush', from => from.flush?.disk?.MB, 'the reference: with its write-ahead log'],
    ['flush CPU s/GB', from => from.flush?.cpuPerGB, ''],
    ['peak RSS MB, flush', from => from.flush?.peakRssMB, ''],
    ['failed pushes', from => from.ingest.failedPushes, ''],
    ['dashboard queries/s', from => from.queryRightAfterIngest.concurrency?.perSecond, 'higher is better'],
    ['dashboard p50 ms', from => from.queryRightAfterIngest.concurrency?.p50Ms, ''],
    ['dashboard p95 ms', from => from.queryRightAfterIngest.concurrency?.p95Ms, ''],
    ['raw data MB', from => from.ingest.corpus.rawBytes / 1e6, 'what was ingested'],
    ['calibration gunzip MB/s', from => from.ingest.calibration?.gunzip.best, 'the machine'],
    ['calibration indexOf MB/s', from => from.ingest.calibration?.indexOf.best, 'the machine'],
    ['calibration JSON MB/s', from => from.ingest.calibration?.jsonParse.best, 'the machine'],
    ['calibration fsync p50 ms', from => from.ingest.calibration?.fsyncMs.p50, 'the machine'],
    ['work of others, cores', from => from.ingest.otherWorkCores, 'over 0.2: doubtful'],
  ];
  return formatTable(
    HEAD,
    rows.map(([name, figure, note]): Cell[] => {
      const [ours, theirs] = [figure(result), figure(reference)];
      return [name, ours, theirs, ratio(ours, theirs), note];
    }),
  );
}

function isSameData(result: DriverResult, reference: DriverResult): boolean {
  return result.ingest.corpus.rawBytes === reference.ingest.corpus.rawBytes;
}

/** Reference medians right after ingest, and after its flush if it was measured again. */
function queryTable(result: DriverResult, reference: DriverResult): string {
  const sameData = isSameData(result, reference);
  const ours = Object.entries(result.queryRightAfterIngest.queries);
  return formatTable(
    QUERY_HEAD,
    ours.map(([name, figures]): Cell[] => {
      const theirs = reference.queryRightAfterIngest.queries[name];
      const { firstMs, medianMs, cpuMs } = figures;
      const flushed = result.query?.queries[name];
      const theirsFlushed = reference.query?.queries[name]?.medianMs;
      const answers = [figures, ...(flushed === undefined ? [] : [flushed])].map(ofOurs =>
        judge(name, ofOurs, sameData ? theirs : undefined),
      );
      const answer = [...new Set(answers)].join(', then ');
      return [
        name,
        firstMs,
        medianMs,
        cpuMs,
        theirs?.medianMs,
        ratio(medianMs, theirs?.medianMs),
        flushed?.medianMs,
        theirsFlushed,
        ratio(flushed?.medianMs, theirsFlushed),
        answer,
      ];
    }),
  );
}

/** Verdict on a response: compared with the corpus, and with the reference. */
function judge(
  name: string,
  { error, expected, digest }: QueryFigures,
  theirs: QueryFigures | undefined,
): string {
  if (error !== undefined) return `ERROR ${error.slice(0, 60)}`;
  if (expected === false) return 'WRONG';
  if (theirs === undefined) return expected ? 'right' : '';
  if (Object.keys(theirs.digest).every(key => isSame(digest[key], theirs.digest[key]))) return 'agrees';
  return EXACT_BY_SPEC.has(name) ? 'estimated there' : 'DIFFERS';
}

function isSame(a: number | string | undefined, b: number | string): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  return Math.abs(a - b) <= DIGEST_TOLERANCE * Math.max(1, Math.abs(a), Math.abs(b));
}

function ratio(ours: number | null | undefined, theirs: number | null | undefined): number | null {
  return typeof ours === 'number' && typeof theirs === 'number' && theirs !== 0 ? ours / theirs : null;
}
