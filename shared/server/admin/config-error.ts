/** What is wrong with a configuration. The message is ready to be shown: one line for each problem, no stack. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}
