/** Progress of a running query: the searched share, elapsed time, and a stop button. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { bytesText, percentText } from '../../time/quantities.ts';

interface SearchProgressProps {
  readonly what: string;
  /** Progress of the finished parts; undefined for a query in one part. */
  readonly searched?: Searched;
  readonly onCancel: () => void;
}

export interface Searched {
  /** 0 to 1 */
  readonly share: number;
  readonly bytes: number;
  /** Number of finished parts, and of all parts. */
  readonly done: number;
  readonly parts: number;
}

/** Minimum duration before seconds are shown. */
const SHOWN_AFTER_SECONDS = 2;

export function SearchProgress({ what, searched, onCancel }: SearchProgressProps) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(before => before + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="search-progress">
      <span class="spinner" />
      <span role="status">{what}</span>
      <Button kind="quiet" class="small" icon="stop" onClick={onCancel}>
        Cancel query
      </Button>
      <span class="search-seconds numeric">{seconds >= SHOWN_AFTER_SECONDS && `${seconds} s`}</span>
      {searched !== undefined && (
        <>
          <progress aria-label="Searched part of the time range" max={1} value={searched.share} />
          <span class="numeric">
            {searched.done} of {searched.parts} parts · {percentText(searched.share)} of the time range ·{' '}
            {bytesText(searched.bytes)} read
          </span>
        </>
      )}
    </div>
  );
}
