/** New lines on top of the loaded ones, as they are pushed. They wait while the user reads further down. */
import type { RefObject } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { ErrorMessage } from '../../components/message.tsx';
import { liveRows } from '../../lines/live-rows.ts';
import type { LogRow } from '../../lines/rows.ts';
import { TailNotices, TailWord } from '../../query/tail-state.tsx';
import { type TailControl, useTail } from '../../query/use-tail.ts';
import { manyText } from '../../time/quantities.ts';

/** Scroll position below which new lines would move the visible ones. */
const TOP_PX = 40;

export interface LiveLines {
  readonly tail: TailControl;
  /** Rows, newest first. */
  readonly rows: readonly LogRow[];
}

/** @param query undefined if nothing is followed */
export function useLiveLines(
  query: string | undefined,
  loaded: readonly LogRow[],
  scroller: RefObject<HTMLElement>,
  round: number,
): LiveLines {
  const tail = useTail(query, round);
  const { pause, isPaused } = tail;
  useEffect(() => {
    const element = scroller.current;
    if (query === undefined || element === null) return;
    const look = () => {
      const reads = element.scrollTop > TOP_PX;
      if (reads !== isPaused) pause(reads);
    };
    element.addEventListener('scroll', look, { passive: true });
    return () => element.removeEventListener('scroll', look);
  }, [query, scroller, pause, isPaused]);
  const rows = useMemo(
    () => (query === undefined ? loaded : liveRows(tail.buffer.rows, loaded)),
    [query, tail.buffer.rows, loaded],
  );
  return { tail, rows };
}

export function LiveState({ tail, onTop }: { readonly tail: TailControl; readonly onTop: () => void }) {
  const { state, isPaused, buffer } = tail;
  return (
    <div class="live-state">
      <TailWord state={state} isPaused={isPaused} />
      {isPaused && buffer.waiting.length > 0 && (
        <Button kind="quiet" class="small" onClick={onTop}>
          Show {manyText(buffer.waiting.length, 'new line')}
        </Button>
      )}
      <TailNotices state={state} isPaused={isPaused} buffer={buffer} />
      {state?.kind === 'refused' && <ErrorMessage error={state.error} />}
    </div>
  );
}
