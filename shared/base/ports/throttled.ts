/** The outside asks for less: try again later. Thrown by both ports once their own retries are used up. */
export class ThrottledError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ThrottledError';
  }
}
