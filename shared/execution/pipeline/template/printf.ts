/**
 * Go's `fmt.Sprintf` on template values. Mistakes in a format do not fail: they print as `%!d(string=x)`,
 * `%!d(MISSING)`, `%!(EXTRA int=1)`, `%!z(int=1)`, `%!(NOVERB)`.
 */
import { MAX_OUTPUT_LENGTH } from './bounds.ts';
import { CallError, OUTPUT_TOO_LONG } from './error.ts';
import { formatArgument, NO_FLAGS, toFormatInt, type VerbFlags, withType } from './printf-verbs.ts';
import type { Value } from './values.ts';

/** Maximum width of a field in Go. */
const MAX_WIDTH = 1_000_000;

interface FormatProgress {
  readonly format: string;
  readonly args: readonly Value[];
  at: number;
  argument: number;
  /** Whether an explicit index (`%[2]d`) was used: skipped arguments are then not reported as extra. */
  reordered: boolean;
  goodIndex: boolean;
  afterIndex: boolean;
}

/** Returns the formatted text. Throws CallError if it would exceed the output limit. */
export function sprintf(format: string, args: readonly Value[]): string {
  const state: FormatProgress = {
    format,
    args,
    at: 0,
    argument: 0,
    reordered: false,
    goodIndex: true,
    afterIndex: false,
  };
  let out = '';
  while (state.at < format.length) {
    const percent = format.indexOf('%', state.at);
    const end = percent < 0 ? format.length : percent;
    out += format.slice(state.at, end);
    state.at = end + 1;
    if (percent >= 0) out += directive(state);
    if (out.length > MAX_OUTPUT_LENGTH) throw new CallError(OUTPUT_TOO_LONG);
  }
  if (!state.reordered && state.argument < args.length) {
    out += `%!(EXTRA ${args.slice(state.argument).map(withType).join(', ')})`;
  }
  return out;
}

function directive(state: FormatProgress): string {
  const { format } = state;
  const flags: VerbFlags = { ...NO_FLAGS };
  state.goodIndex = true;
  state.afterIndex = false;
  readFlags(state, flags);
  readIndex(state);
  let complaint = '';
  if (format[state.at] === '*') {
    complaint += readStar(
      state,
      value => {
        flags.width = Math.abs(value);
        if (value < 0) {
          flags.minus = true;
          flags.zero = false;
        }
      },
      '%!(BADWIDTH)',
    );
  } else {
    flags.width = readNumber(state);
    if (state.afterIndex && flags.width !== undefined) state.goodIndex = false;
  }
  if (format[state.at] === '.') {
    state.at++;
    if (state.afterIndex) state.goodIndex = false;
    readIndex(state);
    if (format[state.at] === '*') {
      complaint += readStar(
        state,
        value => {
          flags.precision = value;
        },
        '%!(BADPREC)',
      );
    } else {
      flags.precision = readNumber(state) ?? 0;
    }
  }
  if (!state.afterIndex) readIndex(state);
  if (state.at >= format.length) return `${complaint}%!(NOVERB)`;
  const verb = String.fromCodePoint(format.codePointAt(state.at)!);
  state.at += verb.length;
  return complaint + applyVerb(state, verb, flags);
}

function applyVerb(state: FormatProgress, verb: string, flags: VerbFlags): string {
  if (verb === '%') return '%';
  if (!state.goodIndex) return `%!${verb}(BADINDEX)`;
  if (state.argument >= state.args.length) return `%!${verb}(MISSING)`;
  if (verb === 'v') {
    // `%+v` and `%#v` have special meanings.
    flags.goSyntax = flags.sharp;
    flags.sharp = false;
    flags.plus = false;
  }
  return formatArgument(state.args[state.argument++], verb, flags);
}

function readFlags(state: FormatProgress, flags: VerbFlags): void {
  for (; ; state.at++) {
    switch (state.format[state.at]) {
      case '#':
        flags.sharp = true;
        continue;
      case '0':
        flags.zero = true;
        continue;
      case '+':
        flags.plus = true;
        continue;
      case '-':
        flags.minus = true;
        continue;
      case ' ':
        flags.space = true;
        continue;
    }
    return;
  }
}

/**
 * Reads a decimal number; undefined if there is none. A number that is too large ends the format, as in Go.
 */
function readNumber(state: FormatProgress): number | undefined {
  const start = state.at;
  let value = 0;
  while (state.format[state.at] >= '0' && state.format[state.at] <= '9') {
    if (value > MAX_WIDTH) {
      state.at = state.format.length;
      return undefined;
    }
    value = value * 10 + Number(state.format[state.at++]);
  }
  return state.at === start ? undefined : value;
}

/** Reads `[n]`: the index of the next argument. */
function readIndex(state: FormatProgress): void {
  if (state.format[state.at] !== '[') return;
  state.reordered = true;
  const close = state.format.indexOf(']', state.at);
  const text = close < 0 ? '' : state.format.slice(state.at + 1, close);
  state.at = close < 0 ? state.at + 1 : close + 1;
  const index = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (index < 1 || index > state.args.length) {
    state.goodIndex = false;
    return;
  }
  state.argument = index - 1;
  state.afterIndex = true;
}

/** Reads a width or precision from the arguments. Returns an error text if it is not a usable integer. */
function readStar(state: FormatProgress, accept: (value: number) => void, complaint: string): string {
  state.at++;
  const value = state.argument < state.args.length ? toFormatInt(state.args[state.argument]) : undefined;
  if (state.argument < state.args.length) state.argument++;
  state.afterIndex = false;
  const isWidth = complaint === '%!(BADWIDTH)';
  if (value === undefined || Math.abs(value) > MAX_WIDTH || (!isWidth && value < 0)) return complaint;
  accept(value);
  return '';
}
