/** Selects the columns of the list: labels, structured metadata, and fields of the loaded lines. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { Button, IconButton } from '../../components/button.tsx';
import { FindField } from '../../components/find-field.tsx';
import { Popover } from '../../components/popover.tsx';
import {
  columnNames,
  type ListColumn,
  MAX_LIST_COLUMNS,
  movedColumn,
  withColumn,
  withoutColumn,
} from '../../lines/columns.ts';
import type { LogRow } from '../../lines/rows.ts';

interface ColumnPickerProps {
  readonly rows: readonly LogRow[];
  readonly columns: readonly ListColumn[];
  /** Undefined means automatic columns. */
  readonly onColumns: (columns: readonly ListColumn[] | undefined) => void;
}

/** Maximum names shown; others are found by search. */
const SHOWN_NAMES = 60;

export function ColumnPicker(props: ColumnPickerProps) {
  const [open, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  return (
    <Popover
      open={open}
      onClose={close}
      name="Columns"
      button={
        <IconButton
          icon="table"
          name="Select columns"
          aria-expanded={open}
          onClick={() => setOpen(before => !before)}
        />
      }
    >
      <Panel {...props} />
    </Popover>
  );
}

function Panel({ rows, columns, onColumns }: ColumnPickerProps) {
  const [part, setPart] = useState('');
  const names = useMemo(() => columnNames(rows), [rows]);
  const fitting = names.filter(
    name => name.toLowerCase().includes(part.toLowerCase()) && !columns.some(column => column.name === name),
  );
  const isFull = columns.length >= MAX_LIST_COLUMNS;
  return (
    <div class="column-panel">
      {columns.length > 0 && (
        <ul aria-label="Columns of the list">
          {columns.map(({ name }, i) => (
            <li key={name}>
              <span class="column-name">{name}</span>
              <IconButton
                icon="left"
                name={`Move ${name} left`}
                disabled={i === 0}
                onClick={() => onColumns(movedColumn(columns, i, i - 1))}
              />
              <IconButton
                icon="chevron"
                name={`Move ${name} right`}
                disabled={i === columns.length - 1}
                onClick={() => onColumns(movedColumn(columns, i, i + 1))}
              />
              <IconButton
                icon="close"
                name={`Remove ${name}`}
                onClick={() => onColumns(withoutColumn(columns, name))}
              />
            </li>
          ))}
        </ul>
      )}
      <FindField name="Search names" value={part} onChange={setPart} />
      {isFull && <p class="column-hint">Remove a column to add another (maximum: {MAX_LIST_COLUMNS}).</p>}
      {fitting.length === 0 && <p class="column-hint">No matching names in these lines.</p>}
      <ul class="column-names" aria-label="Names in these lines">
        {fitting.slice(0, SHOWN_NAMES).map(name => (
          <li key={name}>
            <button
              type="button"
              class="column-add"
              disabled={isFull}
              aria-label={`Add ${name}`}
              onClick={() => onColumns(withColumn(columns, name))}
            >
              {name}
            </button>
          </li>
        ))}
      </ul>
      {fitting.length > SHOWN_NAMES && (
        <p class="column-hint">{fitting.length - SHOWN_NAMES} more: search for them.</p>
      )}
      <Button kind="quiet" class="small" onClick={() => onColumns(undefined)}>
        Use automatic columns
      </Button>
    </div>
  );
}
