/** Empty result of a log query: the reason, and an action that fixes it. */
import { useRequest } from '../../api/use-request.ts';
import { fetchWhyEmpty } from '../../api/why-empty.ts';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/message.tsx';
import { selectorOf } from '../../logql/edit.ts';
import { quoted } from '../../logql/tokens.ts';
import { manyText } from '../../time/quantities.ts';
import type { ResolvedRange } from '../../time/time-range.ts';

interface NoLinesProps {
  readonly query: string;
  readonly range: ResolvedRange;
  readonly onQuery: (query: string) => void;
  readonly onRange: (range: { readonly from: string; readonly to: string }) => void;
}

export function NoLines({ query, range, onQuery, onRange }: NoLinesProps) {
  const selector = selectorOf(query);
  const { value: why } = useRequest(
    async signal =>
      selector === undefined ? undefined : fetchWhyEmpty(selector, range, signal).catch(() => undefined),
    [selector, range],
  );
  return (
    <Empty icon="search" title="No matching lines in this time range">
      {(why === undefined || why.kind === 'none') && <p>Widen the time range or remove a filter.</p>}
      {why?.kind === 'filter' && selector !== undefined && (
        <>
          <p>
            About {manyText(why.entries, 'line')} in the selected streams, but none passes the filters after
            the selector.
          </p>
          <Button class="small" onClick={() => onQuery(selector)}>
            Show lines without filters
          </Button>
        </>
      )}
      {why?.kind === 'value' && (
        <>
          <p>
            In this time range, no stream has the {why.label} “{why.value}”.
            {why.meant !== undefined && ` Did you mean “${why.meant}”?`}
          </p>
          {why.meant !== undefined && (
            <Button
              class="small"
              onClick={() => onQuery(query.replace(quoted(why.value), () => quoted(why.meant ?? '')))}
            >
              Search {why.meant}
            </Button>
          )}
        </>
      )}
      {why?.kind === 'time' && (
        <>
          <p>The streams have lines in the last {why.days} days.</p>
          <Button class="small" onClick={() => onRange({ from: `now-${why.days}d`, to: 'now' })}>
            Search the last {why.days} days
          </Button>
        </>
      )}
    </Empty>
  );
}
