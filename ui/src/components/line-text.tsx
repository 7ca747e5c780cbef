/** Text of a line with ANSI colors and highlighted matches. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { type AnsiStyle, parseAnsi } from '../lines/ansi.ts';
import { piecesOf } from '../lines/text-parts.ts';
import { matchesIn } from '../logql/highlights.ts';

interface LineTextProps {
  readonly line: string;
  readonly highlights: readonly RegExp[];
  /** One row: line breaks become symbols, and text beyond any screen width is cut. */
  readonly flat?: boolean;
}

/** More than fits on a screen: the list does not scroll sideways. */
export const MAX_FLAT_CHARACTERS = 640;
/** Maximum length. Browsers take long to lay out longer text. */
const MAX_CHARACTERS = 100_000;

export function LineText({ line, highlights, flat = false }: LineTextProps) {
  return useMemo(() => <>{lineText(line, highlights, flat)}</>, [line, highlights, flat]);
}

/** Content of a line without a component, because a list draws hundreds of them in a frame of a scroll. */
export function lineText(line: string, highlights: readonly RegExp[], flat: boolean): ComponentChildren {
  const cut = line.slice(0, flat ? MAX_FLAT_CHARACTERS : MAX_CHARACTERS);
  const more = !flat && line.length > MAX_CHARACTERS && (
    <span class="soft"> … {line.length - MAX_CHARACTERS} more characters</span>
  );
  const shown = (text: string) => (flat ? text.replace(/\r?\n/g, ' ⏎ ') : text);
  if (highlights.length === 0 && !cut.includes('\u001b'))
    return more === false ? shown(cut) : [shown(cut), more];
  const ansi = parseAnsi(cut);
  return [
    ...piecesOf(ansi, matchesIn(ansi.text, highlights)).map(({ text, marked, style }) => {
      const content = marked ? <mark>{shown(text)}</mark> : shown(text);
      return style === undefined ? content : <span {...looks(style)}>{content}</span>;
    }),
    more,
  ];
}

/**
 * Style of a run. Colors are tokens or clamped (styles/ansi.css), so that text is readable in light and dark.
 */
function looks({ color, ground, bold, faint, italic, underlined }: AnsiStyle) {
  const classes = [
    color !== undefined && (typeof color === 'number' ? `ansi-${color}` : 'ansi-own'),
    ground !== undefined && (typeof ground === 'number' ? `ansi-ground-${ground}` : 'ansi-ground-own'),
    bold && 'ansi-bold',
    faint && 'ansi-faint',
    italic && 'ansi-italic',
    underlined && 'ansi-underlined',
  ];
  return {
    class: classes.filter(Boolean).join(' '),
    style: {
      ...(typeof color === 'string' ? { '--ansi-own': color } : {}),
      ...(typeof ground === 'string' ? { '--ansi-ground-own': ground } : {}),
    },
  };
}
