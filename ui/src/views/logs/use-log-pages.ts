/** The lines of a query, a page at a time: the first when the query changes, more when the end of the list comes near. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, isAbort } from '../../api/errors.ts';
import { askLogs, nsOf } from '../../api/queries.ts';
import type { Statistics } from '../../api/types.ts';
import { nextPage } from '../../lines/next-page.ts';
import { type LogRow, rowsOf, withPage } from '../../lines/rows.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import type { Order } from './logs-state.ts';

export interface LogPages {
  readonly rows: readonly LogRow[];
  readonly loading: boolean;
  readonly error: ApiError | undefined;
  /** Nothing more is in the range. */
  readonly complete: boolean;
  /** As many as the page holds, though there may be more. */
  readonly full: boolean;
  /** More lines have the last timestamp than one request returns, so the lines behind them cannot be loaded. */
  readonly stuck: boolean;
  /** Of the first page. */
  readonly statistics: Statistics['summary'] | undefined;
  loadMore(): void;
}

/** Beyond it the page asks to narrow the range: each line takes about a kilobyte of the browser's memory. */
export const MAX_ROWS = 50_000;

type State = Omit<LogPages, 'loadMore'>;

const EMPTY: State = {
  rows: [],
  loading: false,
  error: undefined,
  complete: false,
  full: false,
  stuck: false,
  statistics: undefined,
};

/** @param query undefined where there is nothing to ask */
export function useLogPages(
  query: string | undefined,
  range: ResolvedRange | undefined,
  order: Order,
): LogPages {
  const [state, setState] = useState<State>(EMPTY);
  const now = useRef(state);
  now.current = state;
  const controller = useRef(new AbortController());

  const load = useCallback(
    async (before: State) => {
      if (query === undefined || range === undefined) return;
      const { signal } = controller.current;
      const { rows } = before;
      const newestFirst = order === 'newest';
      const whole = { startNs: nsOf(range.fromMs), endNs: nsOf(range.toMs) };
      const asked = nextPage(rows, whole, newestFirst);
      if (asked === undefined) return setState({ ...before, stuck: true });
      setState({ ...before, loading: true });
      try {
        const answer = await askLogs(
          { query, ...asked, direction: newestFirst ? 'backward' : 'forward' },
          signal,
        );
        if (signal.aborted || answer.data.resultType !== 'streams') return;
        const page = rowsOf(answer.data.result, newestFirst);
        const together = withPage(rows, page);
        const full = together.length >= MAX_ROWS;
        setState({
          rows: together,
          loading: false,
          error: undefined,
          complete: page.length < asked.limit,
          full,
          stuck: page.length >= asked.limit && together.length === rows.length,
          statistics: before.statistics ?? answer.data.stats.summary,
        });
      } catch (error) {
        if (isAbort(error) || signal.aborted) return;
        setState({ ...before, loading: false, error: error as ApiError });
      }
    },
    [query, range, order],
  );

  useEffect(() => {
    controller.current = new AbortController();
    const mine = controller.current;
    if (query === undefined) setState(EMPTY);
    else load(EMPTY);
    return () => mine.abort();
  }, [load, query]);

  const loadMore = useCallback(() => {
    const { rows, loading, complete, full, stuck, error } = now.current;
    if (loading || complete || full || stuck || error !== undefined || rows.length === 0) return;
    load(now.current);
  }, [load]);
  return { ...state, loadMore };
}
