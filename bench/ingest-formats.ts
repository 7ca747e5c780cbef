/**
 * `npm run bench -- ingest`: cost of a push in each format that agents use, with the project's own corpus:
 * CPU of the server per GB of lines, from the body on the socket to durable storage. Bodies are created
 * before the clock starts; every format has its own store.
 *
 * Pitfall: the bodies of a GB do not fit in this process's memory, so a pass sends a set of them for one
 * tenant after the other. To the server every round is new: streams, days, records and push IDs belong to
 * another tenant.
 */
import { readFileSync } from 'node:fs';
import { createClient, type HttpClient } from '../test/end-to-end/support/client.ts';
import {
  JSON_TYPE,
  jsonPush,
  PROTOBUF_TYPE,
  type PushedStream,
  snappyPush,
} from '../test/end-to-end/support/push.ts';
import { protobufOf } from '../test/ingest/otlp/otlp-schema.ts';
import { generateBatches } from './corpus.ts';
import {
  type Calibration,
  calibrationTable,
  measureMachine,
  referenceMachine,
} from './ingest-calibration.ts';
import { withStore } from './store.ts';
import { type Cell, formatTable } from './table.ts';

interface FormatFigures {
  readonly format: string;
  /** 0: new process, including compilation; 1: same process, warmed up. */
  readonly pass: number;
  /** MB of lines. */
  readonly mb: number;
  readonly bodyMb: number;
  readonly mbPerSecond: number;
  readonly cpuSecondsPerGb: number | null;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Format {
  readonly name: string;
  readonly path: string;
  readonly contentType: string;
  encode(streams: readonly PushedStream[]): Uint8Array;
}

const CONNECTIONS = 4;
const PASSES = 2;
/** Lines of the bodies held at once; JSON bodies are 1.3 times as large. */
const ROUND_MB = 125;
/** Ticks of CPU times in /proc, the value of `getconf CLK_TCK` on every Linux. */
const TICKS_PER_SECOND = 100;

const FORMATS: readonly Format[] = [
  { name: 'protobuf', path: '/loki/api/v1/push', contentType: PROTOBUF_TYPE, encode: snappyPush },
  {
    name: 'json',
    path: '/loki/api/v1/push',
    contentType: JSON_TYPE,
    encode: streams => Buffer.from(jsonPush(streams)),
  },
  { name: 'otlp', path: '/otlp/v1/logs', contentType: PROTOBUF_TYPE, encode: otlpPush },
];

interface FormatsResult {
  readonly formats: readonly FormatFigures[];
  /** Present if the driver is given. */
  readonly calibration: Calibration | undefined;
}

/** @param driver folder of the driver that calibrates the machine; may be missing */
export async function runFormats(
  mb: number,
  driver: string,
): Promise<{ result: FormatsResult; table: string }> {
  const before = measureMachine(driver);
  const formats: FormatFigures[] = [];
  for (const format of FORMATS) formats.push(...(await measure(format, mb)));
  const after = measureMachine(driver);
  const calibration =
    before === undefined || after === undefined
      ? undefined
      : { before, after, reference: referenceMachine(driver) };
  const rows = formats.map((of): Cell[] => [
    of.pass === 0 ? of.format : `${of.format}, warm`,
    of.mb,
    of.bodyMb,
    of.mbPerSecond,
    of.cpuSecondsPerGb,
    of.p50Ms,
    of.p99Ms,
  ]);
  const head = ['', 'lines MB', 'bodies MB', 'MB/s', 'CPU s/GB', 'p50 ms', 'p99 ms'];
  const tables = [formatTable(head, rows)];
  if (calibration !== undefined) tables.push(calibrationTable(calibration));
  return { result: { formats, calibration }, table: tables.join('\n\n') };
}

/** Pushes `mb` megabytes of lines in a new process, then the same amount again in that process. */
async function measure(format: Format, mb: number): Promise<FormatFigures[]> {
  const rounds = Math.max(1, Math.round(mb / ROUND_MB));
  const bodies: Uint8Array[] = [];
  let bytes = 0;
  for (const batch of generateBatches(mb / rounds)) {
    bodies.push(format.encode(batch.streams));
    bytes += batch.bytes * rounds;
  }
  const bodyBytes = bodies.reduce((sum, body) => sum + body.length, 0) * rounds;
  return withStore(async ({ server }) => {
    const client = createClient(server.url);
    const figures: FormatFigures[] = [];
    for (let pass = 0; pass < PASSES; pass++) {
      const before = cpuSecondsOf(server.pid);
      const startMs = performance.now();
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) {
        await pushAll(client, format, bodies, `bench-${pass}-${round}`, times);
      }
      const seconds = (performance.now() - startMs) / 1000;
      const after = cpuSecondsOf(server.pid);
      times.sort((a, b) => a - b);
      figures.push({
        format: format.name,
        pass,
        mb: bytes / 1e6,
        bodyMb: bodyBytes / 1e6,
        mbPerSecond: bytes / 1e6 / seconds,
        cpuSecondsPerGb: before === null || after === null ? null : (after - before) / (bytes / 1e9),
        p50Ms: times[Math.floor(times.length / 2)],
        p99Ms: times[Math.floor(times.length * 0.99)],
      });
    }
    client.close();
    return figures;
  });
}

/** Adds the milliseconds of each push to `times`. */
async function pushAll(
  client: HttpClient,
  format: Format,
  bodies: readonly Uint8Array[],
  tenant: string,
  times: number[],
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < bodies.length; i = next++) {
      const startMs = performance.now();
      const { status, text } = await client.send({
        method: 'POST',
        path: format.path,
        headers: { 'content-type': format.contentType, 'x-scope-orgid': tenant },
        body: bodies[i],
      });
      times.push(performance.now() - startMs);
      if (status !== 204) throw new Error(`a push was answered ${status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

/**
 * Push as a collector sends it: a resource for each stream, whose attributes become labels; lines as bodies.
 */
function otlpPush(streams: readonly PushedStream[]): Uint8Array {
  return protobufOf({
    resourceLogs: streams.map(({ labels, entries }) => ({
      resource: {
        attributes: [
          { key: 'service.name', value: { stringValue: labels.app } },
          { key: 'deployment.environment.name', value: { stringValue: labels.env } },
        ],
      },
      scopeLogs: [
        {
          logRecords: entries.map(({ ns, line }) => ({ timeUnixNano: `${ns}`, body: { stringValue: line } })),
        },
      ],
    })),
  });
}

/** User and system time of a process, if the system reports it (Linux). */
function cpuSecondsOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain spaces; the times are the 12th and 13th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}
