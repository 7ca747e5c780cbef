/** Programs that a variable names: LOGBOOM_CLIENT_FLUENT_BIT=/opt/fluent-bit/bin/fluent-bit. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { Unavailable } from './install.mjs';

const VERSION = /\bv?\d+\.\d+\.\d+[\w.+-]*/;

/** Program of a variable and the version that it reports, or undefined. Throws Unavailable if its path does not exist. */
export function namedProgram(name, versionOf = reported) {
  const variable = variableOf(name);
  const program = process.env[variable];
  if (!program) return undefined;
  if (!existsSync(program)) throw new Unavailable(`${variable} names ${program}, which does not exist`);
  return { program, version: versionOf(program) ?? 'unknown' };
}

/** The same for a program that the script does not fetch. Throws Unavailable, with the reason, if no variable names it. */
export function givenProgram(name, reason, versionOf) {
  const found = namedProgram(name, versionOf);
  if (found !== undefined) return found;
  throw new Unavailable(`${reason}; to run one that you have, set ${variableOf(name)} to its path`);
}

/** Version that a program prints. */
function reported(program) {
  const { stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return VERSION.exec(`${stdout}${stderr}`)?.[0];
}

/** Version of a program of Loki without options, from the settings that Go's linker stores. */
export function linked(program) {
  return /build\.Version=(v[\d.]+)/.exec(readFileSync(program, 'latin1'))?.[1];
}

export const LOKI_MODULE = "Loki's module is under the AGPL and is not fetched";

/** The same for a program of Loki. */
export function lokiProgram(name) {
  return givenProgram(name, LOKI_MODULE);
}

function variableOf(name) {
  return `LOGBOOM_CLIENT_${name.toUpperCase().replaceAll('-', '_')}`;
}
