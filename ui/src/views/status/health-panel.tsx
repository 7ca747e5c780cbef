/** Health of the process: readiness, versions, log level, components. */
import { useState } from 'preact/hooks';
import type { ApiError } from '../../api/errors.ts';
import {
  fetchBuildInfo,
  fetchLogLevel,
  fetchReady,
  fetchServices,
  LOG_LEVELS,
  setLogLevel,
} from '../../api/status.ts';
import { useRequest } from '../../api/use-request.ts';
import { Chip, type Tone } from '../../components/chip.tsx';
import { Choice } from '../../components/choice.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { Panel } from '../../components/panel-page.tsx';

/** A new `round` reloads everything. */
export interface StatusPartProps {
  readonly round: number;
}

export function HealthPanel({ round }: StatusPartProps) {
  const readiness = useRequest(fetchReady, [round]);
  const build = useRequest(fetchBuildInfo, []);
  const { value: ready, error } = readiness;
  return (
    <Panel
      title="This process"
      aside={
        ready !== undefined && (
          <Chip tone={ready.isReady ? 'good' : 'error'}>{ready.isReady ? 'Ready' : 'Not ready'}</Chip>
        )
      }
    >
      {error !== undefined && <ErrorMessage error={error} />}
      {ready?.isReady === false && <p class="status-problem">{ready.reason}</p>}
      <dl class="facts">
        <div>
          <dt>Logboom</dt>
          <dd>{build.value?.revision.replace(/^logboom-/, '')}</dd>
        </div>
        <div>
          <dt>API version</dt>
          <dd>{build.value?.version}</dd>
        </div>
        <div>
          <dt>Runtime</dt>
          <dd>{build.value?.goVersion}</dd>
        </div>
        <div>
          <dt>Log level</dt>
          <dd>
            <LogLevel round={round} />
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

function LogLevel({ round }: StatusPartProps) {
  const { value, error, reload } = useRequest(fetchLogLevel, [round]);
  const [problem, setProblem] = useState<ApiError>();
  if (error !== undefined) return <span class="status-refused">{error.message}</span>;
  if (value === undefined) return null;
  const known = (LOG_LEVELS as readonly string[]).includes(value);
  return (
    <>
      <Choice
        name="Minimum log level"
        value={value}
        onChange={level => {
          setProblem(undefined);
          setLogLevel(level).then(reload, setProblem);
        }}
        options={[...LOG_LEVELS, ...(known ? [] : [value])].map(level => ({ value: level, label: level }))}
      />
      {problem !== undefined && <span class="status-refused">{problem.message}</span>}
    </>
  );
}

const TONES: Readonly<Record<string, Tone>> = {
  Running: 'good',
  Failed: 'error',
  Starting: 'busy',
  Stopping: 'warn',
};

export function ServicesPanel({ round }: StatusPartProps) {
  const { value, error } = useRequest(fetchServices, [round]);
  const running = value?.filter(({ state }) => state === 'Running').length ?? 0;
  return (
    <Panel title="Services" aside={value !== undefined && `${running} of ${value.length} running`}>
      {error !== undefined && <ErrorMessage error={error} />}
      {value === undefined && error === undefined && <Loading what="Loading services" />}
      {value !== undefined && (
        <ul class="service-list">
          {value.map(({ name, state }) => (
            <li key={name}>
              {state === 'Running' ? (
                <>
                  <i class="dot good" aria-hidden="true" />
                  <span>{name}</span>
                  <span class="hidden">{state}</span>
                </>
              ) : (
                <>
                  <span>{name}</span>
                  <Chip tone={TONES[state] ?? 'quiet'}>{state}</Chip>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
