/** Captures of a pattern in a line, one line at a time. */
import type { CaptureWants, PageCaptures } from '../../shared/base/model/page-captures.ts';

/** @param lead Text at the start of the line, as latin1 like the others */
export function wantsOf(
  lead: string,
  literals: readonly string[],
  captures: readonly number[],
): CaptureWants {
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  const text = JSON.stringify([lead, literals, captures]);
  return { text, lead: bytes(lead), literals: literals.map(bytes), captures };
}

/** Returns the captures of a line as latin1. Each ends at the next literal, or with the line. */
export function capturesOfLine(
  line: string,
  { lead, literals, captures }: CaptureWants,
): (string | undefined)[] {
  const texts: string[] = [];
  const prefix = lead.latin1Slice();
  if (line !== '' && line.startsWith(prefix)) {
    let rest = line.slice(prefix.length);
    for (const literal of literals.map(bytes => bytes.latin1Slice())) {
      const at = rest.indexOf(literal);
      if (at < 0) break;
      texts.push(rest.slice(0, at));
      rest = rest.slice(at + literal.length);
    }
    texts.push(rest);
  }
  return captures.map(capture => texts[capture]);
}

/** Returns the captures of each row as latin1. */
export function textsOf(found: PageCaptures, rows: number, captures: number): (string | undefined)[][] {
  const { numbers, stride } = found.numbersFrom(0);
  return Array.from({ length: rows }, (_, row) =>
    Array.from({ length: captures }, (_one, i) => {
      const number = numbers[i * stride + row];
      if (number === 0) return undefined;
      const { source, start, end } = found.bytesOf(i, row, number);
      return source.latin1Slice(start, end);
    }),
  );
}
