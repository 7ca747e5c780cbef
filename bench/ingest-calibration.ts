/**
 * Speed of the machine during the measurement of formats: the driver's calibration (see driver.ts) next to
 * that of the reference's machine. CPU seconds of two machines, or of one at different times, are comparable
 * only with it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cell, formatTable } from './table.ts';

/** MB/s of three single-threaded jobs, the best of several runs each. */
interface MachineSpeed {
  readonly gunzip: number;
  readonly indexOf: number;
  readonly jsonParse: number;
}

export interface Calibration {
  readonly before: MachineSpeed;
  readonly after: MachineSpeed;
  readonly reference: MachineSpeed;
}

type MeasuredSpeed = Readonly<Record<keyof MachineSpeed, { readonly best: number }>>;

const NAMES: readonly (keyof MachineSpeed)[] = ['gunzip', 'indexOf', 'jsonParse'];

/** Takes about three seconds. Undefined if the driver is not given. */
export function measureMachine(folder: string): MachineSpeed | undefined {
  const driver = join(folder, 'drive.mjs');
  if (!existsSync(driver)) return undefined;
  const files = mkdtempSync(join(tmpdir(), 'logboom-calibrate-'));
  try {
    const out = join(files, 'calibration.json');
    execFileSync(process.execPath, [driver, 'calibrate', '--out', out], { stdio: 'ignore' });
    return speedOf(
      (JSON.parse(readFileSync(out, 'utf8')) as { readonly calibration: MeasuredSpeed }).calibration,
    );
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
}

/** Driver's measurement right before the reference's ingest. */
export function referenceMachine(folder: string): MachineSpeed {
  const figures = JSON.parse(readFileSync(join(folder, 'reference-figures.json'), 'utf8')) as {
    readonly ingest: { readonly calibration: MeasuredSpeed };
  };
  return speedOf(figures.ingest.calibration);
}

function speedOf({ gunzip, indexOf, jsonParse }: MeasuredSpeed): MachineSpeed {
  return { gunzip: gunzip.best, indexOf: indexOf.best, jsonParse: jsonParse.best };
}

export function calibrationTable({ before, after, reference }: Calibration): string {
  const rows = NAMES.map((name): Cell[] => [
    `calibration ${name} MB/s`,
    before[name],
    after[name],
    reference[name],
    (before[name] + after[name]) / 2 / reference[name],
  ]);
  return formatTable(['the machine', 'before', 'after', 'reference', 'ratio'], rows);
}
