/** Explanation above a query error of the store: the mistake in one sentence, and the corrected query. */
import { useMemo } from 'preact/hooks';
import type { ApiError } from '../api/errors.ts';
import { explainMistake } from '../logql/explain-mistake.ts';
import { Button } from './button.tsx';

interface MistakeHelpProps {
  readonly error: ApiError;
  readonly query: string;
  readonly onQuery: (query: string) => void;
}

const ABOUT_SYNTAX = /parse error|queries require at least one/;

export function MistakeHelp({ error, query, onQuery }: MistakeHelpProps) {
  const { message, status } = error;
  const found = useMemo(
    () => (status === 400 && ABOUT_SYNTAX.test(message) ? explainMistake(query) : undefined),
    [status, message, query],
  );
  if (found === undefined) return null;
  const { sentence, query: meant } = found;
  return (
    <div class="mistake-help">
      <p>{sentence}</p>
      {meant !== undefined && (
        <Button class="small" onClick={() => onQuery(meant)} aria-label={`Run ${meant}`}>
          <code>{meant}</code>
        </Button>
      )}
    </div>
  );
}
