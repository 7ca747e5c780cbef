/** Table of reads of a remote store by round: what a query waited for. */
import type { ReadRound } from '../../api/types.ts';
import { bytesText, countText } from '../../time/quantities.ts';

/** Maximum rounds shown. Later rounds add nothing new. */
const MAX_ROUNDS = 50;

export function ExplainRounds({ rounds }: { readonly rounds: readonly ReadRound[] }) {
  if (rounds.length === 0) return null;
  return (
    <section class="card explain-steps" aria-label="Read rounds">
      <header>
        <p class="explain-figure numeric">
          {countText(rounds.length)} {rounds.length === 1 ? 'round' : 'rounds'}{' '}
          <span class="soft">of reads</span>
        </p>
        <p class="soft">A round starts when the reads of the previous round are done</p>
      </header>
      <div class="table-scroll">
        <table class="table explain-table">
          <thead>
            <tr>
              <th scope="col">Round</th>
              <th scope="col">Read</th>
              <th scope="col">Waited for</th>
              <th scope="col" class="number">
                Duration (ms)
              </th>
            </tr>
          </thead>
          <tbody>
            {rounds.slice(0, MAX_ROUNDS).map((round, i) => (
              <tr key={round.startMs}>
                <td class="numeric">{i + 1}</td>
                <td>{readsText(round)}</td>
                <td>
                  {worded(round.waitedFor)}
                  {round.connectionMs !== undefined && `, up to ${round.connectionMs} ms for a connection`}
                </td>
                <td class="number numeric">{round.ms}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** For example `days 1 (40 B), chunk records 4 (2.1 kB)`. */
function readsText({ reads }: ReadRound): string {
  return Object.entries(reads)
    .map(([what, { requests, bytes }]) => `${worded(what)} ${countText(requests)} (${bytesText(bytes)})`)
    .join(', ');
}

/** `chunkRecords` → `chunk records`. */
function worded(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
