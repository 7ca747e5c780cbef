/** Shows a long list page by page, because hidden rows then cost nothing. */
import { useState } from 'preact/hooks';
import { countText } from '../time/quantities.ts';
import { Button } from './button.tsx';

interface PagedList<T> {
  readonly shown: readonly T[];
  /** Number of rows that are not shown yet. */
  readonly rest: number;
  more(): void;
}

export function usePaged<T>(list: readonly T[], pageSize: number): PagedList<T> {
  const [pages, setPages] = useState(1);
  const shown = list.slice(0, pages * pageSize);
  return { shown, rest: list.length - shown.length, more: () => setPages(pages + 1) };
}

export function More({ paged, what }: { readonly paged: PagedList<unknown>; readonly what: string }) {
  if (paged.rest === 0) return null;
  return (
    <div class="more">
      <Button kind="quiet" icon="down" onClick={paged.more}>
        {`${countText(paged.rest)} more ${what}`}
      </Button>
    </div>
  );
}
