/** The log view: a query over a range of time, and its lines or its values. All of its state is in the address. */
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import { mistakeOf } from '../../api/errors.ts';
import { useComplete } from '../../api/use-complete.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../components/button.tsx';
import { Empty, ErrorMessage } from '../../components/message.tsx';
import { MistakeHelp } from '../../components/mistake-help.tsx';
import { EDITOR_ID } from '../../components/query-editor.tsx';
import { absoluteRange } from '../../components/time-picker.tsx';
import { type Column, formatColumns, shownColumns, withColumn } from '../../lines/columns.ts';
import type { Field } from '../../lines/field-stats.ts';
import { MAX_PAGE_ENTRIES } from '../../lines/next-page.ts';
import type { LogRow } from '../../lines/rows.ts';
import { type Condition, withCondition } from '../../logql/edit.ts';
import { groupByQuery } from '../../logql/field-queries.ts';
import { highlightsOf } from '../../logql/highlights.ts';
import { asksForLines, quoted } from '../../logql/tokens.ts';
import { unitOf } from '../../logql/unit.ts';
import { fillVariables } from '../../logql/variables.ts';
import { QueryReading } from '../../query/query-reading.tsx';
import { hrefOf, route } from '../../state/navigation.ts';
import { Pane, usePane } from '../../state/pane.ts';
import { changeSettings, remember, settings } from '../../state/settings.ts';
import { useQuery } from '../../state/use-query.ts';
import { useStore } from '../../state/use-store.ts';
import { DEFAULT_RANGE, describeRange, resolveRange, shiftRange } from '../../time/time-range.ts';
import { ContextSheet } from './context-sheet.tsx';
import { FieldPanel } from './field-panel.tsx';
import { ListTools } from './list-tools.tsx';
import { LogList } from './log-list.tsx';
import { type LogsState, paramsOf, stateOf } from './logs-state.ts';
import { MetricPanel } from './metric-panel.tsx';
import { NoLines } from './no-lines.tsx';
import { QueryBar } from './query-bar.tsx';
import { SearchProgress } from './search-progress.tsx';
import { StartPage } from './start-page.tsx';
import { MAX_ROWS, useLogPages } from './use-log-pages.ts';
import { metricStep, useMetric } from './use-metric.ts';
import { useVolume } from './use-volume.ts';
import { VolumePanel } from './volume-panel.tsx';

/** A number alone is a query for its value, and more often meant as a text. */
const NUMBER = /^\s*[\d.]+\s*$/;

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

