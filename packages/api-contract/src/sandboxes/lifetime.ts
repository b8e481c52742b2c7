import { Type, type Static } from 'typebox'
import { Seconds } from '../numbers.ts'

export const CONNECT_SECONDS_V2 = 300
export const REFRESH_SECONDS = { least: 15, most: 3600 } as const

const memory = Type.Optional(Type.Boolean({ default: true, description: 'False resumes a paused sandbox from its files only' }))

/** Body of `POST /sandboxes/{sandboxID}/connect`. */
export const ConnectSandbox = Type.Object(
  { timeout: Seconds('Seconds from now that the sandbox lives at least'), memory },
  { title: 'ConnectSandbox' },
)
export type ConnectSandbox = Static<typeof ConnectSandbox>

/** Body of `POST /v2/sandboxes/{sandboxID}/connect`, which may be absent. */
export const ConnectSandboxV2 = Type.Object(
  { timeout: Type.Optional(Seconds('Seconds from now that the sandbox lives at least', { default: CONNECT_SECONDS_V2 })), memory },
  { title: 'ConnectSandboxV2' },
)
export type ConnectSandboxV2 = Static<typeof ConnectSandboxV2>

export const RESUME_SECONDS = 15

/** Body of `POST /sandboxes/{sandboxID}/resume`, which may be absent. */
export const ResumeSandbox = Type.Object(
  {
    timeout: Type.Optional(Seconds('Seconds until the sandbox expires', { default: RESUME_SECONDS })),
    autoPause: Type.Optional(
      Type.Boolean({ deprecated: true, description: 'Pause instead of kill at the end time; the stored value when absent' }),
    ),
    memory,
  },
  { title: 'ResumeSandbox' },
)
export type ResumeSandbox = Static<typeof ResumeSandbox>

/** Body of `POST /sandboxes/{sandboxID}/pause`, which may be absent. */
export const PauseSandbox = Type.Object(
  {
    memory: Type.Optional(Type.Boolean({ default: true, description: 'False keeps the files only, and frees all memory' })),
    requireHealthyGuest: Type.Optional(Type.Boolean({ default: false, description: 'Refuse when the in-sandbox daemon does not answer' })),
  },
  { title: 'PauseSandbox' },
)
export type PauseSandbox = Static<typeof PauseSandbox>

/** Body of `POST /sandboxes/{sandboxID}/timeout`. */
export const SandboxTimeout = Type.Object({ timeout: Seconds('Seconds from now until the sandbox expires') }, { title: 'SandboxTimeout' })
export type SandboxTimeout = Static<typeof SandboxTimeout>

/** Body of `POST /sandboxes/{sandboxID}/refreshes`. */
export const SandboxRefresh = Type.Object(
  {
    duration: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: REFRESH_SECONDS.most,
        default: REFRESH_SECONDS.least,
        description: 'Seconds from now that the sandbox lives at least',
      }),
    ),
  },
  { title: 'SandboxRefresh' },
)
export type SandboxRefresh = Static<typeof SandboxRefresh>
