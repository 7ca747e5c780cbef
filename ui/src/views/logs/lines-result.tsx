/** Result of a log query: the histogram, the list, and its end. */
import type { RefObject } from 'preact';
import type { ApiError } from '../../api/errors.ts';
import type { RequestState } from '../../api/use-request.ts';
import { Button } from '../../components/button.tsx';
import { ErrorMessage } from '../../components/message.tsx';
import { MistakeHelp } from '../../components/mistake-help.tsx';
import type { ListColumn } from '../../lines/columns.ts';
import { MAX_PAGE_ENTRIES } from '../../lines/next-page.ts';
import type { LogRow } from '../../lines/rows.ts';
import type { FieldCondition } from '../../logql/edit.ts';
import type { RangeText, ResolvedRange } from '../../time/time-range.ts';
import { ListTools } from './list-tools.tsx';
import { type LiveLines, LiveState } from './live-lines.tsx';
import { LogList } from './log-list.tsx';
import type { Order } from './logs-state.ts';
import { NoLines } from './no-lines.tsx';
import { SearchProgress } from './search-progress.tsx';
import { type LogPages, MAX_ROWS } from './use-log-pages.ts';
import type { LogVolume } from './use-volume.ts';
import { VolumePanel } from './volume-panel.tsx';

interface LinesResultProps {
  readonly query: string;
  /** Query as sent. */
  readonly sent: string;
  readonly range: ResolvedRange;
  /** Range of the histogram; it moves while lines are followed. */
  readonly volumeRange: ResolvedRange;
  readonly pages: LogPages;
  readonly volume: RequestState<LogVolume | undefined>;
  /** Undefined unless lines are followed. */
  readonly live: LiveLines | undefined;
  readonly error: ApiError | undefined;
  readonly columns: readonly ListColumn[];
  readonly highlights: readonly RegExp[];
  readonly order: Order;
  readonly explainHref: string;
  readonly scroller: RefObject<HTMLDivElement>;
  readonly onQuery: (query: string) => void;
  readonly onCondition: (condition: FieldCondition) => void;
  readonly onColumns: (columns: readonly ListColumn[] | undefined) => void;
  readonly onColumn: (name: string) => void;
  readonly onOrder: (order: Order) => void;
  readonly onRange: (range: RangeText) => void;
  readonly onZoom: (fromMs: number, toMs: number) => void;
  readonly onContext: (row: LogRow) => void;
  readonly onCancel: () => void;
}

export function LinesResult(props: LinesResultProps) {
  const { query, sent, range, volumeRange, pages, volume, live, error, columns, highlights, order } = props;
  const { explainHref, scroller, onQuery, onCondition, onColumns, onColumn, onOrder, onRange } = props;
  const { onZoom, onContext, onCancel } = props;
  const rows = live?.rows ?? pages.rows;
  const liveState = live !== undefined && (
    <LiveState tail={live.tail} onTop={() => scroller.current?.scrollTo({ top: 0 })} />
  );
  return (
    <>
      {error === undefined && (
        <VolumePanel
          asked={volume}
          range={volumeRange}
          onZoom={onZoom}
          onLevel={level => onCondition({ name: 'detected_level', value: level, op: '=', source: 'entry' })}
        />
      )}
      {error !== undefined && (
        <ErrorMessage error={error} lead={<MistakeHelp error={error} query={query} onQuery={onQuery} />} />
      )}
      {rows.length === 0 && liveState}
      {rows.length > 0 && (
        <>
          <ListTools
            rows={rows}
            columns={columns}
            onColumns={onColumns}
            query={sent}
            range={range}
            total={live === undefined ? volume.value?.total : undefined}
            complete={pages.complete}
            statistics={pages.statistics}
            explainHref={explainHref}
            order={order}
            onOrder={onOrder}
            live={liveState}
          />
          <LogList
            rows={rows}
            columns={columns}
            onColumns={onColumns}
            onColumn={onColumn}
            range={range}
            highlights={highlights}
            scroller={scroller}
            onNearEnd={pages.loadMore}
            onCondition={onCondition}
            onContext={onContext}
          />
        </>
      )}
      {pages.loading && (
        <SearchProgress
          what={pages.rows.length === 0 ? 'Searching' : 'Loading more lines'}
          searched={pages.searched}
          onCancel={onCancel}
        />
      )}
      {pages.stopped && (
        <p class="list-end">
          The query was canceled.{' '}
          <Button kind="quiet" class="small" onClick={pages.resume}>
            Continue
          </Button>
        </p>
      )}
      {pages.complete && rows.length === 0 && (
        <NoLines query={query} range={range} onQuery={onQuery} onRange={onRange} />
      )}
      {pages.complete && rows.length > 0 && <p class="list-end">End of the time range.</p>}
      {pages.stuck && (
        <p class="list-end">
          More than {MAX_PAGE_ENTRIES} lines share one timestamp. Filter the query to load the rest.
        </p>
      )}
      {pages.full && (
        <p class="list-end">
          The first {MAX_ROWS} lines are loaded. Narrow the time range or the query to see others.
        </p>
      )}
    </>
  );
}
