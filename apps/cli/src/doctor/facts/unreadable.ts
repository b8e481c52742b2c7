/** A fact that cannot be read here. The check that needs it is skipped, and `message` is the reason. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}
