/**
 * Panel of saved queries: opens one, saves the current query, or creates an alert or a board panel from it.
 */
import { useState } from 'preact/hooks';
import { type ChartKind, MAX_BOARD_NAME_CHARACTERS, MAX_PANELS } from '../../../shared/base/model/board.ts';
import type { ApiError } from '../api/errors.ts';
import { createSaved, fetchSaved, fetchSavedItem, replaceSaved } from '../api/saved.ts';
import { useRequest } from '../api/use-request.ts';
import { Button } from '../components/button.tsx';
import { FindField } from '../components/find-field.tsx';
import { ErrorMessage } from '../components/message.tsx';
import { asksForLines } from '../logql/tokens.ts';
import { go, hrefOf } from '../state/navigation.ts';
import type { RangeText } from '../time/time-range.ts';
import { openSavedQuery } from './open-saved.ts';

export interface SavedMenuProps {
  /** LogQL queries; the first is the one in the editor. */
  readonly queries: readonly string[];
  readonly chart: ChartKind;
  readonly range: RangeText;
  readonly onClose: () => void;
}

/** Maximum number of queries shown; others are found by name. */
const MAX_SHOWN = 12;

export function SavedMenu({ queries, chart, range, onClose }: SavedMenuProps) {
  const saved = useRequest(signal => fetchSaved('queries', signal), []);
  const boards = useRequest(signal => fetchSaved('boards', signal), []);
  const [name, setName] = useState('');
  const [find, setFind] = useState('');
  const [withTime, setWithTime] = useState(false);
  const [said, setSaid] = useState<string>();
  const [problem, setProblem] = useState<ApiError>();
  const [query] = queries;
  const hasQuery = query.trim() !== '';
  const save = () => {
    const times = withTime ? range : { from: '', to: '' };
    createSaved('queries', { name, description: '', queries, ...times, chart }).then(() => {
      setSaid(`Saved as ${name}`);
      setName('');
      saved.reload();
    }, setProblem);
  };
  const addTo = async (id: string) => {
    try {
      const { content, version, name: board } = await fetchSavedItem('boards', id);
      const isLines = asksForLines(query);
      const panel = {
        title: '',
        kind: isLines ? ('logs' as const) : chart,
        unit: 'auto' as const,
        width: 6,
        rows: 4,
        queries: (isLines ? [query] : queries).map(one => ({ query: one, legend: '' })),
      };
      await replaceSaved('boards', { id, version }, { ...content, panels: [...content.panels, panel] });
      setSaid(`Added to ${board}`);
    } catch (error) {
      setProblem(error as ApiError);
    }
  };
  const wanted = find.trim().toLowerCase();
  const found = (saved.value ?? []).filter(one => `${one.name} ${one.about}`.toLowerCase().includes(wanted));
  return (
    <div class="saved-menu">
      {hasQuery && (
        <form
          class="saved-new"
          onSubmit={event => {
            event.preventDefault();
            if (name.trim() !== '') save();
          }}
        >
          <label class="field">
            <span>Save this query as</span>
            <input
              class="input"
              value={name}
              maxLength={MAX_BOARD_NAME_CHARACTERS}
              onInput={event => setName(event.currentTarget.value)}
            />
          </label>
          <label>
            <input
              type="checkbox"
              checked={withTime}
              onChange={event => setWithTime(event.currentTarget.checked)}
            />{' '}
            with its time range
          </label>
          <div class="saved-actions">
            <Button kind="primary" submits disabled={name.trim() === ''}>
              Save query
            </Button>
            <Button
              icon="bell"
              onClick={() => {
                onClose();
                go('rules', { new: '1', q: query });
              }}
            >
              Create alert
            </Button>
            <select
              class="input"
              aria-label="Add to a board"
              value=""
              onChange={event => void addTo(event.currentTarget.value)}
            >
              <option value="">Add to a board…</option>
              {(boards.value ?? []).slice(0, MAX_PANELS * 4).map(board => (
                <option key={board.id} value={board.id}>
                  {board.name}
                </option>
              ))}
            </select>
          </div>
        </form>
      )}
      {said !== undefined && <p role="status">{said}</p>}
      {(problem ?? saved.error) !== undefined && <ErrorMessage error={(problem ?? saved.error)!} />}
      {saved.value !== undefined && saved.value.length > MAX_SHOWN && (
        <FindField name="Find a saved query" value={find} onChange={setFind} />
      )}
      {found.length > 0 && (
        <ul class="saved-found" aria-label="Saved queries">
          {found.slice(0, MAX_SHOWN).map(({ id, name: title, about }) => (
            <li key={id}>
              <button
                type="button"
                onClick={() => {
                  fetchSavedItem('queries', id).then(({ content }) => {
                    onClose();
                    openSavedQuery(content);
                  }, setProblem);
                }}
              >
                <strong>{title}</strong>
                <span class="mono">{about}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {saved.value?.length === 0 && <p class="soft">No saved queries yet. Save the current one above.</p>}
      <p>
        <a href={hrefOf('boards')}>Open boards and saved queries</a>
      </p>
    </div>
  );
}
