/** State of a live tail in one word, and its problems in sentences. */
import type { TailState } from '../tail/follow-tail.ts';
import type { TailBuffer } from '../tail/tail-buffer.ts';
import { countText, secondsText } from '../time/quantities.ts';

interface TailWordProps {
  readonly state: TailState | undefined;
  readonly isPaused: boolean;
}

export function TailWord({ state, isPaused }: TailWordProps) {
  const [kind, text] = wordOf(state, isPaused);
  return (
    <p class={`tail-word ${kind}`} role="status">
      <i />
      {text}
    </p>
  );
}

function wordOf(state: TailState | undefined, isPaused: boolean): readonly [string, string] {
  if (state === undefined) return ['ended', 'Stopped'];
  if (state.kind === 'refused') return ['ended', 'Refused'];
  if (state.kind === 'broken') return ['broken', 'Disconnected'];
  if (isPaused) return ['paused', 'Paused'];
  return state.kind === 'connecting' ? ['connecting', 'Connecting'] : ['live', 'Live'];
}

interface TailNoticesProps extends TailWordProps {
  readonly buffer: TailBuffer;
}

/** Notices for the reader: lines that are missing, late or waiting. */
export function TailNotices({ state, isPaused, buffer }: TailNoticesProps) {
  const { waiting, lostWaiting, dropped } = buffer;
  const notices: string[] = [];
  if (state?.kind === 'broken') {
    notices.push(`Connection closed: ${state.reason}. Retrying in ${secondsText(state.againMs / 1000)}.`);
  }
  if (state?.kind === 'live' && state.isPolled) {
    notices.push(
      'The browser cannot send the tenant header with a WebSocket. The page polls every 2 s instead.',
    );
  }
  if (dropped > 0) {
    notices.push(`${lines(dropped)} missing because too many arrived. Narrow the query to see all.`);
  }
  if (isPaused && lostWaiting > 0) {
    notices.push(
      `${lines(waiting.length)} waiting, which is the maximum; ${countText(lostWaiting)} older ones were dropped.`,
    );
  }
  return (
    <div class="tail-notices" role="status">
      {notices.map(notice => (
        <p key={notice}>{notice}</p>
      ))}
    </div>
  );
}

function lines(count: number): string {
  return count === 1 ? '1 line is' : `${countText(count)} lines are`;
}
