/** Before there is a query: what logs there are, a click away; how to get some in where there are none. */
import { SERVICE_LABEL, useServices } from '../../api/use-services.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { quoted } from '../../logql/tokens.ts';
import { ServiceList } from '../../query/service-list.tsx';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import type { ResolvedRange } from '../../time/time-range.ts';

export interface StartPageProps {
  readonly range: ResolvedRange;
  readonly rangeTitle: string;
  readonly onQuery: (query: string) => void;
}

const SHOWN_RECENT = 6;

export function StartPage({ range, rangeTitle, onQuery }: StartPageProps) {
  const { recentQueries } = useStore(settings);
  const { value, error } = useServices(range);
  return (
    <div class="start">
      <header>
        <h1>Which logs do you want to see?</h1>
        <p class="soft">Services with logs in: {rangeTitle.toLowerCase()}. Or write words or LogQL above.</p>
      </header>
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Looking for services" />}
      {value?.length === 0 && <NoLogs />}
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

function NoLogs() {
  const { origin } = window.location;
  const entry = `{"streams":[{"stream":{"service_name":"hello"},"values":[["'$(date +%s)000000000'","first line"]]}]}`;
  return (
    <Empty icon="logs" title="No logs in this time">
      <p>Choose a longer time range, or push some logs. In a terminal, push one line:</p>
      <Example
        text={`curl -H 'Content-Type: application/json' \\\n  ${origin}/loki/api/v1/push \\\n  --data-raw '${entry}'`}
      />
      <p>Or push a file, line by line:</p>
      <Example text={`logboom push app.log --label service_name=app --addr ${origin}`} />
    </Empty>
  );
}

function Example({ text }: { readonly text: string }) {
  return (
    <div class="example-box">
      <pre class="example">{text}</pre>
      <CopyButton text={text} label="Copy the command" />
    </div>
  );
}
