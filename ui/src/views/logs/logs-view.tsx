/** Log view: a query over a time range, and its lines or values. All of its state is in the URL. */
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { mistakeOf } from '../../api/errors.ts';
import { useComplete } from '../../api/use-complete.ts';
import { Empty } from '../../components/message.tsx';
import { absoluteRange } from '../../components/time-picker.tsx';
import { formatColumns, type ListColumn, shownColumns, withColumn } from '../../lines/columns.ts';
import type { Field } from '../../lines/field-stats.ts';
import type { LogRow } from '../../lines/rows.ts';
import { type FieldCondition, withCondition } from '../../logql/edit.ts';
import { groupByQuery } from '../../logql/field-queries.ts';
import { highlightsOf } from '../../logql/highlights.ts';
import { asksForLines } from '../../logql/tokens.ts';
import { chosenUnit } from '../../logql/unit.ts';
import { fillVariables } from '../../logql/variables.ts';
import { QueryReading } from '../../query/query-reading.tsx';
import { metricStep, useMetric } from '../../query/use-metric.ts';
import { hrefOf, route } from '../../state/navigation.ts';
import { Pane, usePane } from '../../state/pane.ts';
import { changeSettings, remember, settings } from '../../state/settings.ts';
import { useEvery } from '../../state/use-every.ts';
import { useQuery } from '../../state/use-query.ts';
import { useStore } from '../../state/use-store.ts';
import { DEFAULT_RANGE, describeRange, resolveRange } from '../../time/time-range.ts';
import { ContextSheet } from './context-sheet.tsx';
import { FieldPanel } from './field-panel.tsx';
import { LinesResult } from './lines-result.tsx';
import { useLiveLines } from './live-lines.tsx';
import { type LogsState, paramsOf, stateOf } from './logs-state.ts';
import { QueryBar } from './query-bar.tsx';
import { StartPage } from './start-page.tsx';
import { useLogPages } from './use-log-pages.ts';
import { useQueryKeys } from './use-query-keys.ts';
import { useVolume } from './use-volume.ts';
import { ValuesResult } from './values-result.tsx';

/** Interval for counting the histogram again while lines are followed. */
const LIVE_VOLUME_MS = 15_000;
/** Refresh interval of values that are followed. */
const LIVE_VALUES_S = 5;
/** Scroll position below which a refresh would move the visible lines; open details also prevent it. */
const TOP_PX = 40;

const hideFields = () => changeSettings({ showsFields: false });

export default function LogsView() {
  const isSplit = useStore(route).params.split !== undefined;
  return (
    <div class={`logs-panes ${isSplit ? 'split' : ''}`}>
      <h1 class="hidden">Logs</h1>
      <LogsPane />
      {isSplit && (
        <Pane.Provider value="2">
          <LogsPane />
        </Pane.Provider>
      )}
    </div>
  );
}

