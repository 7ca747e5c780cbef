/** The lines of a query, a page at a time: the first when the query changes, more when the end of the list comes near. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiError, isAbort } from '../../api/errors.ts';
import { askLogs, nsOf } from '../../api/queries.ts';
import type { Statistics } from '../../api/types.ts';
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
  /** Of the first page. */
  readonly statistics: Statistics['summary'] | undefined;
  loadMore(): void;
}

const PAGE_ENTRIES = 1000;
/** The default of `max_entries_limit_per_query`. */
const MAX_PAGE_ENTRIES = 5000;
/** Beyond it the page asks to narrow the range: each line takes about a kilobyte of the browser's memory. */
export const MAX_ROWS = 50_000;

interface State extends Omit<LogPages, 'loadMore'> {
  readonly pageEntries: number;
}

const EMPTY: State = {
  rows: [],
  loading: false,
  error: undefined,
  complete: false,
  full: false,
  statistics: undefined,
  pageEntries: PAGE_ENTRIES,
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
      const { rows, pageEntries } = before;
      setState({ ...before, loading: true });
      const newestFirst = order === 'newest';
      const last = rows.at(-1)?.ns;
      try {
        const answer = await askLogs(
          {
            query,
            // The time of the last line is asked again: there may be more of that time.
            startNs: !newestFirst && last !== undefined ? last : nsOf(range.fromMs),
            endNs: newestFirst && last !== undefined ? `${BigInt(last) + 1n}` : nsOf(range.toMs),
            limit: pageEntries,
            direction: newestFirst ? 'backward' : 'forward',
          },
          signal,
        );
        if (signal.aborted || answer.data.resultType !== 'streams') return;
        const page = rowsOf(answer.data.result, newestFirst);
        const together = withPage(rows, page);
        const stuck = page.length >= pageEntries && together.length === rows.length;
        const full = together.length >= MAX_ROWS;
        setState({
          rows: together,
          loading: false,
          error: undefined,
          // More lines of one time than a page holds: ask for larger pages, as far as they go.
          complete: page.length < pageEntries || (stuck && pageEntries >= MAX_PAGE_ENTRIES),
          full,
          statistics: before.statistics ?? answer.data.stats.summary,
          pageEntries: stuck ? MAX_PAGE_ENTRIES : pageEntries,
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
    const { rows, loading, complete, full, error } = now.current;
    if (!loading && !complete && !full && error === undefined && rows.length > 0) load(now.current);
  }, [load]);
  return { ...state, loadMore };
}
