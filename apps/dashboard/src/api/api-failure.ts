/** What a request ended with when it did not succeed. `status` 0: there was no answer (offline, a lost connection, the deadline). */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}
