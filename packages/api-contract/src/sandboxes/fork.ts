import { Type, type Static } from 'typebox'
import { Seconds } from '../numbers.ts'
import { Sandbox } from './sandbox.ts'

export const FORK_DEFAULTS = { count: 1, timeout: 15 } as const

/** Body of `POST /sandboxes/{sandboxID}/fork`, which may be absent. */
export const ForkSandbox = Type.Object(
  {
    timeout: Type.Optional(Seconds('Seconds until the forks expire', { default: FORK_DEFAULTS.timeout })),
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: FORK_DEFAULTS.count, description: 'Number of forks' })),
  },
  { title: 'ForkSandbox' },
)
export type ForkSandbox = Static<typeof ForkSandbox>

/** One fork: the sandbox, or why it was not started. */
export const SandboxForkResult = Type.Object(
  {
    sandbox: Type.Optional(Sandbox),
    error: Type.Optional(Type.Object({ code: Type.Integer(), message: Type.String() })),
  },
  { title: 'SandboxForkResult' },
)
export type SandboxForkResult = Static<typeof SandboxForkResult>
