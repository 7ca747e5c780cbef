/**
 * Form for a delete request in two steps: it counts what the request covers, and the user confirms that
 * count. A change of the query or the time needs a new count.
 */
import { useState } from 'preact/hooks';
import { type Covered, createDelete, fetchCovered, type NewDeleteRequest } from '../../api/deletes.ts';
import { type ApiError, mistakeOf } from '../../api/errors.ts';
import { fetchFormatted } from '../../api/explain.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorMessage } from '../../components/message.tsx';
import { TimeField } from '../../components/time-field.tsx';
import { hrefOf, route } from '../../state/navigation.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import { bytesText, countText } from '../../time/quantities.ts';
import { DEFAULT_RANGE, formatTime, isRelative, parseTime, resolveRange } from '../../time/time-range.ts';

interface DeleteFormProps {
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

/** Counted request, which is sent when confirmed. */
interface Checked {
  readonly asked: NewDeleteRequest;
  readonly toMs: number;
  /** Undefined if the store does not count it. */
  readonly covered: Covered | undefined;
  readonly problem: ApiError | undefined;
}

export function DeleteForm({ onClose, onCreated }: DeleteFormProps) {
  const { params } = useStore(route);
  const utc = useStore(settings).zone === 'utc';
  const typed = (text: string) => (/^\d+$/.test(text) ? formatTime(Number(text), utc) : text);
  const [query, setQuery] = useState(params.q ?? '');
  const [from, setFrom] = useState(typed(params.from ?? DEFAULT_RANGE.from));
  const [to, setTo] = useState(typed(params.to ?? DEFAULT_RANGE.to));
  const [busy, setBusy] = useState(false);
  const [checked, setChecked] = useState<Checked>();
  const [problem, setProblem] = useState<ApiError>();
  const zone = { nowMs: Date.now(), utc };
  const range = resolveRange({ from, to }, zone);
  const changed = (act: (text: string) => void) => (text: string) => {
    setChecked(undefined);
    setProblem(undefined);
    act(text);
  };

  const check = () => {
    if (range === undefined || query.trim() === '') return;
    const asked = { query, fromMs: range.fromMs, toMs: to.trim() === 'now' ? undefined : range.toMs };
    setBusy(true);
    setProblem(undefined);
    const answer = (covered: Covered | undefined, refusal?: ApiError) =>
      setChecked({ asked, toMs: range.toMs, covered, problem: refusal });
    // Formats the query first, so that a mistake is shown at its position in the typed text.
    fetchFormatted(query)
      .then(() => fetchCovered({ query, ...range }))
      .then(answer, (error: ApiError) => {
        // An invalid query cannot be deleted. A valid one that is too large to count can.
        if (mistakeOf(error.message, query) !== undefined) setProblem(error);
        else answer(undefined, error);
      })
      .finally(() => setBusy(false));
  };
  const create = ({ asked }: Checked) => {
    setBusy(true);
    createDelete(asked).then(onCreated, (error: ApiError) => {
      setBusy(false);
      setProblem(error);
    });
  };
  return (
    <Dialog title="Delete logs" onClose={onClose}>
      <form
        class="form"
        onSubmit={event => {
          event.preventDefault();
          if (checked === undefined) check();
        }}
      >
        <label class="field">
          <span>Query of the lines to delete</span>
          <textarea
            class="input mono delete-query"
            rows={3}
            value={query}
            autofocus
            required
            spellcheck={false}
            placeholder={'{app="shop"} |= "user=4711"'}
            onInput={event => changed(setQuery)(event.currentTarget.value)}
          />
        </label>
        <div class="delete-times">
          <TimeField
            name="From"
            value={from}
            title={relativeTitle(from)}
            wrong={parseTime(from, zone) === undefined}
            onChange={changed(setFrom)}
          />
          <TimeField
            name="To"
            value={to}
            title={relativeTitle(to)}
            wrong={parseTime(to, zone) === undefined}
            onChange={changed(setTo)}
          />
          <small>
            {utc ? 'In UTC' : 'In local time'}, such as 2026-11-21 14:05:00 or now-6h. Both ends are included.
          </small>
        </div>
        {range === undefined && (
          <p class="form-problem" role="alert">
            {parseTime(from, zone) === undefined || parseTime(to, zone) === undefined
              ? 'Enter a time such as 2026-11-21 14:05:00 or now-6h.'
              : 'The end time must be after the start time.'}
          </p>
        )}
        {problem !== undefined && <ErrorMessage error={problem} />}
        {checked !== undefined && <Answer checked={checked} />}
        <div class="form-actions">
          <Button onClick={onClose}>Cancel</Button>
          {checked === undefined ? (
            <Button kind="primary" submits disabled={busy || range === undefined || query.trim() === ''}>
              {busy ? 'Counting…' : 'Count lines'}
            </Button>
          ) : (
            <Button kind="primary" class="danger" disabled={busy} onClick={() => create(checked)}>
              {confirmText(checked)}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function confirmText({ covered }: Checked): string {
  if (covered === undefined) return 'Delete without a count';
  if (covered.lines === 0) return 'Create anyway';
  return covered.lines === 1 ? 'Delete 1 line' : `Delete ${countText(covered.lines)} lines`;
}

function Answer({ checked: { asked, toMs, covered, problem } }: { readonly checked: Checked }) {
  const look = hrefOf('logs', { q: asked.query, from: String(asked.fromMs), to: String(toMs) });
  if (covered === undefined) {
    return (
      <div class="delete-answer" role="status">
        <p>
          <strong>The lines could not be counted.</strong> Error of the store: {problem?.message}
        </p>
        <p class="soft">A delete request may cover more than a query can return.</p>
      </div>
    );
  }
  if (covered.lines === 0) {
    return (
      <div class="delete-answer" role="status">
        <p>
          <strong>No line matches.</strong> Matching lines may be hidden by an earlier request.
        </p>
        <p class="soft">
          Lines pushed into this time range before the request is processed would be deleted.
        </p>
      </div>
    );
  }
  return (
    <div class="delete-answer danger" role="status">
      <p>
        <strong class="numeric">
          {covered.lines === 1 ? '1 line' : `${countText(covered.lines)} lines`}, {bytesText(covered.bytes)}
        </strong>{' '}
        match. <a href={look}>Show lines</a>
      </p>
      <p class="soft">
        They disappear from queries immediately
        {asked.toMs === undefined && ', including lines that arrive before you confirm'}. You can cancel the
        request until deletion starts. Deleted lines cannot be restored.
      </p>
    </div>
  );
}

const relativeTitle = (text: string) => (isRelative(text) ? 'Relative to now' : undefined);
