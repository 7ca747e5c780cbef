/** Further queries in the chart of the first one: a text field each, run with Enter. */
import { MAX_QUERIES } from '../../../../shared/base/model/board.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { useDraft } from '../../state/use-draft.ts';

interface MoreQueriesProps {
  readonly queries: readonly string[];
  readonly onQueries: (queries: readonly string[]) => void;
}

const LETTERS = 'BCDE';

export function MoreQueries({ queries, onQueries }: MoreQueriesProps) {
  const [drafts, setDrafts] = useDraft(queries);
  const run = (next: readonly string[]) => onQueries(next.filter(query => query.trim() !== ''));
  const changed = (at: number, text: string) => drafts.map((query, i) => (i === at ? text : query));
  return (
    <div class="more-queries">
      {drafts.map((query, i) => (
        <form
          key={i}
          class="more-query"
          onSubmit={event => {
            event.preventDefault();
            run(drafts);
          }}
        >
          <b aria-hidden="true">{LETTERS[i]}</b>
          <input
            class="input mono"
            aria-label={`Query ${LETTERS[i]}`}
            value={query}
            placeholder="sum(rate({service_name=~&quot;.+&quot;}[$__auto]))"
            spellcheck={false}
            autocomplete="off"
            onInput={event => setDrafts(changed(i, event.currentTarget.value))}
          />
          <Button submits class="small">
            Run
          </Button>
          <IconButton
            icon="close"
            name={`Remove query ${LETTERS[i]}`}
            onClick={() => run(drafts.filter((_, at) => at !== i))}
          />
        </form>
      ))}
      {drafts.length < MAX_QUERIES - 1 && (
        <Button kind="quiet" icon="plus" class="small" onClick={() => setDrafts([...drafts, ''])}>
          Add query
        </Button>
      )}
    </div>
  );
}
