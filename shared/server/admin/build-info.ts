/**
 * What runs here. `version` is the version of the API, because clients switch features by it: they expect the
 * reference's 3.x. The version of Logboom itself stands in `revision`.
 */
export const LOGBOOM_VERSION = '0.2.0';
export const API_VERSION = '3.8.0';

export interface BuildInfo {
  readonly version: string;
  readonly revision: string;
  readonly branch: string;
  readonly buildUser: string;
  readonly buildDate: string;
  /** The runtime: Loki's name for it, although it is not Go. */
  readonly goVersion: string;
}

export function buildInfo(): BuildInfo {
  return {
    version: API_VERSION,
    revision: `logboom-${LOGBOOM_VERSION}`,
    branch: '',
    buildUser: '',
    buildDate: '',
    goVersion: `node ${process.version}`,
  };
}
