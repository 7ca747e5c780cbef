/**
 * Pages of lines of a query: the first page when the query changes, further ones near the end of the list.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, isAbort } from '../../api/errors.ts';
import { fetchLogs, nsOf } from '../../api/queries.ts';
import type { Statistics } from '../../api/types.ts';
import { nextPage, PAGE_ENTRIES } from '../../lines/next-page.ts';
import { type LogRow, logRowsOf, withPage } from '../../lines/rows.ts';
import { type NsRange, searchedShare, searchWindows } from '../../lines/search-windows.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import type { Order } from './logs-state.ts';
import type { Searched } from './search-progress.tsx';

export interface LogPages {
  readonly rows: readonly LogRow[];
  readonly loading: boolean;
  readonly error: ApiError | undefined;
  /** True if the range has no further lines. */
  readonly complete: boolean;
  /** True if the page holds no more lines, although there may be more. */
  readonly full: boolean;
  /**
   * True if more lines share the last timestamp than one request returns, so that later lines cannot be
   * loaded.
   */
  readonly stuck: boolean;
  /** True if the query was stopped before its response arrived. */
  readonly stopped: boolean;
  /** Progress of the first page, while it is searched in parts. */
  readonly searched: Searched | undefined;
  /** Statistics of the first page. */
  readonly statistics: Statistics['summary'] | undefined;
  loadMore(): void;
  /** Aborts the request. */
  stop(): void;
  /** Continues after a stop. */
  resume(): void;
}

/**
 * Maximum number of rows. Each takes about a kilobyte of the browser's memory. Beyond it, the page asks the
 * user to narrow the range.
 */
export const MAX_ROWS = 100_000;

type LogPagesState = Omit<LogPages, 'loadMore' | 'stop' | 'resume'>;

const EMPTY: LogPagesState = {
  rows: [],
  loading: false,
  error: undefined,
  complete: false,
  full: false,
  stuck: false,
  stopped: false,
  searched: undefined,
  statistics: undefined,
};

/** @param query undefined if there is nothing to load */
export function useLogPages(
  query: string | undefined,
  range: ResolvedRange | undefined,
  order: Order,
): LogPages {
  const [state, setState] = useState<LogPagesState>(EMPTY);
  const now = useRef(state);
  now.current = state;
  const controller = useRef(new AbortController());

  const load = useCallback(
    async (before: LogPagesState, shown: readonly LogRow[] = before.rows) => {
      if (query === undefined || range === undefined) return;
      const { signal } = controller.current;
      const newestFirst = order === 'newest';
      const direction = newestFirst ? 'backward' : 'forward';
      const whole = { startNs: nsOf(range.fromMs), endNs: nsOf(range.toMs) };
      const ask = async (asked: NsRange & { readonly limit: number }) => {
        const { data } = await fetchLogs({ query, ...asked, direction }, signal);
        signal.throwIfAborted();
        const page = data.resultType === 'streams' ? logRowsOf(data.result, newestFirst) : [];
        return { page, summary: data.stats.summary };
      };

      /** Parts share no timestamp, so their rows need no comparison. */
      const loadFirst = async () => {
        const parts = searchWindows(whole, newestFirst);
        let state: LogPagesState = { ...EMPTY, loading: true };
        for (const [i, part] of parts.entries()) {
          const limit = PAGE_ENTRIES - state.rows.length;
          const { page, summary } = await ask({ ...part, limit });
          const isLast = page.length >= limit || i === parts.length - 1;
          const statistics = summed(state.statistics, summary);
          state = {
            ...state,
            rows: state.rows.length === 0 ? page : [...state.rows, ...page],
            loading: !isLast,
            complete: isLast && page.length < limit,
            searched: isLast
              ? undefined
              : {
                  share: searchedShare(whole, part, newestFirst),
                  bytes: statistics.totalBytesProcessed,
                  done: i + 1,
                  parts: parts.length,
                },
            statistics,
          };
          setState(state);
          if (isLast) return;
        }
      };

      const loadNext = async () => {
        const { rows } = before;
        const asked = nextPage(rows, whole, newestFirst);
        if (asked === undefined) return setState({ ...before, loading: false, stuck: true });
        const { page } = await ask(asked);
        const together = withPage(rows, page);
        setState({
          ...before,
          rows: together,
          loading: false,
          complete: page.length < asked.limit,
          full: together.length >= MAX_ROWS,
          stuck: page.length >= asked.limit && together.length === rows.length,
        });
      };

      setState({ ...before, rows: shown, loading: true, stopped: false });
      try {
        await (before.rows.length === 0 ? loadFirst() : loadNext());
      } catch (error) {
        if (isAbort(error) || signal.aborted) return;
        setState({ ...now.current, loading: false, searched: undefined, error: error as ApiError });
      }
    },
    [query, range, order],
  );

  const asked = useRef('');
  useEffect(() => {
    controller.current = new AbortController();
    const key = JSON.stringify([query, order]);
    // Same query in a range that moved: its lines stay until the new ones arrive.
    const shown = key === asked.current ? now.current.rows : [];
    asked.current = key;
    if (query === undefined) setState(EMPTY);
    else load(EMPTY, shown);
    return () => controller.current.abort();
  }, [load, query]);

  const loadMore = useCallback(() => {
    const { rows, loading, complete, full, stuck, stopped, error } = now.current;
    if (loading || complete || full || stuck || stopped || error !== undefined || rows.length === 0) return;
    load(now.current);
  }, [load]);
  const stop = useCallback(() => {
    if (!now.current.loading) return;
    controller.current.abort();
    controller.current = new AbortController();
    setState({ ...now.current, loading: false, searched: undefined, stopped: true });
  }, []);
  const resume = useCallback(() => {
    load(now.current);
  }, [load]);
  return { ...state, loadMore, stop, resume };
}

/** Sum of the statistics of several requests for one page. */
function summed(
  before: Statistics['summary'] | undefined,
  last: Statistics['summary'],
): Statistics['summary'] {
  if (before === undefined) return last;
  return {
    ...last,
    execTime: before.execTime + last.execTime,
    totalBytesProcessed: before.totalBytesProcessed + last.totalBytesProcessed,
    totalLinesProcessed: before.totalLinesProcessed + last.totalLinesProcessed,
    totalEntriesReturned: before.totalEntriesReturned + last.totalEntriesReturned,
  };
}
