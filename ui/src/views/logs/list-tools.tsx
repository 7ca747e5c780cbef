/** Toolbar above the lines: their number, the cost of the query, and display options. */
import type { ComponentChildren } from 'preact';
import type { Statistics } from '../../api/types.ts';
import { IconButton } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import type { ListColumn } from '../../lines/columns.ts';
import type { LogRow } from '../../lines/rows.ts';
import { changeSettings, settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { bytesText, countText, manyText, secondsText } from '../../time/quantities.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import { ColumnPicker } from './column-picker.tsx';
import { ExportMenu } from './export-menu.tsx';
import type { Order } from './logs-state.ts';

interface ListToolsProps {
  readonly rows: readonly LogRow[];
  readonly columns: readonly ListColumn[];
  /** Undefined means automatic columns. */
  readonly onColumns: (columns: readonly ListColumn[] | undefined) => void;
  /** Log query as sent. */
  readonly query: string;
  readonly range: ResolvedRange;
  /** Number of lines in the whole range; undefined while counting. */
  readonly total: number | undefined;
  readonly complete: boolean;
  readonly statistics: Statistics['summary'] | undefined;
  /** URL of the view that explains the query. */
  readonly explainHref: string;
  readonly order: Order;
  readonly onOrder: (order: Order) => void;
  /** State of a live list, shown before the count. */
  readonly live?: ComponentChildren;
}

export function ListTools({
  rows,
  columns,
  onColumns,
  query,
  range,
  total,
  complete,
  statistics,
  explainHref,
  order,
  onOrder,
  live,
}: ListToolsProps) {
  const { wraps, raw, showsFields } = useStore(settings);
  const shown =
    complete || total === undefined
      ? manyText(rows.length, 'line')
      : `${countText(rows.length)} of ${manyText(Math.max(total, rows.length), 'line')}`;
  return (
    <div class="list-tools">
      {live}
      <p class="numeric" role="status">
        <strong class={complete || live ? '' : 'counting'}>{shown}</strong>
        {statistics !== undefined && (
          <span class="soft only-wide">
            {` · ${bytesText(statistics.totalBytesProcessed)} read in ${secondsText(statistics.execTime)} · `}
            <a href={explainHref}>Explain</a>
          </span>
        )}
      </p>
      <Choice
        name="Order of lines"
        value={order}
        onChange={onOrder}
        options={[
          { value: 'newest', label: 'Newest' },
          { value: 'oldest', label: 'Oldest' },
        ]}
      />
      <IconButton
        icon="fields"
        name="Fields"
        pressed={showsFields}
        onClick={() => changeSettings({ showsFields: !showsFields })}
      />
      <ColumnPicker rows={rows} columns={columns} onColumns={onColumns} />
      <IconButton
        icon="wrap"
        name="Wrap long lines"
        pressed={wraps}
        onClick={() => changeSettings({ wraps: !wraps })}
      />
      <IconButton icon="raw" name="Raw lines" pressed={raw} onClick={() => changeSettings({ raw: !raw })} />
      <ExportMenu
        rows={rows}
        columns={columns}
        query={query}
        range={range}
        order={order}
        total={complete ? rows.length : total}
      />
    </div>
  );
}
