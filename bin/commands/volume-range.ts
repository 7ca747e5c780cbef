/** `logboom volume-range SELECTOR`: prints `volume` per time step. */
import type { Command } from 'commander';
import { define } from './volume.ts';

export function register(program: Command): void {
  define(program, true);
}
