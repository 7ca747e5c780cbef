/**
 * Build information. `version` is the version of the API, because clients enable features by it and expect
 * the reference's 3.x. The version of Logboom is in `revision`.
 */
export const LOGBOOM_VERSION = '0.2.0';
export const API_VERSION = '3.8.0';

interface BuildInfo {
  readonly version: string;
  readonly revision: string;
  readonly branch: string;
  readonly buildUser: string;
  readonly buildDate: string;
  /** Runtime version. The contract requires this name, although Logboom is not written in Go. */
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
