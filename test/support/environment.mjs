/**
 * The environment of the tests: that of jest for Node, in a context of V8 without interceptors. Jest's
 * context calls a proxy for each global that code names (`Math`, `Uint8Array`, `Error`), which made loops
 * over bytes 10 to 20 times slower than they are in the program.
 */
import { createHash } from 'node:crypto';
import { constants, createContext } from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';
import { limitFile } from './file-limit.mjs';

/** Classes of the outer realm, which Node's modules create and accept. */
const OUTSIDE = new Set(['Buffer', 'ArrayBuffer', 'Uint8Array']);
/**
 * Compiled WebAssembly modules of this process, by their bytes. A module per test file, dropped with the file, made
 * Node.js crash about once in 30 runs of all tests (nodejs/node#64500).
 */
const COMPILED = new Map();
/** Frames of a stack. Jest sets 100, and takes a stack for each `expect`, whether it holds or not. */
const STACK_FRAMES = 20;

export default class PlainEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    limitFile(context.testPath);
    const prepared = this.global;
    const global = createContext(constants.DONT_CONTEXTIFY);
    for (const key of Reflect.ownKeys(prepared)) {
      if (!Object.hasOwn(global, key) || OUTSIDE.has(key)) copyGlobal(key, prepared, global);
    }
    global.global = global;
    global.Error.stackTraceLimit = STACK_FRAMES;
    global.WebAssembly.Module = new Proxy(WebAssembly.Module, { construct: compileOnce });
    this.context = global;
    this.global = global;
    this.moduleMocker = new this.moduleMocker.constructor(global);
    this.fakeTimers.dispose();
    this.fakeTimers = null;
    this.fakeTimersModern = new this.fakeTimersModern.constructor({ config: config.projectConfig, global });
  }

  async teardown() {
    await super.teardown();
    limitFile(undefined);
  }
}

/** Compiles a module on first use, for all test files of this process. */
function compileOnce(Module, [bytes]) {
  const key = createHash('sha256').update(bytes).digest('hex');
  const module = COMPILED.get(key) ?? new Module(bytes);
  COMPILED.set(key, module);
  return module;
}

/** A getter is called once, and only if code reads the global: some load whole modules. */
function copyGlobal(key, from, to) {
  const descriptor = Reflect.getOwnPropertyDescriptor(from, key);
  if ('value' in descriptor)
    return void Reflect.defineProperty(to, key, { ...descriptor, configurable: true });
  const { enumerable } = descriptor;
  const set = value => {
    Reflect.defineProperty(to, key, { configurable: true, enumerable, writable: true, value });
  };
  const get = () => {
    const value = from[key];
    set(value);
    return value;
  };
  Reflect.defineProperty(to, key, { configurable: true, enumerable, get, set });
}
