/**
 * Finds out where a service is, and which credentials sign its requests.
 *
 * A function has all of it in its environment. Everything else (profiles, configuration files, roles of
 * machines and containers, special endpoints) is left to the SDK, which is loaded only then: loading it takes
 * longer than the rest of a function's start.
 */
import type { Environment } from '../base/model/environment.ts';
import {
  type ClientOptions,
  type ServiceEndpoint,
  type ServiceTarget,
  serviceInEnvironment,
} from './service-endpoint.ts';

export async function findService(
  target: ServiceTarget,
  options: ClientOptions,
  environment: Environment = process.env,
): Promise<ServiceEndpoint> {
  const found = serviceInEnvironment(target, options, environment);
  if (found !== undefined) return found;
  const { serviceOfSdk } = await import('./clients.ts');
  return serviceOfSdk(target, options);
}
