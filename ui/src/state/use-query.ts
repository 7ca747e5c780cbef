/** The query of a view as its address has it, LogQL or plain words, and the draft in the editor. */
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { isLogql } from '../logql/grammar.ts';
import { ALL_SERVICES, type QueryReading, readQuery } from '../logql/words.ts';
import { usePane } from './pane.ts';

export interface QueryState {
  /** As it was typed. */
  readonly text: string;
  /** What is sent to the store, before variables are filled in. */
  readonly query: string;
  readonly draft: string;
  /** How the draft would be sent. */
  readonly draftReading: QueryReading;
  setDraft(draft: string): void;
  /** The selector that plain words search in. */
  readonly scope: string;
  changeScope(selector: string): void;
}

export function useQuery(): QueryState {
  const { params, change } = usePane();
  const text = params.q ?? '';
  const scope = useMemo(() => scopeOf(params.scope), [params.scope]);
  const query = useMemo(() => readQuery(text, scope).logql, [text, scope]);
  const [draft, setDraft] = useState(text);
  useEffect(() => setDraft(text), [text]);
  const draftReading = useMemo(() => readQuery(draft, scope), [draft, scope]);
  const changeScope = useCallback(
    (selector: string) => change({ scope: selector === ALL_SERVICES ? '' : selector }),
    [change],
  );
  return { text, query, draft, draftReading, setDraft, scope, changeScope };
}

/** An address can have any text: what is not one selector is not sent. */
function scopeOf(param: string | undefined): string {
  return param !== undefined && /^\{.*\}$/s.test(param) && isLogql(param) ? param : ALL_SERVICES;
}
