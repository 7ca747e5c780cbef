/** Label browser: labels and values, their bytes, and a selector built by clicks. */
import { useMemo, useState } from 'preact/hooks';
import { fetchDetectedLabels, fetchLabelVolumes, fetchStreamFigures } from '../../api/labels.ts';
import { fetchLabelNames, fetchVolume } from '../../api/queries.ts';
import type { StreamFigures } from '../../api/types.ts';
import { useRequest } from '../../api/use-request.ts';
import { keysText, useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../components/button.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { TimePicker } from '../../components/time-picker.tsx';
import {
  type ChosenLabels,
  isEmptySelection,
  NOTHING_CHOSEN,
  selectionOf,
  selectorText,
  toggled,
  withSelector,
} from '../../logql/selection.ts';
import { changeParams, go, hrefOf, route } from '../../state/navigation.ts';
import { paramsOfRange, useRange } from '../../state/use-range.ts';
import { useStore } from '../../state/use-store.ts';
import { bytesText, manyText } from '../../time/quantities.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import { LABEL_SEARCH_ID, LabelList } from './label-list.tsx';
import { type LabelRow, labelRows } from './labels-model.ts';
import { SelectionLine } from './selection-line.tsx';
import { ValueColumn } from './value-column.tsx';

/** Maximum open columns, because each sends a request whenever another choice changes. */
const MAX_COLUMNS = 8;
/** The default of `volume_max_series`. */
const MAX_LABEL_VALUES = 1000;
const FIRST_OPEN = 'service_name';

export default function LabelsView() {
  const { params } = useStore(route);
  const range = useRange();
  const [pickerOpen, setPickerOpen] = useState(false);
  // The log view passes a query: the text after its selector stays unchanged.
  const query = params.q ?? '';
  const selection = useMemo(() => selectionOf(query), [query]);
  const selector = selectorText(selection);
  const labels = useRequest(
    async signal => {
      if (range.resolved === undefined) return [];
      return loadLabels(range.resolved, signal);
    },
    [range.resolved],
  );
  const figures = useRequest(
    async signal => {
      if (range.resolved === undefined || isEmptySelection(selection)) return undefined;
      return figuresOf(selection, range.resolved, signal);
    },
    [selector, range.resolved],
  );
  const open = openOf(params.open, selection, labels.value);

  const choose = (next: ChosenLabels) =>
    changeParams(
      { q: isEmptySelection(next) ? '' : withSelector(query, selectorText(next)), open: open.join(',') },
      { replace: true },
    );
  const toggleColumn = (name: string) => {
    const next = open.includes(name)
      ? open.filter(known => known !== name)
      : [...open, name].slice(-MAX_COLUMNS);
    changeParams({ open: next.join(',') || NONE_OPEN }, { replace: true });
  };
  const logsParams = { q: query, ...paramsOfRange(range.text) };

  useShortcuts(
    useMemo(() => {
      const group = 'Labels';
      const now = () => route.get().params;
      return [
        {
          keys: 'Mod+Enter',
          does: 'Show logs',
          group,
          act: () => go('logs', { q: now().q ?? '', from: now().from ?? '', to: now().to ?? '' }),
        },
        {
          keys: '/',
          does: 'Search labels',
          group,
          act: () => document.getElementById(LABEL_SEARCH_ID)?.focus(),
        },
        { keys: 't', does: 'Select time range', group, act: () => setPickerOpen(true) },
        { keys: 'x', does: 'Clear selection', group, act: () => changeParams({ q: '' }, { replace: true }) },
      ];
    }, []),
  );
  return (
    <div class="page labels">
      <h1 class="hidden">Labels</h1>
      <div class="query-bar">
        <SelectionLine query={query} selection={selection} onChange={choose} />
        <div class="query-tools">
          <TimePicker
            range={range.text}
            resolved={range.resolved}
            onChange={range.change}
            open={pickerOpen}
            onOpen={setPickerOpen}
          />
          <a
            class={`button primary run ${isEmptySelection(selection) ? 'disabled' : ''}`}
            href={isEmptySelection(selection) ? undefined : hrefOf('logs', logsParams)}
            aria-disabled={isEmptySelection(selection)}
            title={`Show logs (${keysText('Mod+Enter').join(' ')})`}
          >
            Show logs
          </a>
        </div>
      </div>
      <div class="page-scroll">
        {range.resolved === undefined && <Empty icon="clock" title="Invalid time range" />}
        {labels.error !== undefined && <ErrorMessage error={labels.error} />}
        {labels.value === undefined && labels.error === undefined && <Loading what="Loading labels" />}
        {labels.value?.length === 0 && range.resolved !== undefined && (
          <Empty icon="labels" title="No logs in this time range">
            <p>Widen the time range above.</p>
          </Empty>
        )}
        {labels.value !== undefined && labels.value.length > 0 && range.resolved !== undefined && (
          <>
            <div class="page-line">
              <p class="numeric" role="status">
                {figures.value === undefined ? (
                  <span class="soft">
                    {manyText(labels.value.length, 'label')}. Open one to see its values.
                  </span>
                ) : (
                  <>
                    <strong>{manyText(figures.value.streams, 'stream')}</strong>
                    <span class="soft">
                      {` · about ${manyText(figures.value.entries, 'line')} · ${bytesText(figures.value.bytes)}`}
                    </span>
                  </>
                )}
              </p>
              <Button
                kind="quiet"
                class="small"
                disabled={isEmptySelection(selection)}
                onClick={() => choose(NOTHING_CHOSEN)}
              >
                Clear selection
              </Button>
            </div>
            {figures.error !== undefined && <ErrorMessage error={figures.error} />}
            <div class="label-columns">
              <LabelList rows={labels.value} open={open} onToggle={toggleColumn} />
              {open.map(name => (
                <ValueColumn
                  key={name}
                  label={name}
                  selection={selection}
                  range={range.resolved as ResolvedRange}
                  onToggle={value => choose(toggled(selection, name, value))}
                  onClose={() => toggleColumn(name)}
                />
              ))}
            </div>
          </>
        )}
      </div>
    </div>
  );
}

/** URL value that means that all columns are closed. */
const NONE_OPEN = '-';

/** Open labels: from the URL, else the chosen ones, else the services. */
function openOf(
  param: string | undefined,
  { values }: ChosenLabels,
  labels: readonly LabelRow[] | undefined,
): readonly string[] {
  if (param === NONE_OPEN) return [];
  if (param !== undefined) return [...new Set(param.split(','))].slice(0, MAX_COLUMNS);
  if (values.size > 0) return [...values.keys()].slice(0, MAX_COLUMNS);
  const first = labels?.find(({ name }) => name === FIRST_OPEN) ?? labels?.[0];
  return first === undefined ? [] : [first.name];
}

/** Streams and lines; bytes from the columns, if the store reports them. */
async function figuresOf(
  selection: ChosenLabels,
  range: ResolvedRange,
  signal: AbortSignal,
): Promise<StreamFigures> {
  const selector = selectorText(selection);
  const [label] = selection.values.keys();
  const [figures, volumes] = await Promise.all([
    fetchStreamFigures(selector, range, signal),
    label === undefined
      ? []
      : fetchVolume({ selector, by: [label], limit: MAX_LABEL_VALUES, ...range }, signal).catch(() => []),
  ]);
  const bytes = volumes.reduce((sum, volume) => sum + volume.bytes, 0);
  return bytes === 0 ? figures : { ...figures, bytes };
}

/** Names are required; volumes are optional, because a store may not report them. */
async function loadLabels(range: ResolvedRange, signal: AbortSignal): Promise<readonly LabelRow[]> {
  const [names, volumes, detected] = await Promise.all([
    fetchLabelNames(range, undefined, signal),
    fetchLabelVolumes(range, signal).catch(() => []),
    fetchDetectedLabels(range, signal).catch(() => []),
  ]);
  return labelRows(names, volumes, detected);
}
