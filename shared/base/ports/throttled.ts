/** The service refuses because of load: try again later. Both ports throw it after their own retries. */
export class ThrottledError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ThrottledError';
  }
}
