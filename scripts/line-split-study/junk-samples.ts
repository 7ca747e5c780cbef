/** Input that is not a log: minified JSON, base64, binary bytes, prose; and generated Apache log formats. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesOf, linesOf, MAX_SAMPLE_BYTES, type Sample } from './samples.ts';

const REPOSITORY = new URL('../../', import.meta.url).pathname;
const APACHE_LINES = 12_000;

export function junkSamples(): Sample[] {
  const binary = readFileSync(process.execPath).subarray(0, 4 * 1024 * 1024);
  const noise = noiseOf(2 * 1024 * 1024);
  return [
    { name: 'minified JSON of node_modules', sort: 'structured', lines: minifiedJson() },
    {
      name: 'base64, 76 letters a line',
      sort: 'junk',
      lines: linesOf(Buffer.from(noise.toString('base64').replace(/.{76}/g, '$&\n'))),
    },
    { name: 'base64 in JSON', sort: 'junk', lines: payloads(binary) },
    { name: 'a program as lines', sort: 'junk', lines: linesOf(binary) },
    { name: 'noise as lines', sort: 'junk', lines: linesOf(noise) },
    { name: 'prose, entries of several lines', sort: 'junk', lines: entriesOf(prose(), /^(#|- |\|)/) },
    { name: 'Apache: access, made up', sort: 'structured', lines: apache(accessLine) },
    { name: 'Apache: errors, made up', sort: 'system', lines: apache(errorLine) },
  ];
}

function minifiedJson(): Buffer[] {
  const lines: Buffer[] = [];
  const folder = join(REPOSITORY, 'node_modules');
  for (const name of readdirSync(folder).sort()) {
    const inner = name.startsWith('@') ? readdirSync(join(folder, name)).map(one => join(name, one)) : [name];
    for (const one of inner) {
      try {
        lines.push(
          Buffer.from(JSON.stringify(JSON.parse(readFileSync(join(folder, one, 'package.json'), 'utf8')))),
        );
      } catch {
        // Not a package.
      }
    }
  }
  return lines;
}

function payloads(bytes: Buffer): Buffer[] {
  return Array.from({ length: bytes.length >> 11 }, (_, i) => {
    const payload = bytes.toString('base64', i * 2048, i * 2048 + 300 + ((i * 7919) % 1700));
    return Buffer.from(JSON.stringify({ seq: i, kind: i % 7 === 0 ? 'image' : 'document', payload }));
  });
}

function prose(): Buffer {
  const files = readdirSync(join(REPOSITORY, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .sort();
  const texts = ['README.md', 'CHANGELOG.md', ...files.map(name => join('docs', name))];
  return Buffer.concat(texts.map(name => readFileSync(join(REPOSITORY, name))));
}

/** Random bytes, the same in each run. */
function noiseOf(bytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i < Math.min(bytes, MAX_SAMPLE_BYTES) / 64; i++) {
    parts.push(createHash('sha512').update(`noise ${i}`).digest());
  }
  return Buffer.concat(parts);
}

function apache(line: (second: Date, noise: Buffer) => string): Buffer[] {
  const noise = noiseOf(APACHE_LINES * 16);
  return Array.from({ length: APACHE_LINES }, (_, i) => {
    return Buffer.from(line(new Date(1_767_225_600_000 + i * 730), noise.subarray(16 * i, 16 * i + 16)));
  });
}

function accessLine(time: Date, noise: Buffer): string {
  const [day, month, year, clock] = time.toUTCString().slice(5, 25).split(' ');
  const path = ['/', '/wiki/page', '/static/app.css', '/search?q=', '/item/'][noise[0] % 5] + (noise[1] % 90);
  const status = [200, 200, 200, 304, 404, 500][noise[2] % 6];
  return `10.${noise[3] % 4}.${noise[4]}.${noise[5]} - - [${day}/${month}/${year}:${clock} +0000] "GET ${path} HTTP/1.1" ${status} ${noise.readUInt16LE(6)} "-" "Mozilla/5.0 (X11; Linux x86_64; rv:${100 + (noise[8] % 30)}.0)"`;
}

function errorLine(time: Date, noise: Buffer): string {
  const stamp = `${time.toUTCString().slice(0, 3)} ${time.toUTCString().slice(8, 11)} ${time.toUTCString().slice(5, 7)} ${time.toISOString().slice(11, 23)}000 ${time.getUTCFullYear()}`;
  const text = [
    `AH00128: File does not exist: /var/www/html/item/${noise[1]}.php`,
    'AH01630: client denied by server configuration: /var/www/private',
    `AH01071: Got error 'PHP message: PHP Warning:  Undefined variable $row${noise[1] % 9} in /var/www/html/list.php on line ${noise[9]}'`,
  ][noise[0] % 3];
  return `[${stamp}] [core:error] [pid ${1000 + (noise[2] % 8)}:tid 1397${noise.readUInt32LE(8)}] [client 10.0.${noise[3]}.${noise[4]}:${noise.readUInt16LE(5)}] ${text}`;
}
