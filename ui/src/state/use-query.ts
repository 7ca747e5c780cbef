/** Query of a view from the URL, LogQL or plain words, and the draft in the editor. */
import { useCallback, useMemo } from 'preact/hooks';
import { isLogql } from '../logql/grammar.ts';
import { ALL_SERVICES, type QueryReading, readQuery } from '../logql/words.ts';
import { usePane } from './pane.ts';
import { useDraft } from './use-draft.ts';

export interface QueryState {
  /** Text as typed. */
  readonly text: string;
  /** Query that is sent to the store, before variables are replaced. */
  readonly query: string;
  readonly draft: string;
  /** Reading of the draft, as it would be sent. */
  readonly draftReading: QueryReading;
  setDraft(draft: string): void;
  /** Selector that plain words search in. */
  readonly scope: string;
  changeScope(selector: string): void;
}

export function useQuery(): QueryState {
  const { params, change } = usePane();
  const text = params.q ?? '';
  const scope = useMemo(() => scopeOf(params.scope), [params.scope]);
  const query = useMemo(() => readQuery(text, scope).logql, [text, scope]);
  const [draft, setDraft] = useDraft(text);
  const draftReading = useMemo(() => readQuery(draft, scope), [draft, scope]);
  const changeScope = useCallback(
    (selector: string) => change({ scope: selector === ALL_SERVICES ? '' : selector }),
    [change],
  );
  return { text, query, draft, draftReading, setDraft, scope, changeScope };
}

/** Scope of a URL, which can contain any text: invalid selectors are ignored. */
function scopeOf(param: string | undefined): string {
  return param !== undefined && /^\{.*\}$/s.test(param) && isLogql(param) ? param : ALL_SERVICES;
}
