/** List of labels; a click opens or closes the values of one. */
import { useState } from 'preact/hooks';
import { bytesText, countText, manyText } from '../../time/quantities.ts';
import { type LabelRow, matching } from './labels-model.ts';

interface LabelListProps {
  readonly rows: readonly LabelRow[];
  readonly open: readonly string[];
  readonly onToggle: (name: string) => void;
}

export const LABEL_SEARCH_ID = 'label-search';

export function LabelList({ rows, open, onToggle }: LabelListProps) {
  const [search, setSearch] = useState('');
  const fitting = matching(rows, search, ({ name }) => name);
  const largest = Math.max(1, ...rows.map(({ bytes }) => bytes ?? 0));
  return (
    <section class="card label-list" aria-label="Labels">
      <header>
        <h2>Labels</h2>
        <span class="soft numeric">{countText(rows.length)}</span>
      </header>
      <input
        id={LABEL_SEARCH_ID}
        class="input"
        type="search"
        placeholder="Search labels"
        aria-label="Search labels"
        value={search}
        onInput={event => setSearch(event.currentTarget.value)}
      />
      {fitting.length === 0 && <p class="column-note">No matching labels.</p>}
      <ul>
        {fitting.map(({ name, bytes, values }) => (
          <li key={name}>
            <button
              type="button"
              class="label-row"
              aria-pressed={open.includes(name)}
              onClick={() => onToggle(name)}
            >
              <span class="value-name">{name}</span>
              <span class="soft numeric">{values === undefined ? '' : manyText(values, 'value')}</span>
              {bytes !== undefined && (
                <>
                  <span class="value-bytes numeric">{bytesText(bytes)}</span>
                  <span class="bar">
                    <i style={{ width: `${(bytes / largest) * 100}%` }} />
                  </span>
                </>
              )}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
