/**
 * State of `logboom view`, and how keys and responses change it. Pure: work for the store is returned as an
 * effect.
 */
import type { PrintedEntry } from '../range-query.ts';
import {
  type Completion,
  completed,
  completionAt,
  edited,
  type QueryLine,
  STAGES,
  typed,
  withFilter,
} from './query-line.ts';

export interface ViewState {
  readonly line: QueryLine;
  readonly focus: 'query' | 'list';
  /** Newest first. */
  readonly entries: readonly PrintedEntry[];
  readonly selected: number;
  /** The selected entry is shown with its labels. */
  readonly hasDetails: boolean;
  /** Place of the selected label in the details. */
  readonly field: number;
  /** Entries in each part of the time range, oldest first. */
  readonly counts: readonly number[];
  readonly isBusy: boolean;
  readonly isTailing: boolean;
  readonly message: string;
  /** Words for the query line, and what they complete. */
  readonly words: readonly string[];
  readonly completion: Completion | undefined;
}

export type ViewEffect =
  | { readonly kind: 'run' }
  | { readonly kind: 'complete'; readonly completion: Completion }
  | { readonly kind: 'start-tail' }
  | { readonly kind: 'stop-tail' }
  | { readonly kind: 'quit' };

export interface Key {
  /** Name of a key such as `up`, or undefined for text. */
  readonly name: string | undefined;
  readonly text: string;
}

type StateChange = readonly [state: ViewState, effect?: ViewEffect];

/** Entries of a live tail that are kept; older ones leave. */
export const MAX_VIEW_ENTRIES = 5000;
const MAX_WORDS = 50;

export function initialState(query: string): ViewState {
  return {
    line: { text: query, cursor: query.length },
    focus: query === '' ? 'query' : 'list',
    entries: [],
    selected: 0,
    hasDetails: false,
    field: 0,
    counts: [],
    isBusy: false,
    isTailing: false,
    message: '',
    words: [],
    completion: undefined,
  };
}

/** @param page rows of the list on the screen */
export function onKey(state: ViewState, key: Key, page: number): StateChange {
  if (key.name === 'quit') return [state, { kind: 'quit' }];
  return state.focus === 'query' ? onQueryKey(state, key) : onListKey(state, key, page);
}

function onQueryKey(state: ViewState, { name, text }: Key): StateChange {
  const plain = { ...state, words: [], completion: undefined };
  switch (name) {
    case 'enter':
      return run({ ...plain, focus: 'list' });
    case 'escape':
      return [{ ...plain, focus: 'list' }];
    case 'tab': {
      const completion = completionAt(state.line);
      if (completion === undefined) return [plain];
      if (completion.kind === 'stage') return [withWords(state, completion, STAGES)];
      return [state, { kind: 'complete', completion }];
    }
    case undefined:
      return [{ ...plain, line: typed(state.line, text) }];
    default:
      return [{ ...plain, line: edited(state.line, name) }];
  }
}

/** Completes as far as all words agree, and shows them if there are several. A late response changes nothing. */
export function withWords(state: ViewState, completion: Completion, all: readonly string[]): ViewState {
  const now = completionAt(state.line);
  if (JSON.stringify(now) !== JSON.stringify(completion)) return state;
  const words = all.filter(word => word.startsWith(completion.prefix)).sort();
  if (words.length === 0) return { ...state, words: [], completion: undefined, message: 'no completion' };
  if (words.length === 1)
    return { ...state, line: completed(state.line, completion, words[0]), words: [], completion: undefined };
  const common = words.reduce(commonStart);
  const at = state.line.cursor - completion.prefix.length;
  const line =
    common.length > completion.prefix.length && !/["\\]/.test(common)
      ? {
          text: state.line.text.slice(0, at) + common + state.line.text.slice(state.line.cursor),
          cursor: at + common.length,
        }
      : state.line;
  return { ...state, line, words: words.slice(0, MAX_WORDS), completion };
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++;
  return a.slice(0, length);
}

function onListKey(state: ViewState, { name, text }: Key, page: number): StateChange {
  const { hasDetails, isTailing } = state;
  switch (name ?? text) {
    case '/':
    case 'tab':
      return [{ ...state, focus: 'query' }];
    case 'q':
      return [state, { kind: 'quit' }];
    case 'escape':
      return [{ ...state, hasDetails: false }];
    case 'enter':
      return [{ ...state, hasDetails: !hasDetails && state.entries.length > 0, field: 0 }];
    case 'r':
      return run(state);
    case 't':
      return isTailing
        ? [{ ...state, isTailing: false, message: '' }, { kind: 'stop-tail' }]
        : [{ ...state, isTailing: true, message: '' }, { kind: 'start-tail' }];
    case 'up':
    case 'k':
      return [moved(state, -1)];
    case 'down':
    case 'j':
      return [moved(state, 1)];
    case 'pageup':
      return [moved(state, -page)];
    case 'pagedown':
    case ' ':
      return [moved(state, page)];
    case 'home':
    case 'g':
      return [moved(state, -state.entries.length)];
    case 'end':
    case 'G':
      return [moved(state, state.entries.length)];
    case 'left':
      return [withField(state, -1)];
    case 'right':
      return [withField(state, 1)];
    case '+':
    case '-':
      return filtered(state, text === '+');
    default:
      return [state];
  }
}

function moved(state: ViewState, by: number): ViewState {
  const selected = Math.max(0, Math.min(state.entries.length - 1, state.selected + by));
  return { ...state, selected };
}

/** Labels of the selected entry, by name. */
export function fieldsOfSelected({ entries, selected }: ViewState): readonly (readonly [string, string])[] {
  return Object.entries(entries[selected]?.labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
}

function withField(state: ViewState, by: number): ViewState {
  if (!state.hasDetails) return state;
  return { ...state, field: Math.max(0, Math.min(fieldsOfSelected(state).length - 1, state.field + by)) };
}

function filtered(state: ViewState, keeps: boolean): StateChange {
  const field = state.hasDetails ? fieldsOfSelected(state)[state.field] : undefined;
  if (field === undefined)
    return [{ ...state, message: 'open an entry with Enter and choose a label to filter by' }];
  const text = withFilter(state.line.text, field[0], field[1], keeps);
  return run({ ...state, line: { text, cursor: text.length }, hasDetails: false });
}

/** A live tail continues with the new query. */
function run(state: ViewState): StateChange {
  const { isTailing } = state;
  if (state.line.text.trim() === '') return [{ ...state, message: 'type a query, for example {app="shop"}' }];
  return [{ ...state, message: '', isBusy: !isTailing }, { kind: isTailing ? 'start-tail' : 'run' }];
}

export function withEntries(state: ViewState, entries: readonly PrintedEntry[], message: string): ViewState {
  return { ...state, entries, selected: 0, field: 0, hasDetails: false, isBusy: false, message };
}

/** @param fresh oldest first, as a tail gives them. The selected entry stays selected, unless it is the newest. */
export function withTailed(state: ViewState, fresh: readonly PrintedEntry[]): ViewState {
  const entries = [...fresh.toReversed(), ...state.entries].slice(0, MAX_VIEW_ENTRIES);
  const stays = state.selected > 0 || state.hasDetails;
  const selected = stays ? Math.min(entries.length - 1, state.selected + fresh.length) : 0;
  return { ...state, entries, selected };
}
