/** Relative time, with the absolute time as its tooltip. */
import { settings } from '../state/settings.ts';
import { useStore } from '../state/use-store.ts';
import { agoText } from '../time/moments.ts';
import { formatTime } from '../time/time-range.ts';

export function Moment({ ms }: { readonly ms: number }) {
  const { zone } = useStore(settings);
  return (
    <time
      class="numeric"
      dateTime={new Date(ms).toISOString()}
      title={formatTime(Math.round(ms), zone === 'utc')}
    >
      {agoText(ms, Date.now())}
    </time>
  );
}
