/** Results of test-install.mjs: passed and failed checks, skipped parts, and measurements. */

const counts = { passed: 0, failed: 0, skipped: 0 };
const figures = [];

/** Records a check; prints `told` if it fails. */
export function check(name, isGood, told = '') {
  counts[isGood ? 'passed' : 'failed']++;
  say(`${isGood ? 'ok     ' : 'FAILED '} ${name}`);
  if (!isGood && `${told}` !== '') say(`${told}`);
  return isGood;
}

export function skip(name, reason) {
  counts.skipped++;
  say(`SKIPPED ${name}: ${reason}`);
}

export function figure(what, values) {
  figures.push({ what, ...values });
}

/** Prints the measurements as a table, then the counts. */
export function endReport() {
  const names = [...new Set(figures.flatMap(Object.keys))];
  const rows = [names, ...figures.map(row => names.map(name => `${row[name] ?? ''}`))];
  const widths = names.map((_, i) => Math.max(...rows.map(row => row[i].length)));
  if (figures.length > 0) say('');
  for (const row of figures.length > 0 ? rows : [])
    say(
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    );
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
  say(`\n${counts.passed} passed, ${counts.failed} failed${skipped}`);
  process.exitCode = counts.failed > 0 ? 1 : 0;
}

export function say(line) {
  process.stdout.write(`${line}\n`);
}
