/** A published client of the E2B interface, and what the matrix does with it. */
export interface MatrixClient {
  /** How the page names it, unique. */
  readonly name: string
  readonly registry: 'npm' | 'pypi'
  readonly package: string
  /** Releases beside the newest one, newest first. The last is the oldest that can be pointed at another server over plain HTTP, where there is one. */
  readonly older: readonly string[]
  /** What has to be installed beside it: `name@version` for npm, a requirement for PyPI. */
  readonly beside?: readonly string[]
  readonly flows: readonly Flow[]
}

export interface Flow {
  /** What the page says that it does. */
  readonly name: string
  /** The program in `flows/`, run by Node (`.mjs`) or by the Python of the client's environment (`.py`). */
  readonly file: string
  readonly args?: readonly string[]
  /** A template that the flow needs beyond `base`. Without it the page says so. */
  readonly template?: string
  /** The first release that has what the flow uses. */
  readonly since?: string
  readonly timeoutMs: number
}
