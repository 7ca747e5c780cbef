/** Form for a board panel. It shows problems before it saves. */
import { useState } from 'preact/hooks';
import {
  type BoardPanel,
  GRID_COLUMNS,
  MAX_PANEL_ROWS,
  MAX_QUERIES,
  PANEL_KINDS,
  type PanelKind,
  UNITS,
  type UnitChoice,
} from '../../../../shared/base/model/board.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { asksForLines } from '../../logql/tokens.ts';

interface PanelFormProps {
  readonly panel: BoardPanel;
  readonly isNew: boolean;
  readonly onClose: () => void;
  readonly onPanel: (panel: BoardPanel) => void;
}

const KIND_NAMES: Readonly<Record<PanelKind, string>> = {
  lines: 'Lines',
  area: 'Area',
  bars: 'Bars',
  heat: 'Heat map',
  top: 'Top list',
  value: 'Values',
  table: 'Table',
  logs: 'Log lines',
};
const UNIT_NAMES: Readonly<Record<UnitChoice, string>> = {
  auto: 'Automatic',
  number: 'Number',
  bytes: 'Bytes',
  seconds: 'Seconds',
  percent: 'Percent (0 to 1)',
};
const LETTERS = 'ABCDE';

export function PanelForm({ panel, isNew, onClose, onPanel }: PanelFormProps) {
  const [draft, setDraft] = useState(panel);
  const change = (changes: Partial<BoardPanel>) => setDraft(before => ({ ...before, ...changes }));
  const { title, kind, unit, width, rows, queries } = draft;
  const written = queries.filter(({ query }) => query.trim() !== '');
  const wantsLines = kind === 'logs';
  const problem =
    written.length === 0
      ? 'Enter a query.'
      : written.some(({ query }) => asksForLines(query) !== wantsLines)
        ? wantsLines
          ? 'Enter a log query, such as {service_name="checkout"}.'
          : 'Enter a metric query, such as sum(rate({service_name="checkout"}[$__auto])).'
        : undefined;
  const setQuery = (at: number, changes: Partial<(typeof queries)[number]>) =>
    change({ queries: queries.map((one, i) => (i === at ? { ...one, ...changes } : one)) });
  return (
    <Dialog title={isNew ? 'Add panel' : 'Edit panel'} onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          if (problem === undefined) onPanel({ ...draft, queries: written });
        }}
      >
        <label class="field">
          <span>Title</span>
          <input
            class="input"
            value={title}
            maxLength={80}
            autofocus
            onInput={event => change({ title: event.currentTarget.value })}
          />
        </label>
        {queries.map(({ query, legend }, i) => (
          <fieldset key={i} class="panel-query">
            <legend class="hidden">Query {LETTERS[i]}</legend>
            <label class="field">
              <span>Query {LETTERS[i]}</span>
              <textarea
                class="input mono"
                rows={2}
                value={query}
                spellcheck={false}
                maxLength={8192}
                onInput={event => setQuery(i, { query: event.currentTarget.value })}
              />
            </label>
            {!wantsLines && (
              <label class="field">
                <span>Legend {LETTERS[i]}</span>
                <input
                  class="input mono"
                  value={legend}
                  placeholder="{{service_name}}"
                  maxLength={80}
                  onInput={event => setQuery(i, { legend: event.currentTarget.value })}
                />
              </label>
            )}
            {queries.length > 1 && (
              <IconButton
                icon="close"
                name={`Remove query ${LETTERS[i]}`}
                onClick={() => change({ queries: queries.filter((_, at) => at !== i) })}
              />
            )}
          </fieldset>
        ))}
        {queries.length < (wantsLines ? 1 : MAX_QUERIES) && (
          <Button
            kind="quiet"
            icon="plus"
            class="small"
            onClick={() => change({ queries: [...queries, { query: '', legend: '' }] })}
          >
            Add query
          </Button>
        )}
        <div class="form-columns">
          <label class="field">
            <span>Chart type</span>
            <select
              class="input"
              value={kind}
              onChange={event => change({ kind: event.currentTarget.value as PanelKind })}
            >
              {PANEL_KINDS.map(known => (
                <option key={known} value={known}>
                  {KIND_NAMES[known]}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Unit</span>
            <select
              class="input"
              value={unit}
              onChange={event => change({ unit: event.currentTarget.value as UnitChoice })}
            >
              {UNITS.map(known => (
                <option key={known} value={known}>
                  {UNIT_NAMES[known]}
                </option>
              ))}
            </select>
          </label>
          <Size name="Width" value={width} max={GRID_COLUMNS} onValue={next => change({ width: next })} />
          <Size name="Height" value={rows} max={MAX_PANEL_ROWS} onValue={next => change({ rows: next })} />
        </div>
        {problem !== undefined && written.length > 0 && (
          <p class="form-problem" role="alert">
            {problem}
          </p>
        )}
        <div class="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" submits disabled={problem !== undefined}>
            {isNew ? 'Add panel' : 'Apply'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface SizeProps {
  readonly name: string;
  readonly value: number;
  readonly max: number;
  readonly onValue: (value: number) => void;
}

function Size({ name, value, max, onValue }: SizeProps) {
  return (
    <label class="field">
      <span>{name}</span>
      <input
        class="input numeric"
        type="number"
        min={1}
        max={max}
        value={value}
        onChange={event =>
          onValue(Math.min(max, Math.max(1, Math.round(Number(event.currentTarget.value) || 1))))
        }
      />
    </label>
  );
}
