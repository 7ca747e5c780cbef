import { test } from '@jest/globals';
import { virtualClock } from '/work/main/shared/ports/memory/clock.ts';
import { runTails } from '/work/main/shared/tail/run-tails.ts';
import { linesOf, processOver, requestFor, sharedParts, TENANT } from '/work/main/test/tail/support.ts';
test('x', async () => {
  const clock = virtualClock();
  const shared = sharedParts(clock);
  const a = processOver(shared, { seed: 1, inlineMaxBytes: 0 });
  for (let i = 0; i < 10; i++) await clock.run(a.push([`l${i}`], {agoMs: 700000}));
  await clock.advance(700_000);
  console.log(JSON.stringify(await clock.run(a.compact())));
  const c = shared.connections.open('c');
  await clock.run(a.service.open(requestFor(clock), 'c'));
  const d = processOver(shared, { seed: 2 });
  await clock.run(runTails(TENANT, d.parts, { idleMs: 3000, pollMs: 200, untilMs: clock.nowMs() + 60000 }));
  console.log(linesOf(c.messages), d.failures);
});
