/**
 * Flags of V8 and settings of the allocator with which the store runs, and the ways to start with them. Plain
 * JavaScript without packages, for Node.js 20 and newer.
 */
import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';

/**
 * Flags of V8 for the store.
 *
 * The heap of the store is small and its buffers outside the heap are large: V8 would collect every 20 MB of
 * them. With a larger initial heap it collects less often, and an ingest costs a quarter less CPU
 * (docs/dev/benchmarks.md). With 96 MB instead of 48, a steady load of 10 MB/s holds 80 MB more in heaps and
 * uncollected buffers, for the same CPU; 40 instead of 48 save another 8 MB. With 32, it takes a twelfth more. The
 * initial heap size does not limit later growth. By default the
 * heap of queries grew to 130 MB while 45 were in use, so it may grow by half. That saves 60 to 70 MB at the
 * peak of the driver's dashboards; the CPU of an ingest is the same.
 *
 * A small young generation (16 MB without the flag) is collected before those buffers make V8 mark the whole
 * heap. Buffers die with it in a few milliseconds instead of 60. An ingest of JSON costs a tenth to a sixth
 * less CPU, and any ingest 50 MB less memory; queries are unchanged. With 2 MB instead of 4, three threads hold 4 MB less
 * each. Ingest, merges and queries take the same CPU, a steady load 3% more, and dashboards on many connections are
 * answered 4 to 9% slower.
 *
 * V8 marks and sweeps the heaps of all threads in its own threads. Four of them took up to half a core from
 * the serving threads, so one core stays free of them. Without concurrent marking (--no-concurrent-marking)
 * the peak of queries is 60 to 90 MB higher.
 *
 * V8 discards the compiled code of functions that did not run for a few collections. Merges and dashboards run
 * their functions every few seconds or minutes, and each thread is collected more often, so they were compiled
 * again and again.
 */
const HEAP_FLAGS = [
  '--initial-heap-size=40',
  '--heap-growing-percent=50',
  '--max-semi-space-size=2',
  '--no-flush-bytecode',
];
/** Flags that are the same on each machine. */
export const FIXED_FLAGS = [
  // local/thread-memory.ts collects garbage when a thread becomes idle.
  '--expose-gc',
  '--disable-warning=ExperimentalWarning',
  ...HEAP_FLAGS,
];
const POOL_FLAG = poolFlag(availableParallelism());
const FLAGS = [...FIXED_FLAGS, POOL_FLAG];
/** Machines with more cores have two arenas. */
const MAX_CORES_OF_ARENA = 4;
const ENVIRONMENT = allocatorSettings(availableParallelism());

/** V8's flag for the number of V8 threads on a machine with `cores`. */
export function poolFlag(cores) {
  return `--v8-pool-size=${Math.min(4, Math.max(1, cores - 1))}`;
}

/**
 * Environment variables for the allocator of glibc on a machine with `cores`. The allocator has an arena per
 * thread, keeps freed memory, and returns only the end of an arena. Once large buffers were freed, it serves
 * ever larger buffers from arenas. After large pushes, 300 MB stayed allocated. With a fixed threshold, each
 * buffer of 33 KiB or more is mapped separately and leaves the process when it is freed. V8's compilers allocate
 * segments of 32 KiB. If these are mapped too, a merge of 512 MB in a new process takes 1.06 times the CPU time,
 * and twice as many page faults. With 64 KiB instead of 16, the arena has 174 MB instead of 102 after 7 minutes at 2 MB/s next to
 * dashboards. With 4 KiB, the process holds 35 to 57 MB less after 14 to 19 minutes of that load, but the
 * driver's queries take a tenth to two fifths more CPU: each small buffer is mapped.
 * Linux allows a process 65,530 mappings, so a quarter of them are for buffers; further buffers come from the
 * arena. Other allocators ignore these names.
 *
 * Memory that one thread frees is reused by another only within the same arena. With one arena, a store at 2
 * MB/s next to dashboards holds 20 MB of free chunks instead of 50. Threads contend for an arena, so machines
 * with more cores have two.
 */
export function allocatorSettings(cores) {
  return {
    MALLOC_MMAP_THRESHOLD_: String(33 * 1024),
    MALLOC_MMAP_MAX_: String(16 * 1024),
    MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
    MALLOC_ARENA_MAX: cores > MAX_CORES_OF_ARENA ? '2' : '1',
  };
}

/** Flags for Node.js if a script or a test works in its main thread. */
export function runtimeFlags() {
  return FLAGS;
}

/** Environment variables for Node.js; variables that are already set take precedence. */
export function runtimeEnvironment() {
  return ENVIRONMENT;
}

/**
 * Replaces this process by one with the store's flags and environment, with the same process ID. Returns if
 * they are already set, or if the system cannot replace a process. In the second case, V8's flags apply only
 * to worker threads.
 */
export function becomeTuned(file, args) {
  if (FLAGS.every(flag => process.execArgv.includes(flag))) return;
  if (process.platform === 'win32' || process.execve === undefined) {
    for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
    return;
  }
  process.execve(process.execPath, [process.execPath, ...FLAGS, file, ...args], {
    ...ENVIRONMENT,
    ...process.env,
  });
}

/**
 * Like `becomeTuned`, for a single executable, which has the fixed flags. Replaces this process unless the
 * environment has the allocator's settings.
 */
export function becomeTunedExecutable() {
  if (process.execve === undefined || Object.keys(ENVIRONMENT).every(name => name in process.env)) return;
  process.execve(process.execPath, [process.execPath, ...process.argv.slice(2)], {
    ...ENVIRONMENT,
    ...process.env,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${POOL_FLAG}`.trim(),
  });
}
