/** Selected metrics of /metrics: current work, ingested data, cache hit rates. */
import { fetchMetrics } from '../../api/status.ts';
import { useRequest } from '../../api/use-request.ts';
import { Figures } from '../../components/figures.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { Panel } from '../../components/panel-page.tsx';
import { spanText } from '../../time/moments.ts';
import { bytesText, countText, percentText, shortText } from '../../time/quantities.ts';
import type { StatusPartProps } from './health-panel.tsx';
import { type HitRate, hitRates, METRIC_NAMES, notable } from './metrics-model.ts';

const ASIDE = 'since the process started; all metrics are at /metrics';

export function MetricsPanel({ round }: StatusPartProps) {
  const { value, error } = useRequest(signal => fetchMetrics(METRIC_NAMES, signal), [round]);
  if (value === undefined) {
    return (
      <Panel title="Metrics" aside={ASIDE}>
        {error === undefined ? <Loading what="Loading metrics" /> : <ErrorMessage error={error} />}
      </Panel>
    );
  }
  const known = notable(value);
  const rates = hitRates(value);
  return (
    <Panel title="Metrics" aside={ASIDE}>
      {known.wrong.map(({ name, count }) => (
        <p key={name} class="status-problem">
          <code>{name}</code> is {countText(count)}, which should be 0.
        </p>
      ))}
      <Figures
        figures={[
          {
            name: 'Uptime',
            value:
              known.startedMs === undefined
                ? '…'
                : spanText(Math.max(0, Date.now() - known.startedMs) / 1000),
            note: known.memoryBytes === undefined ? undefined : `${bytesText(known.memoryBytes)} of memory`,
          },
          {
            name: 'Requests',
            value: shortText(known.requests),
            note:
              known.failedRequests === 0 ? 'no failures' : `${countText(known.failedRequests)} failed (5xx)`,
            tone: known.failedRequests > 0 ? 'error' : undefined,
          },
          {
            name: 'Received',
            value: bytesText(known.bytes),
            note: `${shortText(known.lines)} lines, ${shortText(known.refusedLines)} refused`,
          },
          {
            name: 'Running queries',
            value: countText(known.runningQueries),
            note: `${countText(known.waitingQueries)} waiting`,
            tone: known.waitingQueries > 0 ? 'warn' : undefined,
          },
          { name: 'Live tails', value: countText(known.tails), note: 'open now' },
        ]}
      />
      {rates.length > 0 && (
        <ul class="hit-rates">
          {rates.map(rate => (
            <HitRateLine key={rate.name} rate={rate} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function HitRateLine({ rate: { name, hits, all } }: { readonly rate: HitRate }) {
  return (
    <li>
      <span>
        {name} <small>cache</small>
      </span>
      <progress class="meter" value={hits / all} max={1} aria-label={`Hits of the ${name} cache`} />
      <b class="numeric">{percentText(hits / all)}</b>
      <small class="numeric">of {shortText(all)} lookups</small>
    </li>
  );
}
