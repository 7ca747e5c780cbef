/** Rounds in the output of `logboom query --explain`. */
import { describe, expect, test } from '@jest/globals';
import { ExplanationText } from '../../bin/cli/explain-text.ts';

describe('printed rounds', () => {
  test('show the time, the reads by kind, and the last read of each round', () => {
    const explanation = new ExplanationText();
    explanation.add({
      chunks: { considered: 3 },
      rounds: [
        {
          startMs: 0,
          ms: 6.2,
          reads: { days: { requests: 1, bytes: 40 }, chunkRecords: { requests: 4, bytes: 2100 } },
          waitedFor: 'chunkRecords',
        },
        { startMs: 6.3, ms: 31, reads: { footers: { requests: 3, bytes: 90_000 } }, waitedFor: 'footers' },
      ],
    });
    expect(explanation.text).toBe(
      [
        'chunks       considered 3',
        'round 1      6.2 ms, days 1 (40 bytes), chunk records 4 (2,100 bytes); waited for chunk records',
        'round 2      31 ms, footers 3 (90,000 bytes); waited for footers',
        '',
      ].join('\n'),
    );
  });

  test('are followed by the parts of workers, with their rounds and waits for a connection', () => {
    const reads = { pages: { requests: 2, bytes: 70_000 } };
    const rounds = [{ startMs: 0, ms: 40, reads, waitedFor: 'pages', connectionMs: 12 }];
    const explanation = new ExplanationText();
    explanation.add({
      chunks: { considered: 3 },
      parts: [{ ranIn: 'query-1', rounds }, { ranIn: 'x' }, null],
    });
    expect(explanation.text).toBe(
      [
        'chunks       considered 3',
        'part 1.1     40 ms, pages 2 (70,000 bytes); waited for pages, up to 12 ms for a connection',
        '',
      ].join('\n'),
    );
  });

  test('omit values that are not rounds', () => {
    const explanation = new ExplanationText();
    explanation.add({ chunks: { considered: 3 }, rounds: [7, null, { ms: 'x' }, {}] });
    expect(explanation.text).toBe('chunks       considered 3\n');
  });
});
