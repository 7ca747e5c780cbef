/**
 * A long list of which only what is seen is drawn. Rows may have different heights: each is measured when it is drawn, and taken for
 * `estimatePx` until then. When a row above what is seen turns out to be higher, the scroll position follows, so that what somebody
 * reads does not jump.
 */

import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { firstPlace } from '../../../shared/base/model/binary-search.ts';

export interface VirtualListProps {
  readonly count: number;
  readonly keyOf: (index: number) => string;
  readonly row: (index: number) => ComponentChildren;
  readonly estimatePx: number;
  /** The element that scrolls; the list may begin anywhere inside it. */
  readonly scroller: RefObject<HTMLElement>;
  /** Called when the end comes near. */
  readonly onNearEnd?: () => void;
  /** To be seen, each time it changes; -1 for none. */
  readonly focus?: number;
  /** Measured heights are forgotten when it changes. */
  readonly layout: string;
}

/** Rows that are drawn before and after what is seen. */
const BESIDE = 12;
const NEAR_END_PX = 1500;

export function VirtualList(props: VirtualListProps) {
  const { count, keyOf, row, estimatePx, scroller, onNearEnd, focus = -1, layout } = props;
  const list = useRef<HTMLDivElement>(null);
  // Another layout has other heights.
  const heights = useMemo(() => new Map<string, number>(), [layout]);
  const [measured, draw] = useState(0);
  const [seen, setSeen] = useState({ top: 0, bottom: 1200 });

  // 100,000 rows take 10 ms, which a frame of a scroll does not have.
  const offsets = useMemo(() => {
    const found = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) found[i + 1] = found[i] + (heights.get(keyOf(i)) ?? estimatePx);
    return found;
  }, [count, keyOf, heights, estimatePx, measured]);
  const first = Math.max(0, indexAt(offsets, seen.top) - BESIDE);
  const end = Math.min(count, indexAt(offsets, seen.bottom) + 1 + BESIDE);
  const now = useRef({ offsets, first, keyOf });
  now.current = { offsets, first, keyOf };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = () => {
      const top = element.scrollTop - (list.current?.offsetTop ?? 0);
      // Rounded, so that a pixel of scrolling draws nothing.
      const next = {
        top: Math.floor(top / 100) * 100,
        bottom: Math.ceil((top + element.clientHeight) / 100) * 100,
      };
      setSeen(before => (before.top === next.top && before.bottom === next.bottom ? before : next));
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      resized.disconnect();
    };
  }, [scroller]);

  const observer = useMemo(
    () =>
      new ResizeObserver(entries => {
        const element = scroller.current;
        const top = (element?.scrollTop ?? 0) - (list.current?.offsetTop ?? 0);
        let changed = false;
        let above = 0;
        for (const { target, borderBoxSize } of entries) {
          const { key, index } = (target as HTMLElement).dataset;
          const height = borderBoxSize[0].blockSize;
          if (key === undefined || height === 0) continue;
          const before = heights.get(key) ?? estimatePx;
          heights.set(key, height);
          if (Math.abs(before - height) < 0.5) continue;
          changed = true;
          if (now.current.offsets[Number(index)] + before <= top) above += height - before;
        }
        if (above !== 0 && element !== null) element.scrollTop += above;
        if (changed) draw(round => round + 1);
      }),
    [heights, estimatePx, scroller],
  );
  useEffect(() => () => observer.disconnect(), [observer]);

  useEffect(() => {
    if (offsets[count] - seen.bottom < NEAR_END_PX) onNearEnd?.();
  });

  // Only another focus scrolls.
  useEffect(() => {
    const element = scroller.current;
    if (focus < 0 || focus >= count || element === null) return;
    const start = (list.current?.offsetTop ?? 0) + now.current.offsets[focus];
    const height = now.current.offsets[focus + 1] - now.current.offsets[focus];
    const coveredPx = 48;
    if (start - coveredPx < element.scrollTop) element.scrollTop = start - coveredPx;
    else if (start + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = Math.min(start - coveredPx, start + height - element.clientHeight + 8);
    }
  }, [focus]);

  const drawn: ComponentChildren[] = [];
  for (let i = first; i < end; i++) {
    const key = keyOf(i);
    drawn.push(
      <MeasuredRow key={key} rowKey={key} index={i} count={count} observer={observer}>
        {row(i)}
      </MeasuredRow>,
    );
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: between the list and its rows is the part that moves
    <div ref={list} class="virtual-list" role="list" style={{ height: `${offsets[count]}px` }}>
      <div
        class="virtual-window"
        role="presentation"
        style={{ transform: `translateY(${offsets[first] ?? 0}px)` }}
      >
        {drawn}
      </div>
    </div>
  );
}

interface MeasuredRowProps {
  readonly rowKey: string;
  readonly index: number;
  readonly count: number;
  readonly observer: ResizeObserver;
  readonly children: ComponentChildren;
}

function MeasuredRow({ rowKey, index, count, observer, children }: MeasuredRowProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const drawn = element.current!;
    observer.observe(drawn);
    return () => observer.unobserve(drawn);
  }, [observer]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a part of the list above
    <div
      ref={element}
      role="listitem"
      aria-setsize={count}
      aria-posinset={index + 1}
      data-key={rowKey}
      data-index={index}
    >
      {children}
    </div>
  );
}

/** The last index whose offset is at most `at`. */
function indexAt(offsets: Float64Array, at: number): number {
  return firstPlace(0, offsets.length - 1, i => offsets[i + 1] > at);
}
