/** One row of the list. */
import { useMemo } from 'preact/hooks';
import { lineText } from '../../components/line-text.tsx';
import { readText } from '../../components/read-text.tsx';
import { ValueDot } from '../../components/value-dot.tsx';
import { cellOf, type ListColumn } from '../../lines/columns.ts';
import type { LogRow } from '../../lines/rows.ts';

interface LogLineProps {
  readonly row: LogRow;
  readonly time: string;
  readonly highlights: readonly RegExp[];
  readonly wraps: boolean;
  /** Shows the stored text instead of the message first. */
  readonly raw: boolean;
  readonly columns: readonly ListColumn[];
  readonly open: boolean;
  readonly chosen: boolean;
}

/**
 * Row without click handlers: the list handles clicks (log-list.tsx). Unchanged rows are not compared during
 * a scroll.
 */
export function LogLine(props: LogLineProps) {
  const { row, time, highlights, wraps, raw, columns, open, chosen } = props;
  return useMemo(() => drawn(props), [row, time, highlights, wraps, raw, columns, open, chosen]);
}

function drawn({ row, time, highlights, wraps, raw, columns, open, chosen }: LogLineProps) {
  const { level, line } = row;
  return (
    <div class={`log-line ${wraps ? 'wraps' : ''} ${open ? 'open' : ''} ${chosen ? 'chosen' : ''}`}>
      <span class="log-level" title={level} style={{ background: `var(--${level})` }} />
      <button
        type="button"
        class="log-toggle"
        aria-expanded={open}
        aria-label={`Details of the line at ${time}, ${level}`}
      />
      <time class="log-time numeric">{time}</time>
      {columns.map(({ name, widthPx }, i) => {
        const value = cellOf(row, name);
        return (
          <span
            key={name}
            class={`log-cell ${i > 0 ? 'only-wide' : ''}`}
            title={`${name}: ${value}`}
            style={{ width: `${widthPx}px` }}
          >
            {row.stream[name] !== undefined && <ValueDot value={value} />}
            {value}
          </span>
        );
      })}
      <span class="log-text">
        {raw ? lineText(line, highlights, !wraps) : readText(line, highlights, !wraps)}
      </span>
    </div>
  );
}
