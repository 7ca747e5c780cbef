/** Patterns with counts. The text of a pattern leads to its lines, the button next to it to all others. */
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
import { countText, percentText } from '../../time/quantities.ts';
import { type PatternRow, piecesOfPattern } from './patterns-model.ts';

interface PatternTableProps {
  readonly rows: readonly PatternRow[];
  /** Step of the bars in words: `1 min`. */
  readonly stepTitle: string;
  readonly hrefOf: (pattern: string, op: '|>' | '!>') => string;
}

const PAGE_ROWS = 50;

export function PatternTable({ rows, stepTitle, hrefOf }: PatternTableProps) {
  const [shown, setShown] = useState(PAGE_ROWS);
  // Another list begins at the top.
  useEffect(() => setShown(PAGE_ROWS), [rows]);
  const largest = rows.reduce((most, { share }) => Math.max(most, share), 0) || 1;
  return (
    <div class="card pattern-list">
      <table class="table patterns-table">
        <thead>
          <tr>
            <th scope="col">Level</th>
            <th scope="col">Pattern</th>
            <th scope="col">Lines by {stepTitle}</th>
            <th scope="col" class="number">
              Lines
            </th>
            <th scope="col" class="number">
              Share
            </th>
            <th scope="col">
              <span class="hidden">Excluded</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shown).map(row => {
            const { pattern, level, count, share, values } = row;
            return (
              <tr key={`${level} ${pattern}`}>
                <td class="pattern-level">
                  <i style={{ background: `var(--${level})` }} />
                  {level}
                </td>
                <td class="pattern-cell">
                  <a class="pattern-text" href={hrefOf(pattern, '|>')} title="Show matching lines">
                    {piecesOfPattern(pattern).map(({ text, isHole }) =>
                      isHole ? <span class="hole">{text}</span> : text,
                    )}
                  </a>
                </td>
                <td class="pattern-spark">
                  <Sparkline values={values} color={`--${level}`} name={sparkName(row, stepTitle)} />
                </td>
                <td class="number pattern-count">{countText(count)}</td>
                <td class="number pattern-share">
                  {percentText(share)}
                  <span class="bar">
                    <i style={{ width: `${(share / largest) * 100}%` }} />
                  </span>
                </td>
                <td class="pattern-tools">
                  <a
                    class="icon-button"
                    href={hrefOf(pattern, '!>')}
                    title="Show all other lines"
                    aria-label="Show all other lines"
                  >
                    <Icon name="minus" />
                  </a>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > shown && (
        <Button kind="quiet" onClick={() => setShown(count => count + PAGE_ROWS)}>
          {`Show ${Math.min(PAGE_ROWS, rows.length - shown)} more`}
        </Button>
      )}
    </div>
  );
}

function sparkName({ values }: PatternRow, stepTitle: string): string {
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  return `Over time: at most ${countText(most)} lines per ${stepTitle}`;
}
