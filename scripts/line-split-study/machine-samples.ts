/** Logs that packages of this machine have written, and logs in their documentation. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { entriesOf, linesOf, MAX_SAMPLE_BYTES, type Sample } from './samples.ts';

const DOCUMENTATION = '/usr/share/doc';

export function machineSamples(): Sample[] {
  const npm = filesIn(join(homedir(), '.npm/_logs')).map(file => textOf(file));
  const documented = documentedLogs();
  const ofJava = documented.filter(file => file.includes('jdk'));
  return [
    sample('dpkg.log', linesOf(textOf('/var/log/dpkg.log'))),
    sample('alternatives.log', linesOf(textOf('/var/log/alternatives.log'))),
    sample(
      'apt history, as entries of several lines',
      entriesOf(textOf('/var/log/apt/history.log'), /^Start-Date/),
    ),
    sample('apt terminal output', linesOf(textOf('/var/log/apt/term.log'))),
    sample('npm debug logs', linesOf(Buffer.concat(npm)), 'tool'),
    sample('syslog', linesOf(textOf('/var/log/syslog'))),
    sample('test logs of the JDK package', linesOf(Buffer.concat(ofJava.map(textOf))), 'tool'),
    sample(
      'logs in other packages',
      linesOf(Buffer.concat(documented.filter(f => !ofJava.includes(f)).map(textOf))),
      'tool',
    ),
  ];
}

function sample(name: string, lines: readonly Buffer[], sort: Sample['sort'] = 'system'): Sample {
  return { name, sort, lines };
}

/** Compressed logs in package documentation, one folder deep, without change logs. */
function documentedLogs(): string[] {
  return filesIn(DOCUMENTATION)
    .flatMap(folder => [folder, ...filesIn(folder)])
    .flatMap(place => (place.includes('.') ? [place] : filesIn(place)))
    .concat(filesIn(DOCUMENTATION).flatMap(folder => filesIn(folder).flatMap(filesIn)))
    .filter((file, i, all) => /(?<!change|history)\.log\.gz$/i.test(file) && all.indexOf(file) === i);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map(name => join(folder, name));
  } catch {
    return [];
  }
}

/** Contents of a file; empty if it is missing or not readable. */
function textOf(file: string): Buffer {
  try {
    if (!statSync(file).isFile()) return Buffer.alloc(0);
    const bytes = readFileSync(file);
    return file.endsWith('.gz')
      ? gunzipSync(bytes).subarray(0, MAX_SAMPLE_BYTES)
      : bytes.subarray(0, MAX_SAMPLE_BYTES);
  } catch {
    return Buffer.alloc(0);
  }
}
