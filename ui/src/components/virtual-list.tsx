/**
 * Virtual list that draws only visible rows. Rows may have different heights: each is measured when it is
 * drawn, and counts as `estimatePx` until then. If a row above the visible ones turns out to be higher, the
 * scroll position is adjusted, so that the visible rows do not jump.
 *
 * Pitfall: an element can show another row later (RowElements). What `row` returns has a key if it has a state.
 */
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { RowElements } from './row-elements.ts';
import { RowOffsets } from './row-offsets.ts';

interface VirtualListProps {
  readonly count: number;
  readonly keyOf: (index: number) => string;
  readonly row: (index: number) => ComponentChildren;
  readonly estimatePx: number;
  /** Scrolling element; the list may begin anywhere inside it. */
  readonly scroller: RefObject<HTMLElement>;
  /** Called when the end of the list is near. */
  readonly onNearEnd?: () => void;
  /** Index to scroll into view each time it changes; -1 for none. */
  readonly focus?: number;
  /** Measured heights are discarded when it changes. */
  readonly layout: string;
}

/** Extra rows drawn before and after the visible ones, but for jumps among rows of one height. */
const OVERSCAN = 12;
/** Time without scrolling after which a jump has ended. */
const REST_MS = 100;
const NEAR_END_PX = 1500;

export function VirtualList(props: VirtualListProps) {
  const { count, keyOf, row, estimatePx, scroller, onNearEnd, focus = -1, layout } = props;
  const list = useRef<HTMLDivElement>(null);
  // Another layout has other heights.
  const heights = useMemo(() => new Map<string, number>(), [layout]);
  const differs = useMemo(() => ({ some: false }), [layout]);
  const [, draw] = useState(0);
  const [seen, setSeen] = useState({ top: 0, bottom: 1200, jumped: false });
  const elements = useMemo(() => new RowElements(), []);

  const offsets = useMemo(
    () => new RowOffsets(count, index => heights.get(keyOf(index)) ?? estimatePx),
    [count, keyOf, heights, estimatePx],
  );
  /** True if all rows so far are `estimatePx` high. Rows that turn out to be higher would move the visible ones. */
  const isEven = heights.size > 0 && !differs.some;
  const overscan = seen.jumped && isEven ? 0 : OVERSCAN;
  const first = Math.max(0, offsets.rowAt(seen.top) - overscan);
  const end = Math.min(count, offsets.rowAt(seen.bottom) + 1 + overscan);
  const now = useRef({ offsets, keyOf });
  now.current = { offsets, keyOf };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let rest: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      const at = element.scrollTop - (list.current?.offsetTop ?? 0);
      // Rounded, so that one pixel of scrolling causes no rendering.
      const top = Math.floor(at / 100) * 100;
      const bottom = Math.ceil((at + element.clientHeight) / 100) * 100;
      setSeen(before => {
        if (before.top === top && before.bottom === bottom) return before;
        return { top, bottom, jumped: top >= before.bottom || bottom <= before.top };
      });
      clearTimeout(rest);
      rest = setTimeout(
        () => setSeen(before => (before.jumped ? { ...before, jumped: false } : before)),
        REST_MS,
      );
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      resized.disconnect();
      clearTimeout(rest);
    };
  }, [scroller]);

  const observer = useMemo(
    () =>
      new ResizeObserver(entries => {
        const element = scroller.current;
        const top = (element?.scrollTop ?? 0) - (list.current?.offsetTop ?? 0);
        const { offsets: known, keyOf: keyAt } = now.current;
        let changed = false;
        let above = 0;
        for (const { target, borderBoxSize } of entries) {
          const index = indexOfRow(target);
          const height = borderBoxSize[0].blockSize;
          if (height === 0 || index >= known.count) continue;
          heights.set(keyAt(index), height);
          const before = known.height(index);
          if (Math.abs(before - height) < 0.5) continue;
          changed = true;
          differs.some = true;
          if (known.top(index) + before <= top + above) above += height - before;
          known.setHeight(index, height);
        }
        if (above !== 0 && element !== null) element.scrollTop += above;
        if (changed) draw(round => round + 1);
      }),
    [heights, differs, scroller],
  );
  useEffect(() => () => observer.disconnect(), [observer]);

  useEffect(() => {
    if (offsets.total - seen.bottom < NEAR_END_PX) onNearEnd?.();
  });

  // Scrolls only when the focus changes.
  useEffect(() => {
    const element = scroller.current;
    if (focus < 0 || focus >= count || element === null) return;
    const start = (list.current?.offsetTop ?? 0) + now.current.offsets.top(focus);
    const height = now.current.offsets.height(focus);
    const coveredPx = 48;
    if (start - coveredPx < element.scrollTop) element.scrollTop = start - coveredPx;
    else if (start + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = Math.min(start - coveredPx, start + height - element.clientHeight + 8);
    }
  }, [focus]);

  const keys: string[] = [];
  for (let i = first; i < end; i++) keys.push(keyOf(i));
  const numbers = elements.numbersFor(keys);
  const drawn = keys.map((key, i) => (
    <MeasuredRow
      key={numbers[i]}
      measured={isEven ? '' : key}
      index={first + i}
      count={count}
      observer={observer}
    >
      {row(first + i)}
    </MeasuredRow>
  ));
  return (
    // biome-ignore lint/a11y/useSemanticElements: between the list and its rows is the part that moves
    <div ref={list} class="virtual-list" role="list" style={{ height: `${offsets.total}px` }}>
      <div
        class="virtual-window"
        role="presentation"
        style={{ transform: `translateY(${offsets.top(first)}px)` }}
      >
        {drawn}
      </div>
    </div>
  );
}

interface MeasuredRowProps {
  /** The element is measured again when it changes, because an observer reports an unchanged height once. */
  readonly measured: string;
  readonly index: number;
  readonly count: number;
  readonly observer: ResizeObserver;
  readonly children: ComponentChildren;
}

function MeasuredRow({ measured, index, count, observer, children }: MeasuredRowProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const drawn = element.current!;
    observer.observe(drawn);
    return () => observer.unobserve(drawn);
  }, [observer, measured]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a part of the list above
    <div ref={element} role="listitem" aria-setsize={count} aria-posinset={index + 1}>
      {children}
    </div>
  );
}

/** Index of the row that an element of the list, or an element in it, belongs to; -1 for others. */
export function indexOfRow(element: Element): number {
  return Number(element.closest('[aria-posinset]')?.ariaPosInSet ?? 0) - 1;
}
