/**
 * Entries as the store writes them: bytes of a file, answer by answer in the order of time, with the next answers under way. The store writes
 * them because parsing each entry here would cost more than all the rest. Stores without the endpoint, such as Loki, are asked for pages of a
 * range query instead.
 *
 *     written | answer that is written | answers that are here or under way: `parallel` in all | windows to come
 */
import { BufferPool } from '../../../shared/base/model/buffer-pool.ts';
import { CommandError } from '../command-error.ts';
import { persistently, type TimeWindow } from '../migrate/log-source.ts';
import { askBytes, endpoint, refusal, type StoreFlags } from '../store-client.ts';
import { WindowCutter } from './window-cutter.ts';

const PATH = '/loki/api/v1/export';
const REQUEST_TIMEOUT_MS = 600_000;
/** Lines that an answer should have. Larger answers read fewer pages twice, and take more memory here and there. */
const WANTED_BYTES = 32 * 1024 * 1024;
/** Bytes of lines that all answers hold together, about. */
const BYTES_OF_ALL_ANSWERS = 96 * 1024 * 1024;
/** Where the store ends an answer, by what it should have: logs come in bursts. */
const MAX_FACTOR = 1.5;
/** Functions cannot answer with more than 6 MB. Below this, an answer is not made smaller. */
const MIN_BYTES = 256 * 1024;
const TOO_LARGE = /too large for this deployment/;

/** `jsonl` is what Parquet files are made of, too. */
export type WireFormat = 'text' | 'jsonl' | 'csv';

export interface ExportedBytes {
  readonly entries: number;
  /** Of use until the next answer is asked for. */
  readonly body: readonly Buffer[];
}

export interface ExportedPiece extends ExportedBytes {
  /** Place of its part. */
  readonly part: number;
  /** The last answer of its part. */
  readonly endsPart: boolean;
  /** All entries before it are there, Unix ns. */
  readonly endNs: bigint;
}

export interface ExportRequest {
  readonly query: string;
  /** In the order of time. No answer has entries of two of them. */
  readonly parts: readonly TimeWindow[];
  readonly format: WireFormat;
  /** Answers at once. */
  readonly parallel: number;
  /** Lines that an answer should have; default: as many as pays. */
  readonly wantedBytes?: number;
}

/** The store does not know the endpoint. */
export class NoExportError extends CommandError {}

interface Answered extends ExportedBytes {
  readonly bytes: number;
  /** Where it ends if the window goes on. */
  readonly nextNs: bigint | undefined;
}

/** All entries in order. Throws NoExportError before the first answer, and CommandError. */
export async function* exportedPieces(
  store: StoreFlags,
  { query, parts, format, parallel, wantedBytes = WANTED_BYTES }: ExportRequest,
): AsyncGenerator<ExportedPiece> {
  const cutter = new WindowCutter(parts);
  let wanted = Math.min(wantedBytes, Math.floor(BYTES_OF_ALL_ANSWERS / parallel));

  async function answerTo(window: TimeWindow): Promise<Answered> {
    for (;;) {
      const asked = wanted;
      const bytes = Math.floor(asked * MAX_FACTOR);
      const answered = await askExport(store, { query, window, format, bytes });
      if (answered !== undefined) {
        const { startNs, endNs } = window;
        cutter.learn({ startNs, endNs: answered.nextNs ?? endNs }, answered.bytes, asked);
        return answered;
      }
      if (asked <= MIN_BYTES) throw new CommandError('the store cannot answer with 256 KiB of lines');
      wanted = Math.min(wanted, Math.max(MIN_BYTES, Math.floor(asked / 2)));
    }
  }

  const ahead: { readonly of: NonNullable<ReturnType<WindowCutter['next']>>; answer: Promise<Answered> }[] =
    [];
  const fill = () => {
    while (ahead.length < parallel) {
      const of = cutter.next();
      if (of === undefined) return;
      const answer = answerTo(of.window);
      // Who fails is told when its turn comes.
      answer.catch(() => undefined);
      ahead.push({ of, answer });
    }
  };
  for (fill(); ahead.length > 0; fill()) {
    const [{ of, answer }] = ahead;
    let { nextNs, ...answered } = await answer;
    ahead.shift();
    const { part, endsPart, window } = of;
    while (nextNs !== undefined) {
      const startNs: bigint = nextNs;
      yield { ...answered, part, endsPart: false, endNs: startNs };
      giveBack(answered);
      ({ nextNs, ...answered } = await answerTo({ startNs, endNs: window.endNs }));
    }
    yield { ...answered, part, endsPart, endNs: window.endNs };
    giveBack(answered);
  }
}

/** Bodies are as large as each other: without it the collector would have to find each of them. */
const BODIES = new BufferPool(BYTES_OF_ALL_ANSWERS);

function giveBack({ body }: ExportedBytes): void {
  for (const piece of body) BODIES.give(piece);
}

/** Undefined if the answer would be too large for the deployment. */
function askExport(
  store: StoreFlags,
  {
    query,
    window: { startNs, endNs },
    format,
    bytes,
  }: {
    readonly query: string;
    readonly window: TimeWindow;
    readonly format: WireFormat;
    readonly bytes: number;
  },
): Promise<Answered | undefined> {
  const url = endpoint(store, PATH);
  const params = { query, start: `${startNs}`, end: `${endNs}`, format, bytes: `${bytes}` };
  url.search = new URLSearchParams(params).toString();
  return persistently(async () => {
    const { body, ...rest } = await askBytes(
      store,
      url,
      { method: 'GET', timeoutMs: REQUEST_TIMEOUT_MS },
      BODIES,
    );
    if (rest.status !== 200) {
      const text = Buffer.concat(body).toString('utf8');
      if (rest.status === 404 || rest.status === 405) throw new NoExportError(refusal({ ...rest, text }));
      if (TOO_LARGE.test(text)) return undefined;
      throw new CommandError(refusal({ ...rest, text }));
    }
    const entries = rest.headers.get('x-logboom-entries');
    // Some other server that has an answer for every path.
    if (entries === null) throw new NoExportError('the store has no endpoint for exports');
    const next = rest.headers.get('x-logboom-next');
    const nextNs = next === null ? undefined : BigInt(next);
    if (nextNs !== undefined && nextNs <= startNs)
      throw new CommandError(`unexpected response: an export that began at ${startNs} goes on at ${nextNs}`);
    const lineBytes = rest.headers.get('x-logboom-bytes');
    const bodyBytes = body.reduce((sum, { length }) => sum + length, 0);
    return { entries: Number(entries), body, bytes: Number(lineBytes ?? bodyBytes), nextNs };
  });
}
