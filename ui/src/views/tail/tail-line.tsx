/** Line of a tail; with its labels if it is open. */
import { LineText } from '../../components/line-text.tsx';
import { ReadText } from '../../components/read-text.tsx';
import { ValueDot } from '../../components/value-dot.tsx';
import type { LogRow } from '../../lines/rows.ts';

interface TailLineProps {
  readonly row: LogRow;
  readonly time: string;
  readonly highlights: readonly RegExp[];
  readonly wraps: boolean;
  /** Shows the stored text instead of the message first. */
  readonly raw: boolean;
  /** True if the tail has lines of several streams. */
  readonly showsService: boolean;
  readonly open: boolean;
  readonly onToggle: () => void;
  /** URL of its neighboring lines in the log view. */
  readonly href: string;
}

export function TailLine(props: TailLineProps) {
  const { row, time, highlights, wraps, raw, showsService, open, onToggle, href } = props;
  const { level, line, stream, metadata, parsed } = row;
  const service = stream.service_name ?? '';
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
        />
        <time class="log-time numeric">{time}</time>
        {showsService && (
          <span class="log-cell tail-service" title={`service_name: ${service}`}>
            {service !== '' && <ValueDot value={service} />}
            {service}
          </span>
        )}
        <span class="log-text">
          {raw ? (
            <LineText line={line} highlights={highlights} flat={!wraps} />
          ) : (
            <ReadText line={line} highlights={highlights} flat={!wraps} />
          )}
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
