import * as newest from 'e2b'
import * as older from 'e2b-2_45'

/** What the tests use of a release of the SDK. */
export type Sdk = Pick<
  typeof newest,
  | 'AuthenticationError'
  | 'CommandExitError'
  | 'FileNotFoundError'
  | 'InvalidArgumentError'
  | 'NotFoundError'
  | 'Sandbox'
  | 'Template'
  | 'TimeoutError'
>

export const e2b251: Sdk = newest

/** Creates and connects through the older routes. Its classes have the same public face, but private members make them other types. */
export const e2b245: Sdk = older as unknown as Sdk
