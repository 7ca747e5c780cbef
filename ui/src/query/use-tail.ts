/** Live tail for a component: its lines, state and actions. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { LogRow } from '../lines/rows.ts';
import { browserTail } from '../tail/browser-tail.ts';
import { followTail, type TailState } from '../tail/follow-tail.ts';
import {
  cleared,
  EMPTY_BUFFER,
  resumed,
  type TailBuffer,
  withDropped,
  withRows,
} from '../tail/tail-buffer.ts';

export interface TailControl {
  readonly buffer: TailBuffer;
  readonly state: TailState | undefined;
  readonly isPaused: boolean;
  pause(paused: boolean): void;
  clear(): void;
}

/** Render interval. Frames arrive up to 20 times per second, and each rendering takes milliseconds. */
const DRAW_MS = 100;

/**
 * @param query undefined if nothing is followed; received lines stay @param round a new value restarts the
 * tail
 */
export function useTail(query: string | undefined, round: number): TailControl {
  const [buffer, setBuffer] = useState(EMPTY_BUFFER);
  const [state, setState] = useState<TailState>();
  const [isPaused, setPaused] = useState(false);
  const paused = useRef(false);

  useEffect(() => {
    if (query === undefined) {
      setState(undefined);
      return;
    }
    const controller = new AbortController();
    let came: LogRow[] = [];
    let dropped = 0;
    let timer: number | undefined;
    const draw = () => {
      timer = undefined;
      const [rows, lost] = [came, dropped];
      came = [];
      dropped = 0;
      setBuffer(before => withDropped(withRows(before, rows, paused.current), lost));
    };
    const drawSoon = () => {
      timer ??= window.setTimeout(draw, DRAW_MS);
    };
    paused.current = false;
    setPaused(false);
    setBuffer(cleared);
    void followTail(
      browserTail(query),
      {
        rows(rows) {
          came.push(...rows);
          drawSoon();
        },
        dropped(count) {
          dropped += count;
          drawSoon();
        },
        state: setState,
      },
      controller.signal,
    );
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [query, round]);

  const pause = useCallback((wanted: boolean) => {
    paused.current = wanted;
    setPaused(wanted);
    if (!wanted) setBuffer(resumed);
  }, []);
  const clear = useCallback(() => setBuffer(cleared), []);
  return { buffer, state, isPaused, pause, clear };
}
