/** Start page without a query: the services with logs as links, or how to send logs if there are none. */
import { useRequest } from '../../api/use-request.ts';
import { type LogService, SERVICE_LABEL, useServices } from '../../api/use-services.ts';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { quoted } from '../../logql/tokens.ts';
import { ServiceList } from '../../query/service-list.tsx';
import { SAMPLE_PREFIX } from '../../sample/sample-label.ts';
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
  const found = useServices(range);
  const { error } = found;
  const isSample = ({ name }: LogService) => name.startsWith(SAMPLE_PREFIX);
  const listsSamples = found.value?.some(isSample) === true;
  const samples = useRequest(
    async signal => {
      if (!listsSamples) return undefined;
      const { hasSamples } = await import('../../api/sample.ts');
      return hasSamples(range, signal);
    },
    [listsSamples, range],
  );
  const isKnown = !listsSamples || samples.value !== undefined || samples.error !== undefined;
  // Services of deleted samples stay in the volumes until the store has processed the request.
  const isHidden = listsSamples && samples.value === false;
  const services = isKnown ? found.value?.filter(one => !isHidden || !isSample(one)) : undefined;
  const reload = () => {
    found.reload();
    samples.reload();
  };
  return (
    <div class="start">
      {services?.length !== 0 && (
        <header>
          <h1>Select a service</h1>
          <p class="soft">
            Services with logs in: {rangeTitle.toLowerCase()}. Or enter words or LogQL above.
          </p>
        </header>
      )}
      {error !== undefined && <ErrorMessage error={error} />}
      {services === undefined && error === undefined && <Loading what="Loading services" />}
      {services?.length === 0 && <FirstRun onFirst={onFirst} onChange={onRenew} />}
      {listsSamples && !isHidden && services !== undefined && <SampleData isLoaded onChange={reload} />}
      {services !== undefined && (
        <ServiceList services={services} onService={name => onQuery(`{${SERVICE_LABEL}=${quoted(name)}}`)} />
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
