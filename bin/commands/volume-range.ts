/** `logboom volume-range SELECTOR`: `volume` in steps of time. */
import type { Command } from 'commander';
import { define } from './volume.ts';

export function register(program: Command): void {
  define(program, true);
}
