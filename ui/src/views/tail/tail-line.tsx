/** Line of a tail; with its labels if it is open. */
import { Icon } from '../../components/icon.tsx';
import { LineText } from '../../components/line-text.tsx';
import type { LogRow } from '../../lines/rows.ts';

interface TailLineProps {
  readonly row: LogRow;
  readonly time: string;
  readonly highlights: readonly RegExp[];
  readonly wraps: boolean;
  readonly open: boolean;
  readonly onToggle: () => void;
  /** URL of its neighboring lines in the log view. */
  readonly href: string;
}

export function TailLine({ row, time, highlights, wraps, open, onToggle, href }: TailLineProps) {
  const { level, line, stream, metadata, parsed } = row;
  const labels = Object.entries({ ...stream, ...metadata, ...parsed });
  return (
    <>
      <div class={`log-line tail-line ${level} ${wraps ? 'wraps' : ''} ${open ? 'open' : ''}`}>
        <span class="log-level" title={level} style={{ background: `var(--${level})` }} />
        <button
          type="button"
          class="log-toggle"
          aria-expanded={open}
          aria-label={`Labels of the line at ${time}, ${level}`}
          onClick={onToggle}
        >
          <Icon name="chevron" size={12} />
        </button>
        <time class="log-time numeric">{time}</time>
        {stream.service_name !== undefined && (
          <span class="tail-service only-wide">{stream.service_name}</span>
        )}
        <span class="log-text">
          <LineText line={line} highlights={highlights} flat={!wraps} />
        </span>
      </div>
      {open && (
        <div class="tail-details">
          <dl>
            {labels.map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <a href={href}>Open in Logs</a>
        </div>
      )}
    </>
  );
}
