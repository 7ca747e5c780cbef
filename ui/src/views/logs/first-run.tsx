/** Range without logs: how to send the first logs, and a notice when they arrive. */
import { useState } from 'preact/hooks';
import { MS_PER_HOUR } from '../../../../shared/base/model/time-units.ts';
import { fetchVolume } from '../../api/queries.ts';
import { useRequest } from '../../api/use-request.ts';
import { SERVICE_LABEL } from '../../api/use-services.ts';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loading } from '../../components/message.tsx';
import { quoted } from '../../logql/tokens.ts';
import { SAMPLE_LABEL } from '../../sample/sample-label.ts';
import { changeParams } from '../../state/navigation.ts';
import { useEvery } from '../../state/use-every.ts';
import { SampleData } from './sample-data.tsx';

interface FirstRunProps {
  /** Runs a query over the last hour. */
  readonly onFirst: (query: string) => void;
  /** Called after sample data was loaded. */
  readonly onChange: () => void;
}

const LOOK_MS = 3000;
const LONG_MS = 30 * 24 * MS_PER_HOUR;

export function FirstRun({ onFirst, onChange }: FirstRunProps) {
  // Volumes also count sample data that a delete request hides.
  const selector = `{${SERVICE_LABEL}=~".+", ${SAMPLE_LABEL}=""}`;
  const look = (backMs: number, signal: AbortSignal) => {
    const toMs = Date.now() + 60_000;
    return fetchVolume({ selector, by: [SERVICE_LABEL], limit: 1, fromMs: toMs - backMs, toMs }, signal);
  };
  const arrived = useRequest(signal => look(MS_PER_HOUR, signal), []);
  const earlier = useRequest(signal => look(LONG_MS, signal), []);
  const first = arrived.value?.[0]?.labels[SERVICE_LABEL];
  useEvery(first === undefined ? LOOK_MS : 0, arrived.reload);
  if (earlier.value === undefined && earlier.error === undefined) return <Loading what="Loading services" />;
  const hasEarlier = (earlier.value?.length ?? 0) > 0;
  return (
    <>
      <header>
        <h1>{hasEarlier ? 'No logs in this time range' : 'Send your first logs'}</h1>
        {hasEarlier ? (
          <p class="soft">
            There are logs in the last 30 days.{' '}
            <Button class="small" onClick={() => changeParams({ from: 'now-30d', to: '' })}>
              Show the last 30 days
            </Button>
          </p>
        ) : (
          <p class="soft">The store has no logs of the last 30 days. Copy an example to send some.</p>
        )}
      </header>
      <section class="card first-run" aria-label="Send logs">
        <Ways />
        <p class="first-entry" role="status">
          {first === undefined ? (
            <>
              <span class="spinner" /> Waiting for the first entry
            </>
          ) : (
            <>
              <Icon name="check" /> Logs of {first} have arrived.{' '}
              <Button
                kind="primary"
                class="small"
                onClick={() => onFirst(`{${SERVICE_LABEL}=${quoted(first)}}`)}
              >
                Show logs
              </Button>
            </>
          )}
        </p>
      </section>
      <SampleData
        isLoaded={false}
        onChange={() => {
          changeParams({ from: '', to: '' });
          onChange();
        }}
      />
    </>
  );
}

const WAYS = ['curl', 'file', 'docker', 'otel', 'alloy'] as const;
type PushMethod = (typeof WAYS)[number];
const NAMES: Readonly<Record<PushMethod, string>> = {
  curl: 'curl',
  file: 'File',
  docker: 'Docker',
  otel: 'OpenTelemetry',
  alloy: 'Alloy',
};

function Ways() {
  const [way, setWay] = useState<PushMethod>('curl');
  const text = exampleOf(way, window.location.origin);
  return (
    <>
      <div class="first-run-head">
        <Choice
          name="Agent"
          value={way}
          onChange={setWay}
          options={WAYS.map(value => ({ value, label: NAMES[value] }))}
        />
        <CopyButton text={text} label="Copy example" />
      </div>
      <pre class="example">{text}</pre>
    </>
  );
}

function exampleOf(way: PushMethod, origin: string): string {
  switch (way) {
    case 'curl':
      return `curl -H 'Content-Type: application/json' \\
  ${origin}/loki/api/v1/push \\
  --data-raw '{"streams":[{"stream":{"service_name":"hello"},"values":[["'$(date +%s)000000000'","first line"]]}]}'`;
    case 'file':
      return `logboom push app.log --label service_name=app --addr ${origin}`;
    case 'docker':
      return `docker logs --follow CONTAINER 2>&1 | \\
  logboom push - --label service_name=CONTAINER --addr ${origin}`;
    case 'otel':
      return `exporters:
  otlphttp/logboom:
    endpoint: ${origin}/otlp
service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [otlphttp/logboom]`;
    case 'alloy':
      return `local.file_match "logs" {
  path_targets = [{"__path__" = "/var/log/*.log", "job" = "varlogs"}]
}
loki.source.file "logs" {
  targets    = local.file_match.logs.targets
  forward_to = [loki.write.logboom.receiver]
}
loki.write "logboom" {
  endpoint { url = "${origin}/loki/api/v1/push" }
}`;
  }
}
