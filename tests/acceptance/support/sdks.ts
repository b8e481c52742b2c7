import * as newest from 'e2b'
import * as older from 'e2b-2_45'

/** The part of a release of the SDK that the tests use. */
export type Sdk = Pick<
  typeof newest,
  | 'AuthenticationError'
  | 'CommandExitError'
  | 'FileNotFoundError'
  | 'InvalidArgumentError'
  | 'NotFoundError'
  | 'Sandbox'
  | 'SandboxNotFoundError'
  | 'Template'
  | 'TimeoutError'
>

export const e2b251: Sdk = newest

/** Uses the older routes for create and connect. Its classes have the same public interface, but different types because of private members. */
export const e2b245: Sdk = older as unknown as Sdk
