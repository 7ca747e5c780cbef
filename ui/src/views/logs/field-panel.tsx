/**
 * Panel of the result's fields: labels, structured metadata, and fields of lines. The loaded lines provide
 * them at once; the store adds those of other lines, and details when a field is opened.
 */
import { useMemo, useState } from 'preact/hooks';
import { fetchDetectedFields } from '../../api/queries.ts';
import { useRequest } from '../../api/use-request.ts';
import { IconButton } from '../../components/button.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { type Field, fieldsOfRows, MAX_READ_ROWS } from '../../lines/field-stats.ts';
import type { LogRow } from '../../lines/rows.ts';
import type { FieldCondition } from '../../logql/edit.ts';
import { countText, manyText, percentText, shortText } from '../../time/quantities.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import { FieldCard } from './field-card.tsx';

interface FieldPanelProps {
  readonly rows: readonly LogRow[];
  /** Log query of these lines, as sent. */
  readonly query: string;
  readonly range: ResolvedRange;
  /** Number of lines in the whole range; undefined while counting. */
  readonly total: number | undefined;
  readonly onCondition: (condition: FieldCondition) => void;
  readonly onColumn: (name: string) => void;
  readonly onGroupBy: (field: Field) => void;
  readonly onClose: () => void;
}

const TYPES: Readonly<Record<Field['type'], string>> = {
  string: 'text',
  int: 'number',
  float: 'number',
  boolean: 'yes/no',
  duration: 'duration',
  bytes: 'size',
};
/** Maximum fields shown; others are found by search. */
const SHOWN_FIELDS = 150;

export function FieldPanel(props: FieldPanelProps) {
  const { rows, query, range, total, onCondition, onColumn, onGroupBy, onClose } = props;
  const [part, setPart] = useState('');
  const [openName, setOpenName] = useState<string>();
  // Names arrive after the lines. Errors are ignored, because the list of lines reports the same error.
  const found = useRequest(
    signal => fetchDetectedFields(query, range, signal).catch(() => []),
    [query, range],
  );
  // More pages of a list do not change the parsed lines.
  const read = Math.min(rows.length, MAX_READ_ROWS);
  const fields = useMemo(() => fieldsOfRows(rows, found.value ?? []), [rows[0], read, found.value]);
  const fitting = fields.filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()));
  return (
    <aside class="field-panel" aria-label="Fields" aria-busy={found.loading}>
      <header class="field-panel-head">
        <h2>Fields</h2>
        <span class="soft numeric">{countText(fields.length)}</span>
        <IconButton icon="close" name="Hide fields" onClick={onClose} />
      </header>
      <FindField name="Search fields" value={part} onChange={setPart} />
      {fitting.length === 0 && <p class="column-hint">No matching fields.</p>}
      <ul class="field-list">
        {fitting.slice(0, SHOWN_FIELDS).map(field => {
          const { name, type, coverage, cardinality, source } = field;
          const isOpen = name === openName;
          return (
            <li key={name}>
              <button
                type="button"
                class="field-row"
                aria-expanded={isOpen}
                title={`${KINDS[source]}, ${TYPES[type]}`}
                onClick={() => setOpenName(isOpen ? undefined : name)}
              >
                <Icon name={isOpen ? 'down' : 'chevron'} size={11} />
                <span class="field-name">{name}</span>
                <span class="field-type">{TYPES[type]}</span>
                <span class="field-count numeric" title={`At least ${manyText(cardinality, 'value')}`}>
                  {shortText(cardinality)}
                </span>
                <span class="field-coverage numeric" title={coverageTitle(coverage, read)}>
                  {coverage === undefined ? '' : percentText(coverage)}
                </span>
              </button>
              {isOpen && (
                <FieldCard
                  field={field}
                  rows={rows}
                  query={query}
                  range={range}
                  total={total}
                  onCondition={onCondition}
                  onColumn={onColumn}
                  onGroupBy={onGroupBy}
                />
              )}
            </li>
          );
        })}
      </ul>
      {fitting.length > SHOWN_FIELDS && (
        <p class="column-hint">{countText(fitting.length - SHOWN_FIELDS)} more: search for them.</p>
      )}
    </aside>
  );
}

const KINDS: Readonly<Record<Field['source'], string>> = {
  stream: 'Label',
  entry: 'Structured metadata or parsed by the query',
  json: 'Field of JSON lines',
  logfmt: 'Field of logfmt lines',
};

function coverageTitle(coverage: number | undefined, read: number): string {
  return coverage === undefined
    ? 'In other lines of the range'
    : `In ${percentText(coverage)} of the first ${manyText(read, 'line')}`;
}
