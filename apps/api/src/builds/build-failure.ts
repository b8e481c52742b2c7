import type { StepName } from './build-runner.ts'

/** A failed build. The client gets the message unchanged, and the step that failed (control-plane.md 11.9). */
export class BuildFailure extends Error {
  override readonly name = 'BuildFailure'
  readonly step: StepName | undefined

  constructor(message: string, step?: StepName, options: { readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.step = step
  }
}

/** The texts of control-plane.md 11.9 that do not depend on the build. */
export const FAILURES = {
  cancelled: 'build was cancelled',
  superseded: 'The build was canceled because it was superseded by a newer one.',
  cancelledByAdmin: 'cancelled by admin',
  timedOut: 'build timed out',
  neverStarted: 'build is in waiting state for too long',
  internal: 'An internal error occurred. Please try again or contact support with the build ID.',
} as const
