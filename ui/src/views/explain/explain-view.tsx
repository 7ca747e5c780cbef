/**
 * Cost of a query: runs it as the log view does, and shows the data pruned, with the reason, and the data
 * read.
 */
import { useMemo } from 'preact/hooks';
import { type ExplainedAnswer, fetchExplained, fetchFormatted } from '../../api/explain.ts';
import { useRequest } from '../../api/use-request.ts';
import { Icon } from '../../components/icon.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { MistakeHelp } from '../../components/mistake-help.tsx';
import { fillVariables } from '../../logql/variables.ts';
import { ChooseService } from '../../query/choose-service.tsx';
import { OneQueryBar, useQueryText } from '../../query/one-query.tsx';
import { hrefOf } from '../../state/navigation.ts';
import { useQuery } from '../../state/use-query.ts';
import { paramsOfRange, useRange } from '../../state/use-range.ts';
import { stepFor } from '../../time/steps.ts';
import { adviceFor, explainSteps } from './explain-model.ts';
import { ExplainRounds } from './explain-rounds.tsx';
import { ExplainSteps } from './explain-steps.tsx';
import { ExplainWork } from './explain-work.tsx';

const PLACEHOLDER = '{service_name="checkout"} |= "declined"';
/** Same first request as the log view: a page of lines, or the instants of a chart. */
const PAGE_ENTRIES = 1000;
const MAX_POINTS = 300;

interface ExplainResult {
  readonly answer: ExplainedAnswer;
  readonly query: string;
  /** Query in the store's format. */
  readonly formatted: string | undefined;
}

export default function ExplainView() {
  const typed = useQuery();
  const { query } = typed;
  const range = useRange();
  const asks = query.trim() !== '';
  const { value, loading, error } = useRequest<ExplainResult | undefined>(
    async signal => {
      const { resolved } = range;
      if (!asks || resolved === undefined) return undefined;
      const stepMs = stepFor(resolved, MAX_POINTS);
      const sent = fillVariables(query, { rangeMs: resolved.toMs - resolved.fromMs, stepMs });
      const [answer, formatted] = await Promise.all([
        fetchExplained({ query: sent, ...resolved, stepMs, limit: PAGE_ENTRIES }, signal),
        fetchFormatted(sent, signal).catch(() => undefined),
      ]);
      return { answer, query: sent, formatted };
    },
    [query, range.resolved],
  );
  const ask = useQueryText(typed, range);
  return (
    <div class="page explain">
      <h1 class="hidden">Explain</h1>
      <OneQueryBar
        state={typed}
        range={range}
        error={error}
        loading={loading && asks}
        group="Explain"
        does="Explain the query"
        again="Refresh"
        placeholder={PLACEHOLDER}
        onRun={ask}
      >
        Explain
      </OneQueryBar>
      <div class="page-scroll">
        {range.resolved === undefined && <Empty icon="clock" title="Invalid time range" />}
        {!asks && (
          <>
            <Empty icon="explain" title="Query cost">
              <p>
                Choose a service or enter a query to see what was pruned, why, and how much data was read.
              </p>
            </Empty>
            <ChooseService range={range.resolved} onQuery={ask} />
          </>
        )}
        {error !== undefined && (
          <ErrorMessage error={error} lead={<MistakeHelp error={error} query={query} onQuery={ask} />} />
        )}
        {loading && asks && value === undefined && error === undefined && <Loading what="Running query" />}
        {value !== undefined && (
          <div class={`explanation ${loading ? 'stale' : ''}`} aria-busy={loading}>
            <Explanation
              found={value}
              logsHref={hrefOf('logs', { q: query, ...paramsOfRange(range.text) })}
            />
          </div>
        )}
      </div>
    </div>
  );
}

function Explanation({ found, logsHref }: { readonly found: ExplainResult; readonly logsHref: string }) {
  const { answer, query, formatted } = found;
  const steps = useMemo(() => (answer.explain === undefined ? [] : explainSteps(answer.explain)), [answer]);
  const advice = adviceFor(query, steps);
  return (
    <>
      {steps.length === 0 ? (
        <Empty icon="explain" title="The store sent no explanation">
          <p>It may be an older version or another program. Check the address of the store.</p>
        </Empty>
      ) : (
        <ExplainSteps steps={steps} />
      )}
      {advice.length > 0 && (
        <section class="message warning" aria-label="Suggestions">
          <Icon name="warning" size={18} />
          <ul>
            {advice.map(text => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <ExplainRounds rounds={answer.explain?.rounds ?? []} />
      <ExplainWork answer={answer} />
      <section class="explain-query">
        <h3>Formatted query</h3>
        <pre class="example">{formatted ?? query}</pre>
        <p>
          <a href={logsHref}>Open in Logs</a>
        </p>
      </section>
    </>
  );
}
