/** List of lines, with the details of those that are open. */

import type { RefObject } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { MS_PER_DAY } from '../../../../shared/base/model/time-units.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { indexOfRow, VirtualList } from '../../components/virtual-list.tsx';
import type { ListColumn } from '../../lines/columns.ts';
import type { LogRow } from '../../lines/rows.ts';
import { timeText } from '../../lines/time-text.ts';
import type { FieldCondition } from '../../logql/edit.ts';
import { usePane } from '../../state/pane.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { formatTime, type ResolvedRange } from '../../time/time-range.ts';
import { ColumnHeads } from './column-heads.tsx';
import { LineDetails } from './line-details.tsx';
import { LogLine } from './log-line.tsx';

interface LogListProps {
  readonly rows: readonly LogRow[];
  readonly columns: readonly ListColumn[];
  readonly onColumns: (columns: readonly ListColumn[]) => void;
  /** Adds a column. */
  readonly onColumn: (name: string) => void;
  readonly range: ResolvedRange;
  readonly highlights: readonly RegExp[];
  readonly scroller: RefObject<HTMLElement>;
  readonly onNearEnd: () => void;
  readonly onCondition: (condition: FieldCondition) => void;
  readonly onContext: (row: LogRow) => void;
}

const ROW_PX = 22;

export function LogList(props: LogListProps) {
  const { rows, columns, onColumns, onColumn, range, highlights, scroller } = props;
  const { onNearEnd, onCondition, onContext } = props;
  const { wraps, raw, zone } = useStore(settings);
  const { id: pane } = usePane();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [chosen, setChosen] = useState(-1);
  const element = useRef<HTMLDivElement>(null);
  const utc = zone === 'utc';
  const withDay =
    range.toMs - range.fromMs > MS_PER_DAY ||
    formatTime(range.fromMs, utc).slice(0, 10) !== formatTime(range.toMs, utc).slice(0, 10);
  const now = useRef({ rows, chosen });
  now.current = { rows, chosen };

  const toggle = useCallback((index: number) => {
    const key = now.current.rows[index]?.key;
    if (key === undefined) return;
    setOpen(before => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
    setChosen(index);
  }, []);

  useEffect(() => {
    const list = element.current;
    const clicked = (event: MouseEvent) => {
      const target = event.target as HTMLElement;
      const line = target.closest('.log-line');
      if (line === null) return;
      // A user who selects text to copy it does not want the details.
      if (target.closest('button') === null && window.getSelection()?.type === 'Range') return;
      toggle(indexOfRow(line));
    };
    list?.addEventListener('click', clicked);
    return () => list?.removeEventListener('click', clicked);
  }, [toggle]);

  useShortcuts(
    useMemo(() => {
      if (pane !== '') return [];
      const move = (by: number) =>
        setChosen(before => Math.max(0, Math.min(now.current.rows.length - 1, before + by)));
      const group = 'Lines';
      return [
        { keys: 'j', does: 'Next line', group, act: () => move(1) },
        { keys: 'k', does: 'Previous line', group, act: () => move(-1) },
        { keys: 'Enter', does: 'Open or close details', group, act: () => toggle(now.current.chosen) },
        {
          keys: 'c',
          does: 'Show context',
          group,
          act: () => {
            const row = now.current.rows[now.current.chosen];
            if (row !== undefined) onContext(row);
          },
        },
      ];
    }, [toggle, onContext, pane]),
  );

  const keyOf = useCallback((index: number) => rows[index].key, [rows]);
  const row = (index: number) => {
    const shown = rows[index];
    const time = timeText(shown, utc);
    const isOpen = open.has(shown.key);
    return (
      <>
        <LogLine
          row={shown}
          time={withDay ? time : time.slice(11)}
          highlights={highlights}
          wraps={wraps}
          raw={raw}
          columns={columns}
          open={isOpen}
          chosen={index === chosen}
        />
        {isOpen && (
          <LineDetails
            key={shown.key}
            row={shown}
            highlights={highlights}
            onCondition={onCondition}
            onColumn={onColumn}
            onContext={() => onContext(shown)}
          />
        )}
      </>
    );
  };
  return (
    <div ref={element} class={`log-list ${withDay ? 'with-day' : ''}`}>
      {columns.length > 0 && <ColumnHeads columns={columns} onColumns={onColumns} />}
      <VirtualList
        count={rows.length}
        keyOf={keyOf}
        row={row}
        estimatePx={ROW_PX}
        scroller={scroller}
        onNearEnd={onNearEnd}
        focus={chosen}
        layout={`${wraps} ${raw} ${columns.map(({ widthPx }) => widthPx)}`}
      />
    </div>
  );
}
