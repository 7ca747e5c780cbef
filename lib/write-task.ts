/** Size of a container of the write service, and the load from which more start. Loads without the CDK. */
export const TASK = {
  /** One processor takes about 13 MB a second of lines in pushes of 10 KB (docs/dev/cost-model.md#many-small-agents). */
  cpu: 1024,
  memoryMb: 2048,
  cpuTargetPercent: 50,
} as const;