/** Pane with a query and its result. */
function LogsPane() {
  const { id: pane, params, change: changePane } = usePane();
  const isSplit = useStore(route).params.split !== undefined;
  const { zone, columns: remembered, showsFields } = useStore(settings);
  const state = useMemo(() => stateOf(params), [params]);
  const { range: rangeText, chart, compare, more, unit: unitChoice, refresh, live } = state;
  // New lines are inserted at the top.
  const order = live ? 'newest' : state.order;
  const typed = useQuery();
  const { query, draft, setDraft } = typed;
  /** Number of runs; `now` differs in each. */
  const [round, setRound] = useState(0);
  /** Number of histogram updates while lines are followed. */
  const [moved, setMoved] = useState(0);
  const [pickerOpen, setPickerOpen] = useState(false);
  const [contextOf, setContextOf] = useState<LogRow>();
  const scroller = useRef<HTMLDivElement>(null);

  const { from, to } = rangeText;
  const resolved = () => resolveRange({ from, to }, { nowMs: Date.now(), utc: zone === 'utc' });
  // Each run and each query has its own `now`.
  const range = useMemo(resolved, [from, to, zone, query, round]);
  const volumeRange = useMemo(() => (live && moved > 0 ? resolved() : range), [range, live, moved]);
  const filled = useCallback(
    (one: string) =>
      range === undefined
        ? one
        : fillVariables(one, { rangeMs: range.toMs - range.fromMs, stepMs: metricStep(range) }),
    [range],
  );
  const sent = useMemo(() => filled(query), [query, filled]);
  const asks = query.trim() === '' ? 'nothing' : asksForLines(query) ? 'lines' : 'values';
  const metricQueries = useMemo(
    () => (asks === 'values' ? [query, ...more].map(one => ({ query: filled(one), legend: '' })) : undefined),
    [asks, query, more, filled],
  );
  const pages = useLogPages(asks === 'lines' ? sent : undefined, range, order);
  const volume = useVolume(asks === 'lines' ? sent : undefined, volumeRange);
  const metric = useMetric(metricQueries, range, {
    compare: chart === 'lines' ? compare : '',
    inParts: true,
  });
  const error = asks === 'values' ? metric.error : pages.error;
  // The first page determines where to start.
  const isLoaded = pages.rows.length > 0 || pages.complete;
  const followed = live && asks === 'lines' && isLoaded && error === undefined ? sent : undefined;
  const liveLines = useLiveLines(followed, pages.rows, scroller, round);
  const mistake = useMemo(
    () => (error === undefined || draft !== query ? undefined : mistakeOf(error.message, query)),
    [error, query, draft],
  );
  const unit = useMemo(() => chosenUnit(unitChoice, [query, ...more]), [unitChoice, query, more]);
  const highlights = useMemo(() => highlightsOf(query), [query]);
  const columns = useMemo(
    () => shownColumns(pages.rows, { address: state.columns, remembered }),
    [pages.rows, state.columns, remembered],
  );

  const latest = useRef({ state, query, draft, range, columns });
  latest.current = { state, query, draft, range, columns };
  const change = useCallback(
    (changes: Partial<LogsState>) => {
      changePane(paramsOf({ ...latest.current.state, ...changes }));
    },
    [changePane],
  );
  const ask = useCallback(
    (next: string, changes: Partial<LogsState> = {}) => {
      if (next.trim() !== '') remember('recentQueries', next);
      setDraft(next);
      setRound(count => count + 1);
      change({ ...changes, text: next });
      scroller.current?.scrollTo({ top: 0 });
    },
    [change, setDraft],
  );
  const chooseColumns = useCallback(
    (chosen: readonly ListColumn[] | undefined) => {
      const text = chosen === undefined ? '' : formatColumns(chosen);
      changeSettings({ columns: text });
      changePane({ cols: text }, { replace: true });
    },
    [changePane],
  );
  const addColumn = useCallback(
    (name: string) => chooseColumns(withColumn(latest.current.columns, name)),
    [chooseColumns],
  );
  const renew = useCallback(() => setRound(count => count + 1), []);
  const run = useCallback(() => ask(latest.current.draft), [ask]);
  const filter = useCallback(
    (condition: FieldCondition) => ask(withCondition(latest.current.query, condition)),
    [ask],
  );
  const groupBy = useCallback(
    (field: Field) => ask(groupByQuery(latest.current.query, field, field.cardinality), { chart: 'bars' }),
    [ask],
  );
  const chooseRefresh = (seconds: number, isLive: boolean) => {
    const moves = isLive && to !== 'now';
    change({ refresh: seconds, live: isLive, ...(moves ? { range: DEFAULT_RANGE } : {}) });
    // Keeps the lines that arrived meanwhile.
    if (live && !isLive) renew();
  };
  const zoom = useCallback(
    (fromMs: number, toMs: number) =>
      change({ range: absoluteRange({ fromMs, toMs }), live: false, refresh: 0 }),
    [change],
  );
  const complete = useComplete(range);
  const { stop } = pages;
  const { cancel: cancelMetric } = metric;
  const { cancel: cancelVolume } = volume;
  const cancel = useCallback(() => {
    stop();
    cancelMetric();
    cancelVolume();
  }, [stop, cancelMetric, cancelVolume]);
  const closeContext = useCallback(() => setContextOf(undefined), []);
  const openTime = useCallback(() => setPickerOpen(true), []);

  const everyS = live ? (asks === 'values' ? LIVE_VALUES_S : 0) : refresh;
  useEvery(everyS * 1000, () => {
    const element = scroller.current;
    const isRead = (element?.scrollTop ?? 0) > TOP_PX || element?.querySelector('.log-line.open') !== null;
    if (asks !== 'nothing' && !pages.loading && !metric.loading && !(asks === 'lines' && isRead)) renew();
  });
  useEvery(followed === undefined ? 0 : LIVE_VOLUME_MS, () => setMoved(count => count + 1));
  useQueryKeys({ pane, latest, run, cancel, change, onTime: openTime });

  const showsPanel = showsFields && !isSplit && asks === 'lines' && pages.rows.length > 0;
  return (
    <section class="logs" aria-label={pane === '' ? 'Query' : 'Second query'}>
      <QueryBar
        draft={draft}
        onDraft={setDraft}
        onRun={run}
        loading={pages.loading || (asks === 'values' && metric.loading)}
        mistake={mistake}
        complete={complete}
        range={rangeText}
        resolved={range}
        onRange={next => change({ range: next })}
        pickerOpen={pickerOpen}
        onPicker={setPickerOpen}
        refresh={refresh}
        live={live}
        onRefresh={chooseRefresh}
        pane={pane}
        saved={{ queries: [query, ...(asks === 'values' ? more : [])], chart, range: rangeText }}
        isSplit={isSplit}
      />
      <QueryReading state={typed} range={range} />
      <div class="logs-body">
        {showsPanel && range !== undefined && (
          <FieldPanel
            rows={pages.rows}
            query={sent}
            range={range}
            total={volume.value?.total}
            onCondition={filter}
            onColumn={addColumn}
            onGroupBy={groupBy}
            onClose={hideFields}
          />
        )}
        <div class="logs-scroll" ref={scroller}>
          {range === undefined && (
            <Empty icon="clock" title="Invalid time range">
              <p>
                From “{from}” to “{to}” is invalid. Select another range above.
              </p>
            </Empty>
          )}
          {asks === 'nothing' && range !== undefined && (
            <StartPage
              range={range}
              rangeTitle={describeRange(rangeText, zone === 'utc')}
              onQuery={ask}
              onFirst={first => ask(first, { range: DEFAULT_RANGE })}
              onRenew={renew}
            />
          )}
          {asks === 'values' && (
            <ValuesResult
              state={state}
              query={query}
              metric={metric}
              error={error}
              unit={unit}
              onQuery={ask}
              onRun={run}
              onCancel={cancel}
              onChange={change}
              onZoom={zoom}
            />
          )}
          {asks === 'lines' && range !== undefined && volumeRange !== undefined && (
            <LinesResult
              query={query}
              sent={sent}
              range={range}
              volumeRange={volumeRange}
              pages={pages}
              volume={volume}
              live={followed === undefined ? undefined : liveLines}
              error={error}
              columns={columns}
              highlights={highlights}
              order={order}
              explainHref={hrefOf('explain', { q: query, from: params.from ?? '', to: params.to ?? '' })}
              scroller={scroller}
              onQuery={ask}
              onCondition={filter}
              onColumns={chooseColumns}
              onColumn={addColumn}
              onOrder={next => change({ order: next, live: false })}
              onRange={next => change({ range: next })}
              onZoom={zoom}
              onContext={setContextOf}
              onCancel={cancel}
            />
          )}
        </div>
      </div>
      {contextOf !== undefined && (
        <ContextSheet row={contextOf} highlights={highlights} onClose={closeContext} />
      )}
    </section>
  );
}
