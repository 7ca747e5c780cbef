/** Patterns of the lines of a selector: counts over time. A click opens the lines of one. */
import { useMemo } from 'preact/hooks';
import { Choice } from '../../components/choice.tsx';
import { Empty, ErrorMessage, Loading } from '../../components/message.tsx';
import { MistakeHelp } from '../../components/mistake-help.tsx';
import { selectorOf, withPatternFilter } from '../../logql/edit.ts';
import { ChooseService } from '../../query/choose-service.tsx';
import { OneQueryBar, useQueryText } from '../../query/one-query.tsx';
import { changeParams, hrefOf, route } from '../../state/navigation.ts';
import { useQuery } from '../../state/use-query.ts';
import { paramsOfRange, useRange } from '../../state/use-range.ts';
import { useStore } from '../../state/use-store.ts';
import { manyText, percentText, shortText } from '../../time/quantities.ts';
import { stepName } from '../../time/steps.ts';
import { PatternTable } from './pattern-table.tsx';
import { levelCounts, type PatternSort, sortedRows } from './patterns-model.ts';
import { type FoundPatterns, usePatterns } from './use-patterns.ts';

const PLACEHOLDER = '{service_name="checkout"}';
/** A new query has other levels. */
const NO_LEVEL = { level: '' } as const;

export default function PatternsView() {
  const typed = useQuery();
  const { query } = typed;
  const range = useRange();
  const asked = usePatterns(query.trim() === '' ? undefined : query, range.resolved);
  const { value: found, loading, error } = asked;
  const ask = useQueryText(typed, range, NO_LEVEL);
  return (
    <div class="page patterns">
      <h1 class="hidden">Patterns</h1>
      <OneQueryBar
        state={typed}
        range={range}
        error={error}
        loading={loading && query !== ''}
        group="Patterns"
        does="Find patterns"
        again="Find patterns again"
        placeholder={PLACEHOLDER}
        onRun={ask}
      >
        Find
      </OneQueryBar>
      <div class="page-scroll">
        {range.resolved === undefined && <Empty icon="clock" title="Invalid time range" />}
        {query.trim() === '' && (
          <>
            <Empty icon="patterns" title="Patterns of a service">
              <p>Choose a service or enter a selector to see the patterns of its lines.</p>
            </Empty>
            <ChooseService range={range.resolved} onQuery={ask} />
          </>
        )}
        {error?.status === 404 && <PatternsOff />}
        {error !== undefined && error.status !== 404 && (
          <ErrorMessage error={error} lead={<MistakeHelp error={error} query={query} onQuery={ask} />} />
        )}
        {loading && found === undefined && query.trim() !== '' && error === undefined && (
          <Loading what="Finding patterns" />
        )}
        {found !== undefined && found.rows.length === 0 && (
          <Empty icon="patterns" title="No patterns in this time range">
            <p>A pattern needs at least 30 lines. Widen the time range or the selector.</p>
          </Empty>
        )}
        {found !== undefined && found.rows.length > 0 && (
          <Patterns found={found} query={query} stale={loading} />
        )}
      </div>
    </div>
  );
}

interface PatternsProps {
  readonly found: FoundPatterns;
  readonly query: string;
  readonly stale: boolean;
}

function Patterns({ found, query, stale }: PatternsProps) {
  const { params } = useStore(route);
  const range = useRange();
  const sort: PatternSort = params.sort === 'newest' ? 'newest' : 'lines';
  const levels = useMemo(() => levelCounts(found.rows), [found]);
  const rows = useMemo(
    () =>
      sortedRows(
        params.level === undefined ? found.rows : found.rows.filter(({ level }) => level === params.level),
        sort,
      ),
    [found, params.level, sort],
  );
  const selector = selectorOf(query);
  const linkOf = (pattern: string, op: '|>' | '!>') =>
    hrefOf('logs', { q: withPatternFilter(query, pattern, op), ...paramsOfRange(range.text) });
  return (
    <section class={stale ? 'stale' : ''} aria-label="Patterns" aria-busy={stale}>
      <div class="page-line">
        <p class="numeric" role="status">
          <strong>{manyText(rows.length, 'pattern')}</strong>
          <span class="soft only-wide">
            {` · ${percentText(found.counted / found.lines)} of about ${manyText(found.lines, 'line')}`}
            {selector !== undefined && selector !== query.trim() && ` · of ${selector}; filters are ignored`}
          </span>
        </p>
        <ul class="levels">
          {levels.map(({ level, count }) => (
            <li key={level}>
              <button
                type="button"
                class="level-button"
                aria-pressed={params.level === level}
                title={params.level === level ? 'Show all levels' : `Show only ${level}`}
                onClick={() =>
                  changeParams({ level: params.level === level ? '' : level }, { replace: true })
                }
              >
                <i style={{ background: `var(--${level})` }} />
                {level}
                <span class="numeric">{shortText(count)}</span>
              </button>
            </li>
          ))}
        </ul>
        <Choice
          name="Order of patterns"
          value={sort}
          onChange={next => changeParams({ sort: next === 'lines' ? '' : next }, { replace: true })}
          options={[
            { value: 'lines', label: 'Most lines' },
            { value: 'newest', label: 'Newest' },
          ]}
        />
      </div>
      <PatternTable rows={rows} stepTitle={stepName(found.grid.stepMs)} hrefOf={linkOf} />
    </section>
  );
}

/** Explanation for a store that mines no patterns, because its response has none. */
function PatternsOff() {
  return (
    <Empty icon="patterns" title="Pattern mining is disabled">
      <p>The store returned status 404. To enable patterns, set this in its configuration and restart it:</p>
      <pre class="example">{'pattern_ingester:\n  enabled: true'}</pre>
    </Empty>
  );
}
