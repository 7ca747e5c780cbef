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

/** Returns the texts between literals. Each ends at the next literal, or with the line. All are latin1. */
export function captureTexts(line: string, lead: string, literals: readonly string[]): string[] {
  if (line === '' || !line.startsWith(lead)) return [];
  const texts: string[] = [];
  let rest = line.slice(lead.length);
  for (const literal of literals) {
    const at = rest.indexOf(literal);
    if (at < 0) break;
    texts.push(rest.slice(0, at));
    rest = rest.slice(at + literal.length);
  }
  return [...texts, rest];
}

/** Returns the captures of a line as latin1. */
export function capturesOfLine(
  line: string,
  { lead, literals, captures }: CaptureWants,
): (string | undefined)[] {
  const sought = literals.map(literal => literal.latin1Slice());
  const texts = captureTexts(line, lead.latin1Slice(), sought);
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
