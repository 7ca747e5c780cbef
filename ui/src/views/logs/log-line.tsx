/** One row of the list. */
import { Icon } from '../../components/icon.tsx';
import { LineText } from '../../components/line-text.tsx';
import type { LogRow } from '../../lines/rows.ts';

export interface LogLineProps {
  readonly row: LogRow;
  readonly time: string;
  readonly highlights: readonly RegExp[];
  readonly wraps: boolean;
  readonly open: boolean;
  readonly chosen: boolean;
}

/** Clicks are heard by the list (log-list.tsx). */
export function LogLine({ row, time, highlights, wraps, open, chosen }: LogLineProps) {
  const { level, line } = row;
  return (
    <div class={`log-line ${wraps ? 'wraps' : ''} ${open ? 'open' : ''} ${chosen ? 'chosen' : ''}`}>
      <span class="log-level" title={level} style={{ background: `var(--${level})` }} />
      <button
        type="button"
        class="log-toggle"
        aria-expanded={open}
        aria-label={`Details of the line at ${time}, ${level}`}
      >
        <Icon name="chevron" size={12} />
      </button>
      <time class="log-time numeric">{time}</time>
      <span class="log-text">
        <LineText line={line} highlights={highlights} flat={!wraps} />
      </span>
    </div>
  );
}
