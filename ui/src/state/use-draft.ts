/** Draft of a value that the user edits; it starts again whenever the value changes. */
import { useCallback, useState } from 'preact/hooks';

export function useDraft<T>(value: T): readonly [draft: T, setDraft: (draft: T) => void] {
  const [draft, setDraft] = useState(value);
  const [known, setKnown] = useState(value);
  // Not in an effect: it would run after the first paint, and discard what the user has typed by then.
  if (known !== value) {
    setKnown(() => value);
    setDraft(() => value);
  }
  return [draft, useCallback((next: T) => setDraft(() => next), [])];
}
