/** Error in a configuration. The message is ready for display: one line per problem, without a stack. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}
