/**
 * Reads entries as bytes that the store has formatted, response by response in time order, while the next responses are on their way. The
 * store formats them, because parsing each entry here would cost more than the rest of the export. Stores without this endpoint, such as
 * Loki, get range queries for pages instead.
 *
 *     written | response being written | responses received or requested: `parallel` in total | later windows
 */
import { BufferPool } from '../../../shared/base/model/buffer-pool.ts';
import { CommandError } from '../command-error.ts';
import { persistently, type TimeWindow } from '../migrate/log-source.ts';
import { endpoint, fetchBytes, refusal, type StoreFlags } from '../store-client.ts';
import { WindowCutter } from './window-cutter.ts';

const PATH = '/loki/api/v1/export';
const REQUEST_TIMEOUT_MS = 600_000;
/** Target bytes of lines in a response. Larger responses read fewer pages twice, and need more memory on both sides. */
const WANTED_BYTES = 32 * 1024 * 1024;
/** Approximate bytes of lines in all responses together. */
const BYTES_OF_ALL_ANSWERS = 96 * 1024 * 1024;
/** Limit of a response, as a multiple of its target, because logs come in bursts. */
const MAX_FACTOR = 1.5;
/** Minimum target: responses of functions are limited to 6 MB, so the target may shrink to this size. */
const MIN_BYTES = 256 * 1024;
const TOO_LARGE = /too large for this deployment/;

/** All files but those of lines alone are made from `columns`. */
export type WireFormat = 'text' | 'columns';

export interface ExportedBytes {
  readonly entries: number;
  /** Valid until the next piece is requested. */
  readonly body: readonly Buffer[];
}

export interface ExportedPiece extends ExportedBytes {
  /** Index of its part. */
  readonly part: number;
  /** True for the last piece of its part. */
  readonly endsPart: boolean;
  /** Time range of which all entries are complete with this piece, Unix ns. */
  readonly completes: TimeWindow;
}

interface ExportPlan {
  readonly query: string;
  /** Time ranges in order. No response has entries of two parts. */
  readonly parts: readonly TimeWindow[];
  readonly format: WireFormat;
  /** Concurrent requests. */
  readonly parallel: number;
  /** Target bytes of lines in a response. Default: WANTED_BYTES. */
  readonly wantedBytes?: number;
}

/** The store has no export endpoint. */
export class NoExportError extends CommandError {}

interface ReceivedWindow extends ExportedBytes {
  readonly bytes: number;
  /** Start of the rest of the window, if the response does not complete it. */
  readonly nextNs: bigint | undefined;
}

/** All entries in order. Throws NoExportError before the first answer, and CommandError. */
export async function* exportedPieces(
  store: StoreFlags,
  { query, parts, format, parallel, wantedBytes = WANTED_BYTES }: ExportPlan,
): AsyncGenerator<ExportedPiece> {
  const cutter = new WindowCutter(parts);
  let wanted = Math.min(wantedBytes, Math.floor(BYTES_OF_ALL_ANSWERS / parallel));

  async function answerTo(window: TimeWindow): Promise<ReceivedWindow> {
    for (;;) {
      const asked = wanted;
      const bytes = Math.floor(asked * MAX_FACTOR);
      const answered = await fetchExport(store, { query, window, format, bytes });
      if (answered !== undefined) {
        const { startNs, endNs } = window;
        cutter.learn({ startNs, endNs: answered.nextNs ?? endNs }, answered.bytes, asked);
        return answered;
      }
      if (asked <= MIN_BYTES)
        throw new CommandError(
          'the store cannot return 256 KiB of lines in a response; raise its time and memory limits for queries',
        );
      wanted = Math.min(wanted, Math.max(MIN_BYTES, Math.floor(asked / 2)));
    }
  }

  const ahead: {
    readonly of: NonNullable<ReturnType<WindowCutter['next']>>;
    answer: Promise<ReceivedWindow>;
  }[] = [];
  const fill = () => {
    while (ahead.length < parallel) {
      const of = cutter.next();
      if (of === undefined) return;
      const answer = answerTo(of.window);
      // The error is thrown when this response is due.
      answer.catch(() => undefined);
      ahead.push({ of, answer });
    }
  };
  for (fill(); ahead.length > 0; fill()) {
    const [{ of, answer }] = ahead;
    let { nextNs, ...answered } = await answer;
    ahead.shift();
    const { part, endsPart, window } = of;
    let { startNs } = window;
    while (nextNs !== undefined) {
      yield { ...answered, part, endsPart: false, completes: { startNs, endNs: nextNs } };
      releaseBody(answered);
      startNs = nextNs;
      ({ nextNs, ...answered } = await answerTo({ startNs, endNs: window.endNs }));
    }
    yield { ...answered, part, endsPart, completes: { startNs, endNs: window.endNs } };
    releaseBody(answered);
  }
}

/** Reuses the memory of bodies, which have similar sizes. Otherwise the garbage collector would have to free each of them. */
const BODIES = new BufferPool(BYTES_OF_ALL_ANSWERS);

function releaseBody({ body }: ExportedBytes): void {
  for (const piece of body) BODIES.give(piece);
}

/** Returns undefined if the response would be too large for the deployment. */
function fetchExport(
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
): Promise<ReceivedWindow | undefined> {
  const url = endpoint(store, PATH);
  const params = { query, start: `${startNs}`, end: `${endNs}`, format, bytes: `${bytes}` };
  url.search = new URLSearchParams(params).toString();
  return persistently(async () => {
    const { body, ...rest } = await fetchBytes(
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
    // Another server that responds with 200 to every path.
    if (entries === null) throw new NoExportError('the store has no endpoint for exports');
    const next = rest.headers.get('x-logboom-next');
    const nextNs = next === null ? undefined : BigInt(next);
    if (nextNs !== undefined && nextNs <= startNs)
      throw new CommandError(
        `unexpected response: the export began at ${startNs} and continues at ${nextNs}; check that --addr points to a Logboom server`,
      );
    const lineBytes = rest.headers.get('x-logboom-bytes');
    const bodyBytes = body.reduce((sum, { length }) => sum + length, 0);
    return { entries: Number(entries), body, bytes: Number(lineBytes ?? bodyBytes), nextNs };
  });
}
