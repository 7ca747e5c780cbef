/**
 * Proxy for requests to a store: --proxy-url, else HTTP_PROXY, HTTPS_PROXY and NO_PROXY, in upper or lower
 * case.
 */
import { CommandError } from './command-error.ts';

interface ProxyFlags {
  readonly addr: URL;
  readonly proxyUrl?: string;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;

/**
 * Options for Node.js agents; undefined without a proxy. Throws CommandError if this Node.js release cannot
 * use one.
 */
export function proxyOf(store: ProxyFlags): Record<string, string> | undefined {
  const found = settingsOf(store);
  if (found !== undefined && !agentsTakeProxies()) {
    throw new CommandError(
      'a proxy needs Node.js 24.5 or newer; unset the proxy variables, or run a newer Node.js',
    );
  }
  return found;
}

export function usesProxy(store: ProxyFlags): boolean {
  return settingsOf(store) !== undefined;
}

function settingsOf({ addr, proxyUrl }: ProxyFlags): Record<string, string> | undefined {
  return proxyUrl ? { HTTP_PROXY: checked(proxyUrl), HTTPS_PROXY: proxyUrl } : proxyOfEnvironment(addr);
}

function proxyOfEnvironment({ protocol, hostname }: URL): Record<string, string> | undefined {
  // A store on this machine never needs a proxy.
  if (LOOPBACK.test(hostname)) return undefined;
  const found: Record<string, string> = {};
  for (const name of VARIABLES) {
    const value = process.env[name.toLowerCase()] || process.env[name];
    if (value) found[name] = value;
  }
  return found[protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'] === undefined ? undefined : found;
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new CommandError(`${url} is not a proxy URL; write it like http://proxy:3128`);
}

function agentsTakeProxies(): boolean {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5);
}
