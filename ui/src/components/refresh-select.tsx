/** Refresh interval of a view; with `live`, new lines are shown as they are pushed. */
import { REFRESH_SECONDS } from '../../../shared/base/model/board.ts';
import { Icon } from './icon.tsx';

interface RefreshSelectProps {
  readonly seconds: number;
  readonly onSeconds: (seconds: number) => void;
  readonly live?: boolean;
  readonly onLive?: () => void;
}

export function RefreshSelect({ seconds, onSeconds, live = false, onLive }: RefreshSelectProps) {
  return (
    <span class="refresh-place">
      <select
        class={`input refresh-select ${live || seconds > 0 ? 'on' : ''}`}
        aria-label="Refresh"
        title="Refresh"
        value={live ? 'live' : String(seconds)}
        onChange={event => {
          const { value } = event.currentTarget;
          if (value === 'live') onLive?.();
          else onSeconds(Number(value));
        }}
      >
        {onLive !== undefined && <option value="live">Live</option>}
        {REFRESH_SECONDS.map(known => (
          <option key={known} value={String(known)}>
            {known === 0 ? 'No refresh' : `Every ${nameOf(known)}`}
          </option>
        ))}
      </select>
      <Icon name="refresh" />
    </span>
  );
}

function nameOf(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`;
}
