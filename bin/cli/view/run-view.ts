/** Runs `logboom view`: keys and responses change the state, the state is drawn, and its effects request data from the store. */
import { NS_PER_SECOND } from '../../../shared/base/model/time-units.ts';
import { SYSTEM_CLOCK } from '../../../shared/base/runtime/system-clock.ts';
import { explainFailure } from '../command-error.ts';
import { type RangeFlags, rangeOfFlags } from '../range-options.ts';
import { fetchRange } from '../range-query.ts';
import type { StoreFlags } from '../store-client.ts';
import { fetchLabels } from '../store-listings.ts';
import { followTail } from '../tail-client.ts';
import { listRows, screenOf } from './screen.ts';
import {
  initialState,
  onKey,
  type ViewEffect,
  type ViewState,
  withEntries,
  withTailed,
  withWords,
} from './state.ts';
import { openTerminal } from './terminal.ts';

export interface ViewFlags extends StoreFlags, RangeFlags {
  readonly limit: number;
}

/** A busy tail is drawn this often at most. */
const DRAW_MS = 33;
/** Parts of the time range that are counted: bars of a wide terminal. */
const PARTS = 200n;
/** Entries from before the start of a tail. */
const TAIL_START_ENTRIES = 100;
const TAIL_START_NS = 3600n * NS_PER_SECOND;

/** Resolves when a key ends it. */
export async function runView(query: string, flags: ViewFlags): Promise<void> {
  let state = initialState(query);
  let drawing: NodeJS.Timeout | undefined;
  let tail: AbortController | undefined;
  /** Number of the running query. Responses to earlier ones are ignored. */
  let latest = 0;
  const ended = Promise.withResolvers<void>();

  const draw = () => {
    drawing = undefined;
    terminal.draw(screenOf(state, terminal.size()));
  };
  const show = (next: ViewState) => {
    state = next;
    drawing ??= setTimeout(draw, DRAW_MS);
  };
  const fail = (error: unknown) => show({ ...state, isBusy: false, message: explainFailure(error) });

  async function runQuery(): Promise<void> {
    const number = ++latest;
    const { text } = state.line;
    const range = rangeOfFlags(flags);
    try {
      const answer = await fetchRange(flags, {
        query: text,
        ...range,
        limit: flags.limit,
        direction: 'backward',
      });
      if (number !== latest) return;
      if (answer.kind !== 'streams') {
        show({
          ...state,
          isBusy: false,
          message: 'this is a metric query; the view shows entries of log queries',
        });
        return;
      }
      show(withEntries(state, answer.entries, answer.warnings.join('; ')));
      const counts = await countsOf(text, range);
      if (number === latest) show({ ...state, counts });
    } catch (error) {
      if (number === latest) fail(error);
    }
  }

  async function countsOf(
    text: string,
    { startNs, endNs }: { readonly startNs: bigint; readonly endNs: bigint },
  ): Promise<readonly number[]> {
    const seconds = (endNs - startNs) / (PARTS * NS_PER_SECOND);
    const step = seconds > 1n ? seconds : 1n;
    const answer = await fetchRange(flags, {
      query: `sum(count_over_time(${text} [${step}s]))`,
      startNs,
      endNs,
      limit: 1,
      direction: 'forward',
      step: `${step}s`,
    });
    const counts = new Array<number>(Number((endNs - startNs) / (step * NS_PER_SECOND)) + 1).fill(0);
    const series = answer.kind === 'streams' ? undefined : answer.series[0];
    for (const { timeNs, value } of series?.samples ?? []) {
      const index = Number((timeNs - startNs) / (step * NS_PER_SECOND));
      counts[Math.max(0, Math.min(counts.length - 1, index))] += Number(value);
    }
    return counts;
  }

  async function follow(): Promise<void> {
    tail?.abort();
    latest++;
    const own = new AbortController();
    tail = own;
    show({ ...withEntries(state, [], ''), counts: [], isTailing: true });
    const startNs = SYSTEM_CLOCK.nowNs() - TAIL_START_NS;
    try {
      await followTail(
        flags,
        { query: state.line.text, startNs, limit: TAIL_START_ENTRIES, delaySeconds: 0 },
        {
          entries: async entries => {
            if (!own.signal.aborted) show(withTailed(state, entries));
          },
          note: message => show({ ...state, message }),
        },
        { clock: SYSTEM_CLOCK, signal: own.signal },
      );
    } catch (error) {
      if (own.signal.aborted) return;
      state = { ...state, isTailing: false };
      fail(error);
    }
  }

  async function complete({ completion }: Extract<ViewEffect, { kind: 'complete' }>): Promise<void> {
    try {
      const name = completion.kind === 'value' ? completion.label : undefined;
      const { rows } = await fetchLabels(flags, { range: rangeOfFlags(flags) }, name);
      show(
        withWords(
          state,
          completion,
          rows.map(([word]) => String(word)),
        ),
      );
    } catch (error) {
      fail(error);
    }
  }

  function perform(effect: ViewEffect): void {
    switch (effect.kind) {
      case 'run':
        void runQuery();
        return;
      case 'complete':
        void complete(effect);
        return;
      case 'start-tail':
        void follow();
        return;
      case 'stop-tail':
        tail?.abort();
        return;
      case 'quit':
        ended.resolve();
    }
  }

  const terminal = openTerminal(
    key => {
      const [next, effect] = onKey(state, key, listRows(state, terminal.size()));
      show(next);
      if (effect !== undefined) perform(effect);
    },
    () => show(state),
  );
  const stop = () => ended.resolve();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
  try {
    if (query !== '') {
      show({ ...state, isBusy: true });
      void runQuery();
    } else show(state);
    await ended.promise;
  } finally {
    tail?.abort();
    clearTimeout(drawing);
    drawing = undefined;
    terminal.close();
  }
  // Requests that are under way would keep the process.
  process.exit();
}
