/**
 * Values of one label, each with its share of the bytes; a click chooses it. Choices of other labels narrow
 * them.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { isAbort } from '../../api/errors.ts';
import { fetchLabelValues, fetchVolume, type Volume } from '../../api/queries.ts';
import { useRequest } from '../../api/use-request.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { ErrorMessage, Loading } from '../../components/message.tsx';
import { type ChosenLabels, selectorText, withoutLabel } from '../../logql/selection.ts';
import { bytesText, countText, percentText } from '../../time/quantities.ts';
import type { ResolvedRange } from '../../time/time-range.ts';
import { matching, plainRows, type ValueRow, valueRows } from './labels-model.ts';

interface ValueColumnProps {
  readonly label: string;
  readonly selection: ChosenLabels;
  readonly range: ResolvedRange;
  readonly onToggle: (value: string) => void;
  readonly onClose: () => void;
}

/** Default of `volume_max_series`; with more values the store reports no volumes. */
const MAX_VALUES = 1000;
/** Values drawn at a time: more than a column shows. A page of 1,000 boxes is slow. */
const PAGE_VALUES = 100;
const SEARCH_FROM = 8;

interface LoadedValues {
  readonly volumes: readonly Volume[] | undefined;
  readonly values: readonly string[];
}

export function ValueColumn({ label, selection, range, onToggle, onClose }: ValueColumnProps) {
  const others = selectorText(withoutLabel(selection, label));
  const chosen = selection.values.get(label) ?? [];
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(PAGE_VALUES);
  useEffect(() => setShown(PAGE_VALUES), [search, others]);
  const asked = useRequest(signal => findValues(label, others, range, signal), [label, others, range]);
  const { value: found, loading, error } = asked;
  const rows = useMemo<readonly ValueRow[]>(() => {
    if (found === undefined) return [];
    return found.volumes === undefined ? plainRows(found.values) : valueRows(label, found.volumes, chosen);
  }, [found, label, chosen]);
  const fitting = matching(rows, search, ({ value }) => value);
  const largest = rows[0]?.share ?? 1;
  return (
    <section class="card value-column" aria-label={`Values of ${label}`} aria-busy={loading}>
      <header>
        <h2>{label}</h2>
        {found !== undefined && <span class="soft numeric">{countText(rows.length)}</span>}
        <IconButton icon="close" name={`Close ${label}`} onClick={onClose} />
      </header>
      {rows.length > SEARCH_FROM && (
        <input
          class="input"
          type="search"
          placeholder="Search values"
          aria-label={`Search values of ${label}`}
          value={search}
          onInput={event => setSearch(event.currentTarget.value)}
        />
      )}
      {error !== undefined && <ErrorMessage error={error} />}
      {found === undefined && error === undefined && <Loading what="Loading values" />}
      {found !== undefined && fitting.length === 0 && <p class="column-note">No matching values.</p>}
      <ul class={`label-values ${loading ? 'stale' : ''}`}>
        {fitting.slice(0, shown).map(({ value, bytes, share }) => (
          <li key={value}>
            <label class={`value ${chosen.includes(value) ? 'chosen' : ''}`}>
              <input type="checkbox" checked={chosen.includes(value)} onChange={() => onToggle(value)} />
              <span class="value-name">{value}</span>
              {bytes !== undefined && (
                <>
                  <span class="value-bytes numeric">{bytesText(bytes)}</span>
                  <span class="value-share numeric">{percentText(share)}</span>
                  <span class="bar">
                    <i style={{ width: `${(share / largest) * 100}%` }} />
                  </span>
                </>
              )}
            </label>
          </li>
        ))}
      </ul>
      {fitting.length > shown && (
        <Button kind="quiet" class="small" onClick={() => setShown(count => count + PAGE_VALUES)}>
          {`Show ${Math.min(PAGE_VALUES, fitting.length - shown)} more`}
        </Button>
      )}
      {found !== undefined && found.volumes === undefined && (
        <p class="column-note">
          The store returns no volumes for this label: it has too many values, or volumes are disabled.
        </p>
      )}
    </section>
  );
}

/** Values with their bytes, or only the values if the store refuses the volume. */
async function findValues(
  label: string,
  others: string,
  range: ResolvedRange,
  signal: AbortSignal,
): Promise<LoadedValues> {
  try {
    const volumes = await fetchVolume({ selector: others, by: [label], limit: MAX_VALUES, ...range }, signal);
    return { volumes, values: [] };
  } catch (error) {
    if (isAbort(error)) throw error;
    const values = await fetchLabelValues(label, range, others === '{}' ? undefined : others, signal);
    return { volumes: undefined, values };
  }
}
