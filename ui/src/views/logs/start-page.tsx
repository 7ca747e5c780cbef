/** Start page without a query: the services with logs as links, or how to send logs if there are none. */
import { SERVICE_LABEL, useServices } from '../../api/use-services.ts';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { quoted } from '../../logql/tokens.ts';
import { ServiceList } from '../../query/service-list.tsx';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import { FirstRun } from './first-run.tsx';
import { SampleData } from './sample-data.tsx';

interface StartPageProps {
  readonly range: ResolvedRange;
  readonly rangeTitle: string;
  readonly onQuery: (query: string) => void;
  /** Runs a query over the last hour. */
  readonly onFirst: (query: string) => void;
  /** Renews the range, which ends now. */
  readonly onRenew: () => void;
}

const SHOWN_RECENT = 6;

export function StartPage({ range, rangeTitle, onQuery, onFirst, onRenew }: StartPageProps) {
  const { recentQueries } = useStore(settings);
  const { value, error, reload } = useServices(range);
  const hasSamples = value?.some(({ name }) => name.startsWith('sample-')) === true;
  return (
    <div class="start">
      <header>
        <h1>Select a service</h1>
        <p class="soft">Services with logs in: {rangeTitle.toLowerCase()}. Or enter words or LogQL above.</p>
      </header>
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading services" />}
      {value?.length === 0 && <FirstRun onFirst={onFirst} onChange={onRenew} />}
      {hasSamples && <SampleData isLoaded onChange={reload} />}
      {value !== undefined && (
        <ServiceList services={value} onService={name => onQuery(`{${SERVICE_LABEL}=${quoted(name)}}`)} />
      )}
      {recentQueries.length > 0 && (
        <section class="recent">
          <h3>Recent queries</h3>
          <ul>
            {recentQueries.slice(0, SHOWN_RECENT).map(query => (
              <li key={query}>
                <button type="button" onClick={() => onQuery(query)}>
                  <code>{query}</code>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
