/**
 * A failure that a person can fix. Its message is one sentence that says what is wrong and what to do;
 * it is printed unchanged, without a stack trace, and ends the process with `exitCode`.
 */
export class StartFailure extends Error {
  override readonly name = 'StartFailure'
  readonly exitCode: number

  constructor(sentence: string, options: { readonly exitCode?: number; readonly cause?: unknown } = {}) {
    super(sentence, options.cause === undefined ? undefined : { cause: options.cause })
    this.exitCode = options.exitCode ?? 1
  }
}
