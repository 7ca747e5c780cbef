/** Steps as one bar of bytes, and as a table. */
import { bytesText, countText, percentText } from '../../time/quantities.ts';
import { type ExplainStep, type StepId, sparedShare } from './explain-model.ts';

const COLORS: Readonly<Record<StepId, string>> = {
  considered: '--line-strong',
  labels: '--series-4',
  streams: '--series-5',
  text: '--series-3',
  values: '--series-6',
  footers: '--series-10',
  left: '--line-strong',
  memory: '--series-7',
  read: '--accent',
};

export function ExplainSteps({ steps }: { readonly steps: readonly ExplainStep[] }) {
  const [all, ...others] = steps;
  const read = others[others.length - 1];
  const spared = sparedShare(steps);
  const memory = others.find(({ id }) => id === 'memory')?.bytes;
  const pieces = others.filter(({ bytes }) => bytes !== undefined && bytes > 0);
  const counted = pieces.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  const total = Math.max(counted, all.bytes ?? 0);
  return (
    <section class="card explain-steps" aria-label="Data read">
      <header>
        <p class="explain-figure numeric">
          {bytesText(read.bytes ?? 0)} <span class="soft">read of {bytesText(all.bytes ?? 0)} stored</span>
        </p>
        <p class="soft numeric">
          {spared !== undefined && spared > 0
            ? `${percentText(spared)} of the bytes in the range were pruned`
            : memory !== undefined && `${bytesText(memory)} were cached in memory`}
        </p>
      </header>
      {counted > 0 && (
        <div class="explain-bar" role="img" aria-label={`Bytes: ${pieces.map(pieceText).join(', ')}`}>
          {pieces.map(step => (
            <i
              key={step.id}
              title={pieceText(step)}
              style={{ flexGrow: (step.bytes ?? 0) / total, background: `var(${COLORS[step.id]})` }}
            />
          ))}
          {total > counted && <i style={{ flexGrow: 1 - counted / total, background: 'var(--line)' }} />}
        </div>
      )}
      <div class="table-scroll">
        <table class="table explain-table">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col" class="number">
                Chunks
              </th>
              <th scope="col" class="number">
                Pages
              </th>
              <th scope="col" class="number">
                Bytes
              </th>
            </tr>
          </thead>
          <tbody>
            {steps.map(step => (
              <tr key={step.id} class={isNothing(step) ? 'explain-nothing' : `explain-row-${step.id}`}>
                <th scope="row">
                  <div class="explain-step">
                    <i style={{ background: `var(${COLORS[step.id]})` }} />
                    <span>
                      {step.title}
                      <small>{step.about}</small>
                    </span>
                  </div>
                </th>
                <td class="number">{shown(step.chunks, countText)}</td>
                <td class="number">{shown(step.pages, countText)}</td>
                <td class="number">
                  {step.id === 'read' ? bytesText(step.bytes ?? 0) : shown(step.bytes, bytesText)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function isNothing({ chunks, pages, bytes }: ExplainStep): boolean {
  return !chunks && !pages && !bytes;
}

function pieceText({ title, bytes }: ExplainStep): string {
  return `${title.toLowerCase()} ${bytesText(bytes ?? 0)}`;
}

/** Dash if the step has no such number. */
function shown(figure: number | undefined, text: (figure: number) => string): string {
  return figure === undefined || figure === 0 ? '–' : text(figure);
}