/** A query and its answer. */
function LogsPane() {
  const { id: pane, params, change: changePane } = usePane();
  const isSplit = useStore(route).params.split !== undefined;
  const { zone, columns: remembered, showsFields } = useStore(settings);
  const state = useMemo(() => stateOf(params), [params]);
  const { range: rangeText, order, chart, compare } = state;
  const typed = useQuery();
  const { text, query, draft, setDraft } = typed;
  /** Counts the runs: `now` is another time in each. */
  const [round, setRound] = useState(0);
  const [pickerOpen, setPickerOpen] = useState(false);
  const [contextOf, setContextOf] = useState<LogRow>();
  const scroller = useRef<HTMLDivElement>(null);

  const { from, to } = rangeText;
  // Each run and each query has its own now.
  const range = useMemo(
    () => resolveRange({ from, to }, { nowMs: Date.now(), utc: zone === 'utc' }),
    [from, to, zone, query, round],
  );
  const sent = useMemo(
    () =>
      range === undefined
        ? query
        : fillVariables(query, { rangeMs: range.toMs - range.fromMs, stepMs: metricStep(range) }),
    [query, range],
  );
  const asks = query.trim() === '' ? 'nothing' : asksForLines(query) ? 'lines' : 'values';
  const pages = useLogPages(asks === 'lines' ? sent : undefined, range, order);
  const volume = useVolume(asks === 'lines' ? sent : undefined, range);
  const metric = useMetric(asks === 'values' ? sent : undefined, range, chart === 'lines' ? compare : '');
  const error = asks === 'values' ? metric.error : pages.error;
  const mistake = useMemo(
    () => (error === undefined || draft !== query ? undefined : mistakeOf(error.message, query)),
    [error, query, draft],
  );
  const unit = useMemo(() => unitOf(query), [query]);
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
    (chosen: readonly Column[] | undefined) => {
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
    (condition: Condition) => ask(withCondition(latest.current.query, condition)),
    [ask],
  );
  const groupBy = useCallback(
    (field: Field) => ask(groupByQuery(latest.current.query, field, field.cardinality), { chart: 'bars' }),
    [ask],
  );
  const zoom = useCallback(
    (fromMs: number, toMs: number) => change({ range: absoluteRange({ fromMs, toMs }) }),
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

  useShortcuts(
    useMemo(() => {
      // Keys are for the first of two queries.
      if (pane !== '') return [];
      const group = 'Query';
      const move = (direction: -1 | 1) => {
        const known = latest.current.range;
        if (known !== undefined) change({ range: absoluteRange(shiftRange(known, direction)) });
      };
      return [
        { keys: 'Mod+Enter', does: 'Run the query', group, act: run },
        {
          keys: '/',
          does: 'Focus query editor',
          group,
          act: () => document.getElementById(EDITOR_ID)?.focus(),
        },
        { keys: 'r', does: 'Run it again', group, act: run },
        { keys: 'Escape', does: 'Cancel the query', group, act: cancel },
        { keys: 't', does: 'Choose the time', group, act: () => setPickerOpen(true) },
        { keys: 'ArrowLeft', does: 'Earlier', group, act: () => move(-1) },
        { keys: 'ArrowRight', does: 'Later', group, act: () => move(1) },
        {
          keys: 'o',
          does: 'Newest or oldest first',
          group: 'Lines',
          act: () => change({ order: latest.current.state.order === 'newest' ? 'oldest' : 'newest' }),
        },
        {
          keys: 'f',
          does: 'Show or hide the fields',
          group: 'Lines',
          act: () => changeSettings({ showsFields: !settings.get().showsFields }),
        },
        {
          keys: 'm',
          does: 'Message first, or raw lines',
          group: 'Lines',
          act: () => changeSettings({ raw: !settings.get().raw }),
        },
        {
          keys: 'w',
          does: 'Wrap long lines',
          group: 'Lines',
          act: () => changeSettings({ wraps: !settings.get().wraps }),
        },
      ];
    }, [run, change, cancel, pane]),
  );

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
        pane={pane}
        isSplit={isSplit}
      />
      <QueryReading state={typed} range={range} />
      <div class="logs-body">
        {showsFields &&
          !isSplit &&
          asks === 'lines' &&
          range !== undefined &&
          sent !== undefined &&
          pages.rows.length > 0 && (
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
                From “{from}” to “{to}”: choose another above.
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
          {asks === 'values' && NUMBER.test(text) && (
            <p class="number-note">
              LogQL reads {text.trim()} as a number.{' '}
              <Button kind="quiet" class="small" onClick={() => ask(quoted(text.trim()))}>
                Search for the text {text.trim()}
              </Button>
            </p>
          )}
          {asks === 'values' && error !== undefined && (
            <ErrorMessage error={error} lead={<MistakeHelp error={error} query={query} onQuery={ask} />} />
          )}
          {asks === 'values' && metric.loading && <SearchProgress what="Computing" onCancel={cancel} />}
          {asks === 'values' && !metric.loading && metric.value === undefined && error === undefined && (
            <p class="list-end">
              The query was canceled.{' '}
              <Button kind="quiet" class="small" onClick={run}>
                Run again
              </Button>
            </p>
          )}
          {asks === 'values' && error === undefined && (
            <MetricPanel
              asked={metric}
              kind={chart}
              onKind={next => change({ chart: next })}
              compare={compare}
              onCompare={next => change({ compare: next })}
              unit={unit}
              onZoom={zoom}
            />
          )}
          {asks === 'lines' && range !== undefined && (
            <>
              {error === undefined && (
                <VolumePanel
                  asked={volume}
                  range={range}
                  onZoom={zoom}
                  onLevel={level => filter({ name: 'detected_level', value: level, op: '=', place: 'entry' })}
                />
              )}
              {error !== undefined && (
                <ErrorMessage
                  error={error}
                  lead={<MistakeHelp error={error} query={query} onQuery={ask} />}
                />
              )}
              {pages.rows.length > 0 && (
                <ListTools
                  rows={pages.rows}
                  columns={columns}
                  onColumns={chooseColumns}
                  query={sent}
                  range={range}
                  total={volume.value?.total}
                  complete={pages.complete}
                  statistics={pages.statistics}
                  explainHref={hrefOf('explain', { q: query, from: params.from ?? '', to: params.to ?? '' })}
                  order={order}
                  onOrder={next => change({ order: next })}
                />
              )}
              {pages.rows.length > 0 && (
                <LogList
                  rows={pages.rows}
                  columns={columns}
                  onColumns={chooseColumns}
                  onColumn={addColumn}
                  range={range}
                  highlights={highlights}
                  scroller={scroller}
                  onNearEnd={pages.loadMore}
                  onCondition={filter}
                  onContext={setContextOf}
                />
              )}
              {pages.loading && (
                <SearchProgress
                  what={pages.rows.length === 0 ? 'Searching' : 'Loading more lines'}
                  searched={pages.searched}
                  onCancel={cancel}
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
              {pages.complete && pages.rows.length === 0 && (
                <NoLines
                  query={query}
                  range={range}
                  onQuery={ask}
                  onRange={next => change({ range: next })}
                />
              )}
              {pages.complete && pages.rows.length > 0 && <p class="list-end">That is all in this time.</p>}
              {pages.stuck && (
                <p class="list-end">
                  More than {MAX_PAGE_ENTRIES} lines have the same timestamp. Filter the query to load the
                  rest.
                </p>
              )}
              {pages.full && (
                <p class="list-end">
                  These are {MAX_ROWS} lines; narrow the time or the query to see others.
                </p>
              )}
            </>
          )}
        </div>
      </div>
      {contextOf !== undefined && (
        <ContextSheet row={contextOf} highlights={highlights} onClose={closeContext} />
      )}
    </section>
  );
}
