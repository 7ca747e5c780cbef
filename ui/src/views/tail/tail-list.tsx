/**
 * Lines of a tail. The list follows its end until the user scrolls up. Then it keeps its position while lines
 * are added below and old ones are removed above.
 */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { timeText } from '../../lines/time-text.ts';
import { highlightsOf } from '../../logql/highlights.ts';
import { hrefOf } from '../../state/navigation.ts';
import { settings } from '../../state/settings.ts';
import { useStore } from '../../state/use-store.ts';
import type { TailBuffer } from '../../tail/tail-buffer.ts';
import { manyText } from '../../time/quantities.ts';
import { TailLine } from './tail-line.tsx';

interface TailListProps {
  readonly buffer: TailBuffer;
  readonly query: string;
}

const ROW_PX = 22;
/** Distance that still counts as the end, because a wheel does not always reach it. */
const END_PX = 30;
/**
 * Number of new rows after which measured heights are discarded, because the keys of removed lines stay
 * otherwise.
 */
const REMEASURE_ROWS = 20_000;
const AROUND_MS = 60_000;

export function TailList({ buffer, query }: TailListProps) {
  const { rows, trimmed, received } = buffer;
  const { wraps, raw, zone } = useStore(settings);
  const scroller = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [leftAt, setLeftAt] = useState<number>();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const highlights = useMemo(() => highlightsOf(query), [query]);
  const showsService = useMemo(
    () => rows.some(({ stream }) => stream.service_name !== rows[0].stream.service_name),
    [rows],
  );

  const toEnd = useCallback(() => {
    following.current = true;
    setLeftAt(undefined);
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  }, []);

  const count = useRef(received);
  count.current = received;
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let lastTop = element.scrollTop;
    const look = () => {
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - END_PX;
      // Only the user scrolls up; new lines move the end, not the view.
      if (isAtEnd !== following.current && (isAtEnd || element.scrollTop < lastTop)) {
        following.current = isAtEnd;
        setLeftAt(isAtEnd ? undefined : count.current);
      }
      lastTop = element.scrollTop;
    };
    element.addEventListener('scroll', look, { passive: true });
    // Rows change their height when they are measured, wrapped or opened.
    const grown = new ResizeObserver(() => {
      if (following.current) element.scrollTop = element.scrollHeight;
    });
    grown.observe(element);
    if (content.current !== null) grown.observe(content.current);
    return () => {
      element.removeEventListener('scroll', look);
      grown.disconnect();
    };
  }, []);

  const before = useRef(trimmed);
  useLayoutEffect(() => {
    const gone = trimmed - before.current;
    before.current = trimmed;
    const element = scroller.current;
    if (element === null || rows.length === 0) return;
    if (following.current) element.scrollTop = element.scrollHeight;
    else if (gone > 0) element.scrollTop -= (gone * (content.current?.offsetHeight ?? 0)) / rows.length;
  }, [rows, trimmed]);

  const toggle = (key: string) =>
    setOpen(known => {
      const next = new Set(known);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const row = (index: number) => {
    const shown = rows[index];
    return (
      <TailLine
        row={shown}
        time={timeText(shown, zone === 'utc').slice(11)}
        highlights={highlights}
        wraps={wraps}
        raw={raw}
        showsService={showsService}
        open={open.has(shown.key)}
        onToggle={() => toggle(shown.key)}
        href={hrefOf('logs', { q: query, from: `${shown.ms - AROUND_MS}`, to: `${shown.ms + AROUND_MS}` })}
      />
    );
  };
  const below = leftAt === undefined ? 0 : received - leftAt;
  return (
    <div class="tail-place">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys */}
      <section class="tail-scroll" ref={scroller} tabIndex={0} aria-label="Live lines">
        <div ref={content}>
          <VirtualList
            count={rows.length}
            keyOf={index => rows[index].key}
            row={row}
            estimatePx={ROW_PX}
            scroller={scroller}
            layout={`${wraps} ${raw} ${Math.floor(received / REMEASURE_ROWS)}`}
          />
        </div>
      </section>
      {leftAt !== undefined && (
        <Button kind="primary" class="small to-end" icon="down" onClick={toEnd}>
          {below > 0 ? manyText(below, 'new line') : 'Scroll to end'}
        </Button>
      )}
    </div>
  );
}
