/** Lines before and after a line in its stream, independent of the query. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { NS_PER_DAY } from '../../../../shared/base/model/time-units.ts';
import { type ApiError, isAbort } from '../../api/errors.ts';
import { fetchLogs } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { LineText } from '../../components/line-text.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { ReadText } from '../../components/read-text.tsx';
import { rowsOnSide, type Side } from '../../lines/context.ts';
import { readLine } from '../../lines/message.ts';
import { MAX_PAGE_ENTRIES } from '../../lines/next-page.ts';
import { type LogRow, lastOfOneTime, logRowsOf, withPage } from '../../lines/rows.ts';
import { timeText } from '../../lines/time-text.ts';
import { selectorOfStream } from '../../logql/edit.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';

interface ContextSheetProps {
  readonly row: LogRow;
  readonly highlights: readonly RegExp[];
  readonly onClose: () => void;
}

const PAGE_ENTRIES = 30;
/** Search distance from the line: one day each way. */
const REACH_NS = NS_PER_DAY;

interface SideState {
  /** Rows, nearest to the line first. */
  readonly rows: readonly LogRow[];
  readonly complete: boolean;
}

const NONE: SideState = { rows: [], complete: false };

export function ContextSheet({ row, highlights, onClose }: ContextSheetProps) {
  const { zone, raw } = useStore(settings);
  const [sides, setSides] = useState<Readonly<Record<Side, SideState>>>({ before: NONE, after: NONE });
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<ApiError>();
  const controller = useMemo(() => new AbortController(), []);
  const target = useRef<HTMLLIElement>(null);
  const selector = useMemo(() => selectorOfStream(row.stream), [row]);

  const load = async (side: Side, known: SideState): Promise<SideState> => {
    const forward = side === 'after';
    const from = known.rows.at(-1)?.ns ?? row.ns;
    const ask = async (limit: number) => {
      const answer = await fetchLogs(
        {
          query: selector,
          startNs: forward ? from : `${BigInt(row.ns) - REACH_NS}`,
          endNs: forward ? `${BigInt(row.ns) + REACH_NS}` : `${BigInt(from) + 1n}`,
          limit,
          direction: forward ? 'forward' : 'backward',
        },
        controller.signal,
      );
      const page = answer.data.resultType === 'streams' ? logRowsOf(answer.data.result, !forward) : [];
      const complete = page.length < limit;
      return { complete, rows: from === row.ns ? rowsOnSide(page, row, side, complete) : page };
    };
    // Rows of the last timestamp are repeated, including the line itself if it has that timestamp.
    const again = lastOfOneTime(known.rows) + (from === row.ns ? 1 : 0);
    let page = await ask(Math.min(MAX_PAGE_ENTRIES, PAGE_ENTRIES + again));
    // More lines share one timestamp than a page holds.
    if (
      page.rows === undefined ||
      (!page.complete && withPage(known.rows, page.rows).length === known.rows.length)
    ) {
      page = await ask(MAX_PAGE_ENTRIES);
    }
    return { rows: withPage(known.rows, page.rows ?? []), complete: page.complete };
  };

  const more = async (wanted: readonly Side[]) => {
    setLoading(true);
    try {
      const loaded = await Promise.all(
        wanted.map(async side => [side, await load(side, sides[side])] as const),
      );
      setSides(before => ({ ...before, ...Object.fromEntries(loaded) }));
      setError(undefined);
    } catch (problem) {
      if (isAbort(problem)) return;
      setError(problem as ApiError);
    }
    setLoading(false);
  };

  // Runs once, when the sheet opens.
  useEffect(() => {
    more(['before', 'after']).then(() => target.current?.scrollIntoView({ block: 'center' }));
    return () => controller.abort();
  }, []);

  const { before, after } = sides;
  const shown = (one: LogRow, isTarget = false) => (
    <li
      key={`${isTarget}${one.key}`}
      ref={isTarget ? target : undefined}
      class={isTarget ? 'target' : ''}
      aria-current={isTarget}
    >
      <span class="log-level" style={{ background: `var(--${one.level})` }} />
      <time class="log-time numeric">{timeText(one, zone === 'utc')}</time>
      <span class="log-text">
        {raw || !isReadable(one.line) ? (
          <LineText line={one.line} highlights={highlights} />
        ) : (
          <ReadText line={one.line} highlights={highlights} flat={false} />
        )}
      </span>
    </li>
  );
  return (
    <Dialog title="Line context" size="wide" onClose={onClose}>
      <p class="context-stream">
        <code>{selector}</code>
      </p>
      {error !== undefined && <ErrorMessage error={error} />}
      <div class="context-more">
        <Button
          kind="quiet"
          class="small"
          disabled={loading || before.complete}
          onClick={() => more(['before'])}
        >
          {before.complete ? 'No earlier lines within a day' : 'Load earlier lines'}
        </Button>
      </div>
      <ol class="context-lines">
        {before.rows.toReversed().map(one => shown(one))}
        {shown(row, true)}
        {after.rows.map(one => shown(one))}
      </ol>
      {loading && <Loading what="Loading context" />}
      <div class="context-more">
        <Button
          kind="quiet"
          class="small"
          disabled={loading || after.complete}
          onClick={() => more(['after'])}
        >
          {after.complete ? 'No later lines within a day' : 'Load later lines'}
        </Button>
      </div>
    </Dialog>
  );
}

/** True if the readable form of a line has all of it. */
function isReadable(line: string): boolean {
  const { others, folded } = readLine(line);
  return others.length > 0 && folded === '';
}
