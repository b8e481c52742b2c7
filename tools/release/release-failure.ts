/** A failure that a person can fix: one sentence. */
export class ReleaseFailure extends Error {
  override readonly name = 'ReleaseFailure'
}
