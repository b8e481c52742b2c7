/** An upload that is larger than the dashboard takes. */
export class TooLargeError extends Error {
  readonly statusCode = 413

  constructor(maxBytes: number) {
    super(`A file may have at most ${maxBytes} bytes here`)
  }
}
